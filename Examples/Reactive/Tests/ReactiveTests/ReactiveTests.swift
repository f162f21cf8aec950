import ObjectGraph
import OpenCombine
import Testing

/// The guide's section on reactive programming.
@MainActor @Suite(.timeLimit(.minutes(1))) struct ReactiveTests {
    /// Values and completions as they come.
    private final class Received<Value> {
        var values: [Value] = []
        var isFinished = false
        var failure: CoreStoreError?

        func end(_ completion: Subscribers.Completion<CoreStoreError>) {
            if case .failure(let error) = completion { failure = error }
            isFinished = true
        }

        @MainActor func wait() async {
            while !isFinished { await Task.yield() }
        }
    }

    @Test func `a storage is added with its progress`() async throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("reactive-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Person>("Person"): [], Entity<Note>("Note"): ["notes"],
                ]))
        var cancellables: Set<AnyCancellable> = []
        let received = Received<Double>()
        var wasMigrated: Bool?

        dataStack.reactive
            .addStorage(
                LocalStore(fileURL: url)
            )
            .sink(
                receiveCompletion: { result in
                    received.end(result)
                },
                receiveValue: { (progress) in
                    received.values.append(round(progress.fractionCompleted * 100))
                    switch progress {
                    case .migrating(let storage, let nsProgress):
                        withExtendedLifetime((storage, nsProgress)) {}
                    case .finished(let storage, let migrationRequired):
                        withExtendedLifetime(storage) {}
                        wasMigrated = migrationRequired
                    }
                }
            )
            .store(in: &cancellables)

        await received.wait()
        #expect(received.values == [100] && wasMigrated == false && received.failure == nil)
        #expect(try dataStack.fetchCount(From<Person>()) == 0)
        // Another storage in memory, one of a configuration that the model does not have, and one
        // whose folder cannot be made.
        let memory = Received<InMemoryStore>()
        dataStack.reactive.addStorage(InMemoryStore(configuration: "notes"))
            .sink(receiveCompletion: memory.end) { memory.values.append($0) }
            .store(in: &cancellables)
        let unknown = Received<InMemoryStore>()
        dataStack.reactive.addStorage(InMemoryStore(configuration: "none"))
            .sink(receiveCompletion: unknown.end) { unknown.values.append($0) }
            .store(in: &cancellables)
        let refused = Received<MigrationProgress<LocalStore>>()
        dataStack.reactive.addStorage(LocalStore(fileURL: url.appendingPathComponent("a")))
            .sink(receiveCompletion: refused.end) { refused.values.append($0) }
            .store(in: &cancellables)
        await memory.wait()
        await unknown.wait()
        await refused.wait()
        #expect(memory.values.count == 1 && memory.failure == nil)
        #expect(unknown.values.isEmpty && unknown.failure != nil)
        #expect(refused.values.isEmpty && refused.failure != nil)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a transaction is a future`() async throws {
        let dataStack = try People.stack()
        var cancellables: Set<AnyCancellable> = []
        let received = Received<[String]>()

        dataStack.reactive
            .perform(
                asynchronous: { (transaction) -> (inserted: Set<Person>, deleted: Set<Person>) in
                    transaction.create(Into<Person>()).name = "Ann"
                    return (
                        transaction.insertedObjects(Person.self),
                        transaction.deletedObjects(Person.self)
                    )
                }
            )
            .sink(
                receiveCompletion: { result in
                    received.end(result)
                },
                receiveValue: { value in
                    let inserted = dataStack.fetchExisting(value.inserted)
                    let deleted = dataStack.fetchExisting(value.deleted)
                    received.values.append((inserted + deleted).map(\.name))
                }
            )
            .store(in: &cancellables)
        await received.wait()
        #expect(received.values == [["Ann"]])

        let cancelled = Received<Void>()
        dataStack.reactive.perform { try $0.cancel() }
            .sink(receiveCompletion: cancelled.end) {}
            .store(in: &cancellables)
        await cancelled.wait()
        #expect(cancelled.failure == .userCancelled)
    }

    @Test func `objects are imported`() async throws {
        let dataStack = try People.stack()
        var cancellables: Set<AnyCancellable> = []
        let received = Received<[Person]>()

        dataStack.reactive
            .importUniqueObjects(
                Into<Person>(),
                sourceArray: [
                    ["name": "John"],
                    ["name": "Bob"],
                    ["name": "Joe"],
                ]
            )
            .sink(
                receiveCompletion: { result in
                    received.end(result)
                },
                receiveValue: { (people) in
                    received.values.append(people)
                }
            )
            .store(in: &cancellables)
        await received.wait()
        #expect(received.values.map(\.count) == [3])

        let one = Received<Person?>()
        dataStack.reactive.importUniqueObject(Into<Person>(), source: ["name": "Bob", "age": "7"])
            .sink(receiveCompletion: one.end) { one.values.append($0) }
            .store(in: &cancellables)
        await one.wait()
        #expect(one.values.first??.age == 7)
        #expect(try dataStack.fetchCount(From<Person>()) == 3)
    }

    private func add(_ dataStack: DataStack, _ name: String) throws {
        try dataStack.perform(synchronous: { $0.create(Into<Person>()).name = name })
    }

    @Test func `a list's snapshots are published`() throws {
        let dataStack = try People.stack()
        let listPublisher = dataStack.publishList(From<Person>().orderBy(.ascending(\.$name)))
        var cancellables: Set<AnyCancellable> = []
        var counts: [Int] = []

        listPublisher.reactive
            .snapshot(emitInitialValue: true)
            .sink(
                receiveCompletion: { result in
                },
                receiveValue: { (listSnapshot) in
                    counts.append(listSnapshot.numberOfItems)
                }
            )
            .store(in: &cancellables)
        try add(dataStack, "Ann")
        #expect(counts == [0, 1])
        cancellables = []
        try add(dataStack, "Bob")
        #expect(counts == [0, 1])
    }

    @Test func `an object's snapshots and properties are published`() throws {
        let dataStack = try People.stack()
        try add(dataStack, "Ann")
        let person = try #require(try dataStack.fetchOne(From<Person>()))
        let objectPublisher = person.asPublisher(in: dataStack)
        var cancellables: Set<AnyCancellable> = []
        var names: [String?] = []
        var ages: [Int?] = []
        var initials: [String?] = []

        objectPublisher.reactive
            .snapshot(emitInitialValue: false)
            .sink(
                receiveCompletion: { result in
                },
                receiveValue: { (objectSnapshot) in
                    names.append(objectSnapshot?.$name)
                }
            )
            .store(in: &cancellables)
        objectPublisher.reactive.$age.sink { ages.append($0) }.store(in: &cancellables)
        objectPublisher.reactive.$initial.sink { initials.append($0 ?? nil) }
            .store(in: &cancellables)
        try dataStack.perform(synchronous: { $0.edit(person)?.name = "Zoe" })
        try dataStack.perform(synchronous: { $0.delete(person) })
        #expect(names == ["Zoe", nil])
        #expect(ages == [0, 0, nil])
        #expect(initials == ["A", "Z", nil])
    }

    /// Takes as much as it is told to.
    private final class Slow: Subscriber {
        typealias Input = ListSnapshot<Person>
        typealias Failure = Never
        var subscription: (any Subscription)?
        var counts: [Int] = []

        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(_ input: ListSnapshot<Person>) -> Subscribers.Demand {
            counts.append(input.numberOfItems)
            return .none
        }
        func receive(completion: Subscribers.Completion<Never>) {}
    }

    @Test func `a subscriber that asks for one value gets the newest`() throws {
        let dataStack = try People.stack()
        let listPublisher = dataStack.publishList(From<Person>().orderBy(.ascending(\.$name)))
        let slow = Slow()
        listPublisher.reactive.snapshot().subscribe(slow)
        #expect(slow.counts.isEmpty)
        for name in ["a", "b", "c"] { try add(dataStack, name) }
        slow.subscription?.request(.max(1))
        #expect(slow.counts == [3])
        try add(dataStack, "d")
        #expect(slow.counts == [3])
        slow.subscription?.request(.max(2))
        try add(dataStack, "e")
        #expect(slow.counts == [3, 4, 5])
        slow.subscription?.cancel()
        try add(dataStack, "f")
        #expect(slow.counts == [3, 4, 5])
    }

    @Test func `an object tells before it changes, in the view and in a transaction`() throws {
        let dataStack = try People.stack()
        try add(dataStack, "Ada")
        let person = try #require(try dataStack.fetchOne(From<Person>()))
        var seen: [Int] = []
        let subscription = person.objectWillChange.sink { seen.append(person.age) }
        try dataStack.perform(synchronous: { $0.edit(person)?.age = 30 })
        #expect(seen == [0] && person.age == 30)
        try add(dataStack, "Bob")
        #expect(seen == [0])

        let transaction = dataStack.beginUnsafe()
        let edited = try #require(transaction.edit(person))
        var edits: [Int] = []
        let other = edited.objectWillChange.sink { edits.append(edited.age) }
        edited.age = 31
        edited.age = 32
        #expect(edits == [30, 31] && seen == [0])
        other.cancel()
        edited.age = 33
        #expect(edits == [30, 31])

        try dataStack.perform(synchronous: { $0.delete(person) })
        #expect(seen == [0, 30])
        subscription.cancel()
    }
}
