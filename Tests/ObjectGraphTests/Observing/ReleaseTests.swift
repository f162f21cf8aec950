import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// A program releases its stack and its observers in any order: the remaining ones keep nothing
/// else alive, and nothing breaks.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ReleaseTests {
    /// The references that a program releases, each at once.
    private enum Part: Int, CaseIterable {
        case stack, monitors, publishers, observers, object, snapshots, sequences
    }

    private static let schema = Zoo.schema()

    /// All that a program may hold of a stack, and what must be deallocated when it holds it no
    /// more.
    private final class Held {
        private struct Watched {
            var name: String
            var holders: Set<Part>
            weak var object: AnyObject?
        }

        private final class Key {}

        private(set) var stack: DataStack?
        private var listMonitor: ListMonitor<Toy>?
        private var objectMonitor: ObjectMonitor<Toy>?
        private var listPublisher: ListPublisher<Toy>?
        private var objectPublisher: ObjectPublisher<Toy>?
        private var listRecorder: ListRecorder<Toy>?
        private var objectRecorder: ObjectRecorder<Toy>?
        private var key: Key?
        private var token: CoreStoreObjectKeyValueObservation?
        private var toy: Toy?
        private var listSnapshot: ListSnapshot<Toy>?
        private var objectSnapshot: ObjectSnapshot<Toy>?
        private var changes: ListChanges<Toy>?
        private var lists: AsyncStream<ListSnapshot<Toy>>?
        private var objects: AsyncStream<ObjectSnapshot<Toy>?>?
        private var watched: [Watched] = []
        private var isReleased: Set<Part> = []
        /// The parts that the next callback releases.
        var dueInCallback: [Part] = []
        private(set) var callbackCount = 0

        init(_ queue: DispatchQueue) throws {
            let stack = DataStack(ReleaseTests.schema, viewContext: .queue(queue))
            try stack.addStorageAndWait(InMemoryStore())
            let id = try stack.perform(synchronous: { $0.create(Into<Toy>()).objectID() })
            let toy = try #require(stack.fetchExisting(id) as Toy?)
            let chain = From<Toy>().orderBy(.ascending(\.$label))
            let (monitor, publisher) = (stack.monitorList(chain), stack.publishList(chain))
            let (single, published) = (stack.monitorObject(toy), toy.asPublisher(in: stack))
            (self.stack, self.toy) = (stack, toy)
            (listMonitor, listPublisher) = (monitor, publisher)
            (objectMonitor, objectPublisher) = (single, published)
            observe(monitor, publisher, single, published, toy)
            (listSnapshot, objectSnapshot) = (publisher.snapshot, published.snapshot)
            (changes, lists) = (monitor.changes, publisher.snapshots())
            objects = published.snapshots()
            watch("stack", stack, [.stack])
            watch("list monitor", monitor, [.monitors, .sequences])
            watch("object monitor", single, [.monitors])
            watch("list publisher", publisher, [.publishers, .sequences])
            watch("object publisher", published, [.publishers, .sequences])
            watch("object", toy, [.object])
        }

        private func observe(
            _ monitor: ListMonitor<Toy>, _ publisher: ListPublisher<Toy>,
            _ single: ObjectMonitor<Toy>, _ published: ObjectPublisher<Toy>, _ toy: Toy
        ) {
            let (list, object, key) = (
                ListRecorder<Toy> { $0.label }, ObjectRecorder<Toy> { $0.label }, Key()
            )
            list.onEvent = { [weak self] _, _ in self?.noteCallback() }
            object.onEvent = { [weak self] _ in self?.noteCallback() }
            monitor.addObserver(list)
            single.addObserver(object)
            publisher.addObserver(key) { [weak self] _ in self?.noteCallback() }
            published.addObserver(key) { [weak self] _ in self?.noteCallback() }
            let token = toy.observe(\.$label, options: [.new, .old, .prior]) {
                [weak self] _, _ in self?.noteCallback()
            }
            (listRecorder, objectRecorder, self.key, self.token) = (list, object, key, token)
            for (name, observer) in [
                ("list observer", list), ("object observer", object), ("key", key),
                ("token", token),
            ] as [(String, AnyObject)] {
                watch(name, observer, [.observers])
            }
        }

        private func watch(_ name: String, _ object: AnyObject, _ holders: Set<Part>) {
            watched.append(Watched(name: name, holders: holders, object: object))
        }

        private func noteCallback() {
            callbackCount += 1
            // One part in each callback, so that some are released before their own callback and
            // others after it.
            if !dueInCallback.isEmpty { release(dueInCallback.removeFirst()) }
        }

        func release(_ part: Part) {
            isReleased.insert(part)
            switch part {
            case .stack: stack = nil
            case .monitors: (listMonitor, objectMonitor) = (nil, nil)
            case .publishers: (listPublisher, objectPublisher) = (nil, nil)
            case .observers:
                (listRecorder, objectRecorder, key, token) = (nil, nil, nil, nil)
            case .object: toy = nil
            case .snapshots: (listSnapshot, objectSnapshot) = (nil, nil)
            case .sequences: (changes, lists, objects) = (nil, nil, nil)
            }
        }

        /// A commit that changes everything that is observed.
        func change(_ label: String) throws {
            try stack?.perform(synchronous: { transaction in
                try transaction.fetchOne(From<Toy>())?.label = label
                transaction.create(Into<Toy>()).label = "z"
            })
        }

        /// Uses the parts that are still held.
        func use() {
            _ = listMonitor?.numberOfObjects()
            _ = (objectMonitor?.object, objectMonitor?.isObjectDeleted)
            _ = (listPublisher?.snapshot.itemIDs, objectPublisher?.snapshot?.$label)
            _ = (objectPublisher?.object, toy?.label, toy?.owner)
            _ = (listSnapshot?.itemIDs, objectSnapshot?.$label)
            _ = (objectSnapshot?.dictionaryForValues(), listMonitor?.snapshot.count)
        }

        /// Objects that are alive although nothing holds them.
        var leaks: [String] {
            watched.filter { $0.object != nil && $0.holders.isSubset(of: isReleased) }.map(\.name)
        }

        /// Objects that are deallocated although they are held.
        var losses: [String] {
            watched.filter { $0.object == nil && !$0.holders.isSubset(of: isReleased) }.map(\.name)
        }
    }

    /// All permutations of the parts.
    private static func orders(_ parts: [Part]) -> [[Part]] {
        guard parts.count > 1 else { return [parts] }
        return parts.flatMap { first in
            orders(parts.filter { $0 != first }).map { [first] + $0 }
        }
    }

    @Test func `nothing leaks and nothing breaks in any order of release`() throws {
        let queue = DispatchQueue(label: "view")
        let orders = Self.orders(Part.allCases)
        #expect(orders.count == 5040)
        var callbackCount = 0
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        // Every seventh order, starting at another offset in each run of seven.
        for (number, order) in orders.enumerated() where isLong || number % 7 == number / 720 {
            try queue.sync {
                let held = try Held(queue)
                for (index, part) in order.enumerated() {
                    held.release(part)
                    if !held.leaks.isEmpty || !held.losses.isEmpty {
                        Issue.record(
                            "\(order), after \(part): \(held.leaks) leak, \(held.losses) went")
                    }
                    held.use()
                    // Remaining observers are notified as before.
                    if index % 2 == 0 { try held.change("\(index)") }
                }
                callbackCount += held.callbackCount
            }
        }
        #expect(callbackCount > orders.count / 7)
    }

    @Test func `objects released in callbacks are deallocated when those have returned`() throws {
        let queue = DispatchQueue(label: "view")
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        for (number, order) in Self.orders(Part.allCases).enumerated()
        where isLong || number % 11 == 0 {
            try queue.sync {
                let held = try Held(queue)
                let outsideCount = number % 4
                for part in order.prefix(outsideCount) { held.release(part) }
                held.dueInCallback = Array(order.dropFirst(outsideCount))
                try held.change("a")
                held.use()
                try held.change("b")
                // Parts for which no callback was left.
                for part in held.dueInCallback { held.release(part) }
                if !held.leaks.isEmpty || !held.losses.isEmpty {
                    Issue.record(
                        "\(order), \(outsideCount) before: \(held.leaks) leak, \(held.losses) went")
                }
            }
        }
    }

    /// Readers that wait for the next element hold sequences; they end when they are cancelled.
    @Test func `sequences that are being read end with their readers, in any order`() async throws {
        let queue = DispatchQueue(label: "view")
        for order in Self.orders([.stack, .monitors, .publishers, .sequences]) {
            var kept: DataStack? = DataStack(Self.schema, viewContext: .queue(queue))
            try kept?.addStorageAndWait(InMemoryStore())
            let box = Mutex<Reading?>(nil)
            queue.sync { box.withLock { $0 = kept.map { Reading($0) } } }
            weak let monitor = box.withLock { $0?.monitor }
            weak let publisher = box.withLock { $0?.publisher }
            try kept?.perform(synchronous: { _ = $0.create(Into<Toy>()) })
            for part in order {
                switch part {
                case .stack: kept = nil
                case .monitors: queue.sync { box.withLock { $0?.monitor = nil } }
                case .publishers: queue.sync { box.withLock { $0?.publisher = nil } }
                default:
                    let tasks = box.withLock { $0?.tasks } ?? []
                    for task in tasks { task.cancel() }
                    for task in tasks { await task.value }
                }
                try kept?.perform(synchronous: { _ = $0.create(Into<Toy>()) })
            }
            queue.sync {}
            #expect(monitor == nil && publisher == nil, "\(order)")
        }
    }

    private final class Reading: @unchecked Sendable {
        var monitor: ListMonitor<Toy>?
        var publisher: ListPublisher<Toy>?
        let tasks: [Task<Void, Never>]

        init(_ stack: DataStack) {
            let chain = From<Toy>().orderBy(.ascending(\.$label))
            let (monitor, publisher) = (stack.monitorList(chain), stack.publishList(chain))
            let (changes, lists) = (monitor.changes, publisher.snapshots())
            tasks = [
                Task.detached { for await _ in changes {} },
                Task.detached { for await _ in lists {} },
            ]
            (self.monitor, self.publisher) = (monitor, publisher)
        }
    }
}
