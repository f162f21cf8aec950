import Foundation
import ObjectGraph

/// A `ListPublisher` of the request, on a queue.
final class ObservedTrellis: ObservedStore {
    let queue = DispatchQueue(label: "view")
    let stack: DataStack
    let isOnMain: Bool
    private var persons: [NSManagedObjectID] = []
    private var publishers: [ListPublisher<Person>] = []
    private var monitor: ListMonitor<Person>?
    private let observer = Observer()
    /// How many publishers of the same list there are.
    var publisherCount = 1

    /// Counts what it is told.
    final class Observer: ListObserver {
        typealias ListEntityType = Person
        private(set) var toldCount = 0
        var onTold: () -> Void = {}

        func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
            toldCount += 1
            onTold()
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {}
    }

    convenience init(path: String, cacheSizeInBytes: Int) throws {
        try self.init(path: path, cacheSizeInBytes: cacheSizeInBytes, isOnMain: false)
    }

    /// - Parameter isOnMain: whether the view lives on the main thread, which then does all work.
    init(path: String, cacheSizeInBytes: Int, isOnMain: Bool) throws {
        self.isOnMain = isOnMain
        stack = DataStack(Self.schema, viewContext: isOnMain ? .main : .queue(queue))
        var options = EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
    }

    static var schema: CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Person>(
                    "Person",
                    indexes: [[\Person.$name], [\Person.$age], [\Person.$age, \Person.$name]],
                    uniqueConstraints: [[\Person.$email]]),
                Entity<Dog>("Dog"),
            ])
    }

    static var sectioned: SectionMonitorChainBuilder<Person> {
        From<Person>().sectionBy(\.$age).where(\.$age >= ObservedList.ageMin)
            .orderBy(.ascending(\.$age), .ascending(\.$name))
    }

    func insert(personCount: Int) throws { try insert(numbers: 0..<personCount) }

    func insert(numbers: Range<Int>) throws {
        // In parts, so that memory is that of the store.
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 50_000) {
            let end = min(start + 50_000, numbers.upperBound)
            persons += try stack.perform(synchronous: { transaction in
                (start..<end).map { number in
                    let (source, person) = (
                        PersonSource(number: number), transaction.create(Into<Person>())
                    )
                    person.name = source.name
                    person.email = source.email
                    person.age = source.age
                    person.balance = source.balance
                    person.createdAt = source.createdAt
                    person.bio = source.bio
                    return person.objectID()
                }
            })
        }
        try stack.checkpoint()
    }

    func change(names: [(number: Int, name: String)]) throws {
        try change(balances: [], names: names)
    }

    func change(
        balances: [(number: Int, balance: Double)], names: [(number: Int, name: String)]
    ) throws {
        try stack.perform(synchronous: { transaction in
            for change in balances {
                transaction.edit(Into<Person>(), persons[change.number])?.balance = change.balance
            }
            for change in names {
                transaction.edit(Into<Person>(), persons[change.number])?.name = change.name
            }
        })
    }

    func person(_ number: Int) -> NSManagedObjectID { persons[number] }

    // MARK: Observing

    /// Where the view lives.
    func onView<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard isOnMain else { return try queue.sync(execute: body) }
        return try body()
    }

    func observe() throws {
        onView {
            let monitor = stack.monitorSectionedList(Self.sectioned)
            monitor.addObserver(observer)
            self.monitor = monitor
            publishers = (1..<publisherCount).map { _ in stack.publishList(Self.sectioned) }
        }
    }

    func endObserving() { onView { (monitor, publishers) = (nil, []) } }

    /// A commit's turn is on the queue when its call returns.
    func waitForTold() { onView {} }

    func whenTold(_ call: @escaping () -> Void) { observer.onTold = call }

    var listedCount: Int { onView { monitor?.numberOfObjects() ?? 0 } }

    func close() throws {
        endObserving()
        onView { stack.unsafeRemoveAllPersistentStoresAndWait() }
    }
}
