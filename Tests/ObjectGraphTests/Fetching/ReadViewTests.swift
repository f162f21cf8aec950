import Dispatch
import ObjectGraph
import Primitives
import Testing

/// Passes objects of a view to other threads, which may use them.
private struct Lent<Value>: @unchecked Sendable {
    let value: Value
}

private final class Shell: CoreStoreObject {
    @Field.Stored("label") var label: String = ""
}

/// Views that stay at one commit and are read on any thread.
@Suite struct ReadViewTests {
    /// People with pets, in a store with a writer.
    private static func filled(_ stack: DataStack, count: Int = 40) throws {
        try stack.perform(synchronous: { transaction in
            for number in 0..<count {
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = ("name \(number)", "\(number)@zoo")
                for age in 0..<3 {
                    let dog = transaction.create(Into<Dog>())
                    (dog.age, dog.master) = (age, person)
                }
            }
        })
    }

    @Test func `a read view shows its commit despite later commits`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 3)
        let view = try stack.beginRead()
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.$name)))
            people[0].name = "changed"
            people[1].pets = []
            transaction.delete(people[2])
            transaction.create(Into<Person>()).email = "new@zoo"
        })
        let people = try view.fetchAll(From<Person>().orderBy(.ascending(\.$name)))
        #expect(people.map(\.name) == ["name 0", "name 1", "name 2"])
        #expect(people.map { $0.pets.count } == [3, 3, 3])
        #expect(people[1].pets.allSatisfy { $0.master === people[1] })
        #expect(try view.fetchCount(From<Person>()) == 3)
        #expect(
            try view.queryValue(From<Person>(), Select<Person, Int>(.count(\.$name))) == 3)
        #expect(view.fetchExisting(people[2]) === people[2])
        #expect(people.allSatisfy { !$0.isDeleted })
        #expect(try stack.beginRead().fetchCount(From<Person>()) == 3)
        #expect(try stack.beginRead().fetchOne(From<Person>().where(\.$name == "changed")) != nil)
        #expect(people[0].name == "name 0")
    }

    @Test func `a view is begun and read beside a transaction that runs`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 2)
        let hasRead = DispatchSemaphore(value: 0)
        try stack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Person>())
            DispatchQueue.global().async {
                let names = try? stack.read { view in
                    try view.fetchAll(From<Person>().orderBy(.ascending(\.$name))).map(\.name)
                }
                if names == ["name 0", "name 1"] { hasRead.signal() }
            }
            // The other thread reads while this one has the writer lock.
            #expect(hasRead.wait(timeout: .now() + 20) == .success)
            #expect(try stack.read { try $0.fetchCount(From<Person>()) } == 2)
        })
        #expect(try stack.read { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test func `eight threads share a view and its objects`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack)
        let view = try stack.beginRead()
        let sum = try view.fetchAll(From<Dog>()).reduce(0) { $0 + $1.age }
        let shared = Lent(value: try view.fetchAll(From<Person>().orderBy(.ascending(\.$email))))
        let writer = Thread {
            for round in 0..<30 {
                try? stack.perform(synchronous: { transaction in
                    for person in try transaction.fetchAll(From<Person>()) {
                        person.name = "round \(round)"
                        if round % 7 == 3 { person.pets = [] }
                    }
                })
            }
        }
        writer.start()
        let identities = Mutex<[[ObjectIdentifier]]>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for round in 0..<12 {
                    let dogs = try view.fetchAll(From<Dog>())
                    let found = dogs.reduce(0) { $0 + $1.age }
                    let people = shared.value
                    let person = people[(thread * 7 + round) % people.count]
                    let pets = person.pets
                    let isWhole =
                        found == sum && person.name.hasPrefix("name ") && pets.count == 3
                        && pets.allSatisfy { $0.master === person && $0.color == nil }
                    if !isWhole { failures.withLock { $0.append("thread \(thread): \(found)") } }
                    guard round == 0 else { continue }
                    let mine = dogs.sorted { $0.objectID().description < $1.objectID().description }
                    // The objects have to live while their identities are compared.
                    withExtendedLifetime(mine) {
                        identities.withLock { $0.append(mine.map { ObjectIdentifier($0) }) }
                        Thread.sleep(forTimeInterval: 0.1)
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(identities.withLock { $0.count } == 8)
        while !writer.isFinished { Thread.sleep(forTimeInterval: 0.01) }
    }

    @Test func `threads that read one row at once get one object`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 200)
        for _ in 0..<20 {
            let view = try stack.beginRead()
            let found = Mutex<[[Person]]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let people = Lent(
                    value: (try? view.fetchAll(From<Person>().orderBy(.ascending(\.$email)))) ?? [])
                found.withLock { $0.append(people.value) }
            }
            let lists = found.withLock { $0 }
            #expect(lists.count == 8)
            for list in lists {
                #expect(list.count == 200 && zip(list, lists[0]).allSatisfy { $0 === $1 })
            }
        }
    }

    @Test func `objects keep their commit pinned when the read view is gone`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 1)
        var person = try stack.beginRead().fetchOne(From<Person>())
        try stack.perform(synchronous: { _ = try $0.deleteAll(From<Dog>()) })
        #expect(person?.pets.count == 3)
        #expect(person?.fetchSource() is ReadView)
        #expect(try person?.fetchSource()?.fetchCount(From<Dog>()) == 3)
        #expect(stack.statistics.pins.count == 1)
        var pet = person?.pets.first
        person = nil
        #expect(stack.statistics.pins.count == 1)
        #expect(pet?.master?.name == "name 0")
        pet = nil
        #expect(stack.statistics.pins.isEmpty)
    }

    @Test func `statistics name the read views that pin commits`() throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 1)
        var first: ReadView? = try stack.beginRead(name: "a report")
        try Self.filled(stack, count: 0)
        try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "x" })
        let second = try stack.beginRead()
        let pins = stack.statistics.pins
        #expect(pins.map(\.kind) == [.readView, .readView])
        #expect(pins.first?.name == "a report")
        #expect(pins.last?.name.hasPrefix("ObjectGraphTests/ReadViewTests.swift:") == true)
        #expect(pins.first?.commitNumbers.count == 1)
        #expect(pins[0].commitNumbers[0] < pins[1].commitNumbers[0])
        #expect(pins[0].age >= pins[1].age && pins[1].age > .zero)
        withExtendedLifetime(first) {}
        first = nil
        #expect(stack.statistics.pins.map(\.commitNumbers) == [pins[1].commitNumbers])
        try stack.read(name: "a handler") { _ in
            #expect(stack.statistics.pins.map(\.name).last == "a handler")
        }
        #expect(stack.statistics.pins.count == 1)
        withExtendedLifetime(second) {}
    }

    private actor Counter {
        let stack: DataStack
        var names: [String] = []

        init(_ stack: DataStack) { self.stack = stack }

        func count() async throws -> Int {
            try await stack.read { view in
                await Task.yield()
                names = try view.fetchAll(From<Person>()).map(\.name)
                return names.count
            }
        }
    }

    @Test func `a read view lasts until its asynchronous closure ends`() async throws {
        let (stack, _) = try Zoo.stack()
        try Self.filled(stack, count: 5)
        #expect(try await Counter(stack).count() == 5)
        #expect(stack.statistics.pins.isEmpty)
        struct Refusal: Error {}
        await #expect(throws: CoreStoreError.userError(error: Refusal())) {
            try await stack.read { _ async throws -> Void in throw Refusal() }
        }
        #expect(throws: CoreStoreError.userCancelled) {
            try stack.read { _ throws -> Void in throw CoreStoreError.userCancelled }
        }
        #expect(stack.statistics.pins.isEmpty)
    }

    @Test func `an object of a view is read-only, and says so`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let (stack, _) = try Zoo.stack()
            try Self.filled(stack, count: 2)
            CoreStoreDefaults.logger = TestLogger(assertion: .print)
            let view = try stack.beginRead()
            let people = try view.fetchAll(From<Person>().orderBy(.ascending(\.$name)))
            people[0].name = "other"
            people[0].title = "sir"
            people[0].spouse = people[1]
            people[0].pets = []
            people[0].balance += 1
            try #require(people[0].name == "name 0" && people[0].title == "Dr. x")
            try #require(people[0].spouse == nil && people[0].pets.count == 3)
            try #require(people[0].balance == 0)
            people[0].refreshAsFault()
            people[0].refreshAndMerge()
            try #require(people[0].name == "name 0")
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.components(separatedBy: "changed outside of a transaction").count == 6)
    }

    @Test func `a storage that is attached later is not seen`() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Shell>("Shell"): ["One", "Two"]
                ]
            ), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore(configuration: "One"))
        try stack.perform(synchronous: { $0.create(Into<Shell>("One")).label = "one" })
        let view = try stack.beginRead()
        try stack.addStorageAndWait(InMemoryStore(configuration: "Two"))
        try stack.perform(synchronous: { $0.create(Into<Shell>("Two")).label = "two" })
        #expect(try view.fetchAll(From<Shell>()).map(\.label) == ["one"])
        #expect(try stack.read { try $0.fetchCount(From<Shell>()) } == 2)
        #expect(throws: CoreStoreError.self) { try view.fetchCount(From<Shell>("Two")) }
    }

    @Test func `a view begun without a storage finds none in each form of a fetch`() throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        let view = try stack.beginRead()
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "ball" })
        func isMissing(_ fetch: () throws -> Any) -> Bool {
            do {
                _ = try fetch()
                return false
            } catch CoreStoreError.persistentStoreNotFound {
                return true
            } catch {
                Issue.record(error)
                return false
            }
        }
        #expect(isMissing { try view.fetchCount(From<Toy>()) })
        #expect(isMissing { try view.fetchAll(From<Toy>()) })
        #expect(isMissing { try view.fetchOne(From<Toy>().where(\.$label == "ball")) as Any })
        #expect(try stack.beginRead().fetchAll(From<Toy>()).count == 1)
    }

    @Test func `a view past the greatest age gets an error and never other rows`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        var options = EngineOptions()
        options.snapshotAgeMax = .zero
        options.cacheSizeInBytes = 1 << 20
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        try Self.filled(stack, count: 2000)
        try stack.checkpoint()
        let view = try stack.beginRead()
        let first = try #require(try view.fetchOne(From<Person>().where(\.$name == "name 7")))
        for round in 0..<6 {
            try stack.perform(synchronous: { transaction in
                for person in try transaction.fetchAll(From<Person>()) {
                    person.name = "round \(round)"
                }
            })
            try stack.checkpoint()
        }
        let error = #expect(throws: CoreStoreError.self) {
            let names = try view.fetchAll(From<Person>()).map(\.name)
            #expect(names.count == 2000 && names.allSatisfy { $0.hasPrefix("name ") })
        }
        #expect(error?.storeError?.code == .snapshotTooOld)
        #expect(first.name == "name 7")
        #expect(try stack.read { try $0.fetchCount(From<Person>()) } == 2000)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `objects are found by their IDs on any thread`() throws {
        let (stack, queue) = try Zoo.stack()
        try Self.filled(stack, count: 3)
        let ids = try stack.read { try $0.fetchObjectIDs(From<Person>()) }
        // This thread is not where the view lives.
        let person: Person? = stack.fetchExisting(ids[0])
        #expect(person?.pets.count == 3)
        let people: [Person] = stack.fetchExisting(ids)
        #expect(people.count == 3)
        #expect(
            try stack.perform(synchronous: { stack.fetchExisting($0.edit(person)!)?.name })
                == person?.name)
        try stack.perform(synchronous: { $0.delete(objectIDs: ids) })
        #expect(stack.fetchExisting(ids[0]) as Person? == nil)
        #expect((stack.fetchExisting(ids) as [Person]).isEmpty)
        #expect(person?.isDeleted == false && people.allSatisfy { $0.pets.count == 3 })
        queue.sync { #expect(stack.fetchExisting(ids[0]) as Person? == nil) }
    }

    @Test func `a view whose stack is gone keeps its values`() throws {
        var person: Person?
        do {
            let (stack, _) = try Zoo.stack()
            try Self.filled(stack, count: 1)
            person = try stack.beginRead().fetchOne(From<Person>())
        }
        #expect(person?.name == "name 0")
        #expect(person?.fetchSource() == nil)
        person = nil
    }
}
