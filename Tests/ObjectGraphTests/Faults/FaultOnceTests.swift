import Dispatch
import Foundation
import ObjectGraph
import PageStore
import TestSupport
import Testing

/// A getter that meets a fault answers with a default. The view and a read view throw the fault
/// once, at the next fetch or query; a transaction throws it at each, and at its commit.
@Suite(.timeLimit(.minutes(hangMinutes))) struct FaultOnceTests {
    typealias Source = any FetchableSource & QueryableSource

    /// A call that can throw.
    enum Call: CaseIterable {
        case fetchOne, fetchAll, fetchCount, fetchObjectID, fetchObjectIDs, queryValue
        case queryAttributes
    }

    /// A getter that cannot.
    enum Getter: CaseIterable {
        case toMany, ordered, toOne, attribute, fetchExisting
    }

    /// A person with dogs and toys, in a file of which little has been read.
    private final class Home {
        static let count = 200

        let files = FaultyFileSystem()
        let stack: DataStack
        let queue = DispatchQueue(label: "view")
        let person: NSManagedObjectID
        /// In a hierarchy of several entities, so that only its record tells whether it is there.
        let dog: NSManagedObjectID

        init() throws {
            let url = Zoo.temporaryURL()
            let writer = try Zoo.stack(files, queue, url, cachedPageCount: 8)
            // So that a page has few records.
            let long = String(repeating: "x", count: 300)
            (person, dog) = try writer.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                person.name = "Ada"
                var dogs: [Dog] = []
                for number in 0..<Self.count {
                    let dog = transaction.create(Into<Dog>())
                    (dog.age, dog.nickname, dog.master) = (number, "dog \(number) \(long)", person)
                    dogs.append(dog)
                    let toy = transaction.create(Into<Toy>())
                    (toy.label, toy.owner) = ("toy \(number) \(long)", person)
                }
                return (person.objectID(), dogs[Self.count - 1].objectID())
            })
            try writer.checkpoint()
            writer.unsafeRemoveAllPersistentStoresAndWait()
            stack = try Zoo.stack(files, queue, url, cachedPageCount: 8)
            // The first commit of a stack opens the log.
            try takeStep()
        }

        /// A commit that has nothing to do with dogs and toys.
        func takeStep() throws {
            try stack.perform(synchronous: { _ = $0.create(Into<Debt>()) })
        }

        func failing<Result>(_ body: () throws -> Result) rethrows -> Result {
            files.readFault = .io
            defer { files.readFault = nil }
            return try body()
        }

        /// Has a getter meet a fault; returns what asks it again.
        func meetFault(_ getter: Getter, _ source: Source) throws -> () -> Bool {
            switch getter {
            case .toMany:
                let person: Person = try #require(source.fetchExisting(person))
                #expect(failing { person.pets.isEmpty })
                return { person.pets.count == Self.count }
            case .ordered:
                let person: Person = try #require(source.fetchExisting(person))
                #expect(failing { person.toys.isEmpty })
                return { person.toys.count == Self.count }
            case .toOne:
                let dog = try #require(try source.fetchOne(From<Dog>().where(\.$age == 100)))
                #expect(failing { dog.master == nil })
                return { dog.master?.name == "Ada" }
            case .attribute:
                let person: Person = try #require(source.fetchExisting(person))
                let toys = person.toys
                // The cache has lost the first ones when the last one was read.
                for toy in toys { #expect(toy.label.hasPrefix("toy ")) }
                let toy = toys[0]
                toy.refreshAsFault()
                #expect(failing { toy.label.isEmpty })
                return { toy.label.hasPrefix("toy 0 ") }
            case .fetchExisting:
                let dog = dog
                #expect(failing { source.fetchExisting(dog) as Dog? } == nil)
                return { (source.fetchExisting(dog) as Dog?)?.age == Self.count - 1 }
            }
        }
    }

    /// Asks for the youngest dog, or how many there are.
    private func answer(_ call: Call, _ source: Source) throws(CoreStoreError) -> String {
        let order = OrderBy<Dog>(.ascending(\.$age))
        switch call {
        case .fetchOne: return "\(try source.fetchOne(From<Dog>(), order)?.age ?? -1)"
        case .fetchAll: return "\(try source.fetchAll(From<Dog>(), order).count)"
        case .fetchCount: return "\(try source.fetchCount(From<Dog>()))"
        case .fetchObjectID: return "\(try source.fetchObjectID(From<Dog>(), order) != nil)"
        case .fetchObjectIDs: return "\(try source.fetchObjectIDs(From<Dog>()).count)"
        case .queryValue:
            let oldest = try source.queryValue(From<Dog>(), Select(.maximum(\.$age))) as Int?
            return "\(oldest ?? -1)"
        case .queryAttributes:
            let rows = try source.queryAttributes(
                From<Dog>(), Select<Dog, NSDictionary>(.attribute(\.$age)))
            return "\(rows.count)"
        }
    }

    private func right(_ call: Call) -> String {
        switch call {
        case .fetchOne: "0"
        case .fetchAll, .fetchCount, .fetchObjectIDs, .queryAttributes: "\(Home.count)"
        case .fetchObjectID: "true"
        case .queryValue: "\(Home.count - 1)"
        }
    }

    private func expectThrown(
        _ call: Call, _ source: Source, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: CoreStoreError.self, sourceLocation: sourceLocation) {
            _ = try answer(call, source)
        }
        #expect(error?.storeError?.code == .io, sourceLocation: sourceLocation)
    }

    private func expectThrownOnce(_ getter: Getter, _ call: Call, _ home: Home, _ source: Source)
        throws
    {
        let isRight = try home.meetFault(getter, source)
        expectThrown(call, source)
        for other in [call] + Call.allCases {
            #expect(try answer(other, source) == right(other), "\(other)")
        }
        #expect(isRight())
        #expect(try answer(call, source) == right(call))
    }

    @Test(arguments: Getter.allCases, Call.allCases)
    func `the view throws a getter's fault once`(_ getter: Getter, _ call: Call) throws {
        let home = try Home()
        try home.queue.sync { try expectThrownOnce(getter, call, home, home.stack) }
    }

    /// An object of a read view has its values when the program gets it.
    @Test(arguments: Getter.allCases.filter { $0 != .attribute }, Call.allCases)
    func `a read view throws a getter's fault once`(_ getter: Getter, _ call: Call) throws {
        let home = try Home()
        let view = try home.stack.beginRead()
        try expectThrownOnce(getter, call, home, view)
    }

    @Test func `many faults of a view are thrown once`() throws {
        let home = try Home()
        let view = try home.stack.beginRead()
        let person: Person = try #require(view.fetchExisting(home.person))
        for _ in 0..<3 {
            #expect(home.failing { person.pets.isEmpty && person.toys.isEmpty })
        }
        expectThrown(.fetchCount, view)
        #expect(try answer(.fetchAll, view) == right(.fetchAll))
        #expect(person.pets.count == Home.count && person.toys.count == Home.count)
        #expect(try answer(.fetchCount, view) == right(.fetchCount))
    }

    /// The object kept its defaults, and no fetch was told of it again.
    @Test func `a value that still cannot be read is a fault again`() throws {
        let home = try Home()
        try home.queue.sync { () throws in
            let isRight = try home.meetFault(.attribute, home.stack)
            for _ in 0..<3 {
                expectThrown(.fetchCount, home.stack)
                #expect(!home.failing(isRight))
            }
            expectThrown(.fetchOne, home.stack)
            #expect(isRight())
            #expect(try answer(.fetchCount, home.stack) == right(.fetchCount))
        }
    }

    @Test func `a fault that load has thrown is not thrown again`() throws {
        let home = try Home()
        let view = try home.stack.beginRead()
        let person: Person = try #require(view.fetchExisting(home.person))
        #expect(throws: CoreStoreError.self) {
            _ = try home.failing { try person.load(\.$pets) }
        }
        #expect(try answer(.fetchCount, view) == right(.fetchCount))
        #expect(try person.load(\.$pets).count == Home.count)
    }

    @Test func `a fault of the view is thrown by no other context`() throws {
        let home = try Home()
        let view = try home.stack.beginRead()
        try home.queue.sync { _ = try home.meetFault(.toMany, home.stack) }
        #expect(try answer(.fetchAll, view) == right(.fetchAll))
        try home.stack.perform(synchronous: { transaction throws in
            #expect(try answer(.fetchCount, transaction) == right(.fetchCount))
            transaction.create(Into<Dog>()).age = -1
        })
        home.queue.sync { expectThrown(.fetchCount, home.stack) }
        #expect(try home.queue.sync { try home.stack.fetchCount(From<Dog>()) } == Home.count + 1)
    }

    // MARK: Transactions

    @Test(arguments: Getter.allCases)
    func `a transaction throws a getter's fault at each fetch, and at its commit`(
        _ getter: Getter
    ) throws {
        let home = try Home()
        let error = #expect(throws: CoreStoreError.self) {
            try home.stack.perform(synchronous: { transaction in
                transaction.create(Into<Dog>()).age = -1
                let isRight = try home.meetFault(getter, transaction)
                for call in Call.allCases + Call.allCases { expectThrown(call, transaction) }
                // A transaction that cannot commit reads no values anew.
                #expect(isRight() == (getter != .attribute))
                for call in Call.allCases { expectThrown(call, transaction) }
            })
        }
        #expect(error?.storeError?.code == .io)
        let view = try home.stack.beginRead()
        for call in Call.allCases { #expect(try answer(call, view) == right(call)) }
        try home.takeStep()
    }

    @Test(arguments: Getter.allCases)
    func `an unsafe transaction throws a getter's fault until it is rolled back`(
        _ getter: Getter
    ) throws {
        let home = try Home()
        let transaction = home.stack.beginUnsafe()
        transaction.create(Into<Dog>()).age = -1
        _ = try home.meetFault(getter, transaction)
        for _ in 0..<2 {
            for call in Call.allCases { expectThrown(call, transaction) }
            let error = #expect(throws: CoreStoreError.self) { try transaction.commitAndWait() }
            #expect(error?.storeError?.code == .io)
        }
        #expect(try home.stack.beginRead().fetchCount(From<Dog>()) == Home.count)
        transaction.rollback()
        for call in Call.allCases { #expect(try answer(call, transaction) == right(call)) }
        transaction.create(Into<Dog>()).age = -2
        try transaction.commitAndWait()
        #expect(try home.stack.beginRead().fetchCount(From<Dog>()) == Home.count + 1)
    }

    @Test(arguments: Getter.allCases)
    func `a nested transaction throws its fault, and leaves the outer one as it was`(
        _ getter: Getter
    ) throws {
        let home = try Home()
        let outer = home.stack.beginUnsafe()
        outer.create(Into<Toy>()).label = "outer"
        let nested = outer.beginUnsafe()
        nested.create(Into<Dog>()).age = -1
        _ = try home.meetFault(getter, nested)
        for _ in 0..<2 {
            for call in Call.allCases { expectThrown(call, nested) }
            let error = #expect(throws: CoreStoreError.self) { try nested.commitAndWait() }
            #expect(error?.storeError?.code == .io)
        }
        for call in Call.allCases { #expect(try answer(call, outer) == right(call)) }
        try outer.commitAndWait()
        let view = try home.stack.beginRead()
        #expect(try view.fetchCount(From<Dog>()) == Home.count)
        #expect(try view.fetchCount(From<Toy>()) == Home.count + 1)
    }

    @Test func `a fault of the outer transaction is thrown by it, not by the nested one`() throws {
        let home = try Home()
        let outer = home.stack.beginUnsafe()
        _ = try home.meetFault(.toMany, outer)
        let nested = outer.beginUnsafe()
        for call in Call.allCases { #expect(try answer(call, nested) == right(call)) }
        nested.create(Into<Dog>()).age = -1
        try nested.commitAndWait()
        for call in Call.allCases { expectThrown(call, outer) }
        #expect(throws: CoreStoreError.self) { try outer.commitAndWait() }
        #expect(try home.stack.beginRead().fetchCount(From<Dog>()) == Home.count)
    }

    // MARK: Lists

    private func refetch(_ monitor: ListMonitor<Dog>, _ home: Home) {
        home.queue.sync { monitor.refetch(OrderBy<Dog>(.descending(\.$age))) }
        while home.queue.sync(execute: { monitor.isPendingRefetch }) { usleep(1000) }
    }

    @Test(arguments: Call.allCases)
    func `lists follow beside a getter's fault, which the next fetch throws once`(
        _ call: Call
    ) throws {
        let home = try Home()
        let order = OrderBy<Dog>(.ascending(\.$age))
        let (monitor, publisher) = home.queue.sync {
            (
                home.stack.monitorList(From<Dog>(), order),
                home.stack.publishList(From<Dog>(), order)
            )
        }
        let before = home.queue.sync { publisher.snapshot.itemIDs }
        try home.queue.sync {
            _ = try home.meetFault(.toMany, home.stack)
            #expect(monitor.numberOfObjects() == Home.count)
            #expect(publisher.snapshot.itemIDs == before)
        }
        refetch(monitor, home)
        try home.queue.sync {
            try publisher.refetch(From<Dog>().orderBy(.descending(\.$age)))
        }
        try home.takeStep()
        home.queue.sync {
            #expect(monitor[0].age == Home.count - 1)
            #expect(publisher.snapshot.itemIDs == before.reversed())
            expectThrown(call, home.stack)
        }
        #expect(try home.queue.sync { try answer(call, home.stack) } == right(call))
    }

    @Test(arguments: Call.allCases)
    func `an object of a list that cannot be read is thrown once by the next fetch`(
        _ call: Call
    ) throws {
        let home = try Home()
        try home.queue.sync { () throws in
            let monitor = home.stack.monitorList(
                From<Toy>(), OrderBy<Toy>(.ascending(\.$label)))
            #expect(monitor.numberOfObjects() == Home.count)
            // The list has read every toy, more than the cache holds.
            let label = home.failing { monitor[50].label }
            #expect(label == "")
            expectThrown(call, home.stack)
            #expect(try answer(call, home.stack) == right(call))
            #expect(monitor.numberOfObjects() == Home.count)
            #expect(monitor[50].label.hasPrefix("toy "))
        }
        try home.takeStep()
        #expect(try home.queue.sync { try answer(call, home.stack) } == right(call))
    }
}
