import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// Lists and objects that are observed while their storage cannot be read.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ObservedFaultTests {
    /// Dogs of ages 0 to 399, in a file of which little has been read.
    private struct Kennel {
        static let count = 400

        let files = FaultyFileSystem()
        let stack: DataStack
        let queue = DispatchQueue(label: "view")
        let person: NSManagedObjectID

        init() throws {
            let url = Zoo.temporaryURL()
            let writer = try Zoo.stack(files, queue, url)
            person = try writer.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                let dogs = (0..<Self.count).map { age in
                    let dog = transaction.create(Into<Dog>())
                    dog.age = age
                    // Long enough that few dogs fit in a page.
                    dog.nickname =
                        "\(age) " + String((0..<300).map { _ in "abcdefgh".randomElement() ?? "x" })
                    return dog
                }
                person.pets = Set(dogs)
                return person.objectID()
            })
            try writer.checkpoint()
            writer.unsafeRemoveAllPersistentStoresAndWait()
            stack = try Zoo.stack(files, queue, url)
            // The first commit of a stack opens the log and reads what later ones have in memory.
            try takeStep()
        }

        func recorder() -> ListRecorder<Dog> { ListRecorder { "\($0.age)" } }

        /// A step that does not concern dogs.
        func takeStep() throws { try stack.perform(synchronous: { _ = $0.create(Into<Toy>()) }) }

        func wait(until isReached: () -> Bool) {
            while !queue.sync(execute: isReached) { usleep(1000) }
        }
    }

    private func dogs(_ limit: Int) -> any FetchClause {
        Tweak { $0.fetchLimit = limit }
    }
    private let order = OrderBy<Dog>(.ascending(\.$age))

    /// A bug: the error named no more than its own type.
    @Test func `an observed list says which name its clauses have wrong`() throws {
        let kennel = try Kennel()
        let wrong = From<Dog>().where(format: "nope == 1").orderBy(.ascending(\.$age))
        let error = kennel.queue.sync {
            let publisher = kennel.stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            return #expect(throws: CoreStoreError.self) { try publisher.refetch(wrong) }
        }
        #expect(error?.localizedDescription.contains("“nope”") == true)
    }

    /// A bug: the list was empty from then on.
    @Test func `a refetch that fails keeps the list, and the next step fetches again`() throws {
        let kennel = try Kennel()
        let faults = Recorded()
        kennel.stack.onStorageFault = { fault in faults.add("\(fault.message)") }
        let (monitor, recorder) = kennel.queue.sync {
            (
                kennel.stack.monitorList(From<Dog>(), Where<Dog>(\.$age < 3), order),
                kennel.recorder()
            )
        }
        kennel.queue.sync {
            monitor.addObserver(recorder)
            #expect(monitor.numberOfObjects() == 3)
            kennel.files.readFault = .io
            monitor.refetch(order, sourceIdentifier: "again")
        }
        kennel.wait { !monitor.isPendingRefetch }
        #expect(recorder.takeEvents() == ["willRefetch", "didRefetch again"])
        kennel.queue.sync { #expect(monitor.numberOfObjects() == 3) }
        faults.wait(for: 1)
        // The refetch still fails; observers are notified, and the fault is not reported again.
        try kennel.queue.sync { try kennel.takeStep() }
        kennel.wait { !monitor.isPendingRefetch }
        #expect(recorder.takeEvents() == ["willRefetch", "didRefetch"])
        kennel.files.readFault = nil
        try kennel.queue.sync {
            // The earlier terms are followed until the list is there.
            try kennel.stack.perform(synchronous: {
                _ = try $0.deleteAll(From<Dog>().where(\.$age == 1))
            })
            #expect(Array(recorder.takeEvents().prefix(3)) == ["will", "-1 0.1", "did"])
        }
        kennel.wait { !monitor.isPendingRefetch }
        kennel.queue.sync { #expect(monitor.numberOfObjects() == Kennel.count - 1) }
        try kennel.takeStep()
        kennel.queue.sync { #expect(!monitor.isPendingRefetch) }
        #expect(faults.all == ["a list to be observed could not be fetched."])
    }

    @Test func `steps do not repeat a refetch whose request is invalid`() throws {
        let kennel = try Kennel()
        let monitor = kennel.queue.sync {
            kennel.stack.monitorList(From<Dog>(), Where<Dog>(\.$age < 3), order)
        }
        kennel.queue.sync { monitor.refetch(Where<Dog>("nonsense == 1"), order) }
        kennel.wait { !monitor.isPendingRefetch }
        try kennel.queue.sync {
            #expect(monitor.numberOfObjects() == 3)
            try kennel.takeStep()
            #expect(!monitor.isPendingRefetch)
        }
    }

    /// A bug: such a list stayed empty.
    @Test func `lists whose first fetch failed are fetched at the next step`() throws {
        let kennel = try Kennel()
        let (publisher, monitor) = kennel.queue.sync {
            kennel.files.readFault = .io
            return (
                kennel.stack.publishList(From<Dog>(), order),
                kennel.stack.monitorList(From<Dog>(), order)
            )
        }
        kennel.queue.sync {
            #expect(publisher.snapshot.isEmpty && !monitor.hasObjects())
        }
        kennel.files.readFault = nil
        try kennel.takeStep()
        kennel.wait { publisher.snapshot.count == Kennel.count }
        kennel.wait { monitor.numberOfObjects() == Kennel.count }
    }

    @Test func `lists keep their content when a step cannot be read, and make up for it`() throws {
        let kennel = try Kennel()
        try kennel.queue.sync {
            let monitor = kennel.stack.monitorList(From<Dog>(), order, dogs(5))
            let publisher = kennel.stack.publishList(From<Dog>(), order, dogs(5))
            let recorder = kennel.recorder()
            monitor.addObserver(recorder)
            let before = publisher.snapshot.itemIDs
            #expect(before.count == 5)
            // More than the list holds in reserve, so that others must be read.
            kennel.files.failReadsAfterSync(.io)
            try kennel.stack.perform(synchronous: {
                _ = try $0.deleteAll(From<Dog>().where(\.$age < 80))
            })
            #expect(kennel.files.readFault == .io && recorder.takeEvents().isEmpty)
            #expect(publisher.snapshot.itemIDs == before && monitor.numberOfObjects() == 5)
            kennel.files.readFault = nil
            try kennel.takeStep()
            let after = try kennel.stack.fetchObjectIDs(From<Dog>(), order, dogs(5))
            #expect(Set(after).isDisjoint(with: before))
            #expect(publisher.snapshot.itemIDs == after)
            #expect(monitor.objectsInAllSections().map(\.age) == Array(80..<85))
            let events = recorder.takeEvents()
            #expect(events.first == "will" && events.last == "did" && events.count == 12)
        }
    }

    /// The view had the changes of the unreadable step already, which were taken for none.
    @Test func `joined steps did not tell what an unreadable one before them had changed`() throws {
        let kennel = try Kennel()
        let recorder = kennel.recorder()
        let monitor = try kennel.queue.sync {
            let monitor = kennel.stack.monitorList(From<Dog>(), order, dogs(5))
            monitor.addObserver(recorder)
            kennel.files.failReadsAfterSync(.io)
            try kennel.stack.perform(synchronous: { transaction in
                try transaction.fetchOne(From<Dog>().where(\.$age == 0))?.color = "red"
                _ = try transaction.deleteAll(From<Dog>().where(\.$age > 0 && \.$age < 80))
            })
            #expect(kennel.files.readFault == .io && recorder.takeEvents().isEmpty)
            kennel.files.readFault = nil
            return monitor
        }
        let mayGoOn = DispatchSemaphore(value: 0)
        kennel.queue.async { mayGoOn.wait() }
        // More than wait one by one.
        for number in 0..<40 {
            try kennel.stack.perform(
                synchronous: { transaction in
                    try transaction.fetchOne(From<Dog>().where(\.$age == 300))?.color =
                        "\(number)"
                }, waitForAllObservers: false)
        }
        mayGoOn.signal()
        kennel.wait { monitor.objectsInAllSections().map(\.age) == [0, 80, 81, 82, 83] }
        let events = kennel.queue.sync { recorder.takeEvents() }
        #expect(events.contains { $0.hasPrefix("=0") }, "\(events)")
    }

    /// A bug: it was given the list that had not followed, and showed deleted objects.
    @Test func `a new list after an unreadable step does not share the one that missed it`() throws
    {
        let kennel = try Kennel()
        try kennel.queue.sync {
            let first = kennel.stack.publishList(From<Dog>(), order, dogs(5))
            let before = first.snapshot.itemIDs
            kennel.files.failReadsAfterSync(.io)
            try kennel.stack.perform(synchronous: {
                _ = try $0.deleteAll(From<Dog>().where(\.$age < 80))
            })
            #expect(first.snapshot.itemIDs == before)
            kennel.files.readFault = nil
            let second = kennel.stack.publishList(From<Dog>(), order, dogs(5))
            let fetched = try kennel.stack.fetchObjectIDs(From<Dog>(), order, dogs(5))
            #expect(second.snapshot.itemIDs == fetched && fetched != before)
            try kennel.takeStep()
            #expect(first.snapshot.itemIDs == fetched)
            let third = kennel.stack.publishList(From<Dog>(), order, dogs(5))
            #expect(third.snapshot.itemIDs == fetched)
        }
    }

    /// A bug: observers were never notified of the step.
    @Test func `the step after an unreadable one notifies observers of both`()
        throws
    {
        let kennel = try Kennel()
        try kennel.queue.sync {
            let dog = try #require(try kennel.stack.fetchOne(From<Dog>(), order, dogs(1)))
            let monitor = kennel.stack.monitorObject(dog, watching: \.$master ~ \.$name)
            let recorder = ObjectRecorder<Dog> { $0.color ?? "-" }
            monitor.addObserver(recorder)
            let publisher = kennel.stack.publishObject(dog, watching: \.$master ~ \.$name)
            var calls: [String] = []
            publisher.addObserver(recorder) {
                calls.append("published \(($0.$color ?? nil) ?? "-")")
            }
            // The master, whose name is watched, has not been read yet.
            kennel.files.failReadsAfterSync(.io)
            try kennel.stack.perform(synchronous: { $0.edit(dog)?.color = "red" })
            #expect(kennel.files.readFault == .io)
            #expect(calls.isEmpty && recorder.takeEvents().isEmpty)
            kennel.files.readFault = nil
            try kennel.takeStep()
            #expect(calls == ["published red"])
            let events = recorder.takeEvents()
            #expect(events.count == 2 && events.last?.contains("color") == true)
            try kennel.takeStep()
            #expect(calls.count == 1 && recorder.takeEvents().isEmpty)
        }
    }

    /// A bug: the next flush reported nothing.
    @Test func `an unsafe transaction reports changes later that it failed to read`() throws {
        let kennel = try Kennel()
        let transaction = kennel.stack.beginUnsafe(supportsUndo: true)
        let first = try transaction.fetchAll(From<Dog>(), Where<Dog>(\.$age < 80), order)
        func age() { for dog in first { dog.age += 1000 } }
        // Loads all that the changes need into memory.
        age()
        transaction.flush()
        transaction.undo()
        let monitor = transaction.monitorList(From<Dog>(), order, dogs(5))
        let recorder = kennel.recorder()
        monitor.addObserver(recorder)
        age()
        kennel.files.readFault = .io
        transaction.flush()
        #expect(recorder.takeEvents().isEmpty && monitor.numberOfObjects() == 5)
        kennel.files.readFault = nil
        transaction.flush()
        #expect(monitor.objectsInAllSections().map(\.age) == Array(80..<85))
        #expect(recorder.takeEvents().count == 12)
    }

    @Test func `a commit that fails on the medium notifies no observer`() throws {
        let kennel = try Kennel()
        try kennel.queue.sync {
            let monitor = kennel.stack.monitorList(From<Dog>(), order)
            let recorder = kennel.recorder()
            monitor.addObserver(recorder)
            let dog = monitor[0]
            let object = kennel.stack.monitorObject(dog)
            let objectRecorder = ObjectRecorder<Dog> { "\($0.age)" }
            object.addObserver(objectRecorder)
            let publisher = kennel.stack.publishList(From<Dog>(), order)
            var publishedCount = 0
            publisher.addObserver(recorder) { _ in publishedCount += 1 }
            func change(_ age: Int) throws {
                try kennel.stack.perform(synchronous: { transaction in
                    transaction.edit(dog)?.age = age
                    transaction.create(Into<Dog>()).age = age - 2
                })
            }
            try change(-3)
            #expect(recorder.takeEvents() == ["will", "+-5 0.0", "=-3 0.0", "did"])
            #expect(objectRecorder.takeEvents() == ["will 0", "did -3 age"])
            #expect(publishedCount == 1)
            kennel.files.fault = .init(
                calls: [.write, .durableWrite, .truncate], code: .diskFull, goesOn: true)
            #expect(throws: CoreStoreError.self) { try change(-10) }
            #expect(recorder.takeEvents().isEmpty && objectRecorder.takeEvents().isEmpty)
            #expect(publishedCount == 1 && dog.age == -3)
            #expect(monitor.numberOfObjects() == Kennel.count + 1)
            // A commit that a store refuses because of an earlier failure reports nothing either.
            kennel.files.fault = nil
            #expect(throws: CoreStoreError.self) { try change(-10) }
            #expect(recorder.takeEvents().isEmpty && objectRecorder.takeEvents().isEmpty)
            #expect(publishedCount == 1 && dog.age == -3)
        }
    }
}

/// Texts added by any thread.
private final class Recorded: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []
    private let added = DispatchSemaphore(value: 0)

    var all: [String] { lock.withLock { texts } }

    func add(_ text: String) {
        lock.withLock { texts.append(text) }
        added.signal()
    }

    func wait(for count: Int) { for _ in 0..<count { added.wait() } }
}
