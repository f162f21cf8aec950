import Dispatch
import PageStore
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// When the view shows a commit, and what a completion sees.
@Suite(.timeLimit(.minutes(hangMinutes))) struct DeliveryTests {
    /// The values that completions have seen so far.
    private final class Seen: Sendable {
        private let values = Mutex<[Int]>([])
        var all: [Int] { values.withLock { $0 } }
        func add(_ value: Int) { values.withLock { $0.append(value) } }
    }

    private func addDog(_ stack: DataStack, _ seen: Seen) {
        stack.perform(
            asynchronous: { _ = $0.create(Into<Dog>()) },
            completion: { _ in seen.add((try? stack.fetchCount(From<Dog>())) ?? -1) })
    }

    /// Waits until all transactions that were begun have ended.
    private func settle(_ stack: DataStack) { stack.transactionQueue.queue.sync {} }

    /// A bug: the object kept its old value until the next fetch.
    @MainActor @Test
    func `the view shows an awaited transaction's changes at once`() async throws {
        let stack = DataStack(Zoo.schema())
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        let dog = try #require(stack.fetchExisting(id) as Dog?)
        #expect(dog.age == 1)
        for age in 2..<40 {
            try await stack.async.perform { transaction in
                (transaction.fetchExisting(id) as Dog?)?.age = age
            }
            #expect(dog.age == age)
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `the view shows a commit of another thread without a fetch`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        let dog = try #require(queue.sync { stack.fetchExisting(id) as Dog? })
        queue.sync { #expect(dog.age == 1) }
        try stack.perform(synchronous: { ($0.fetchExisting(id) as Dog?)?.age = 2 })
        queue.sync { #expect(dog.age == 2) }
    }

    /// Runs something at the second place where a thread takes a lock of the stack.
    private final class Interruption: Schedule {
        private let due = Mutex<(thread: Thread, count: Int, work: @Sendable () -> Void)?>(nil)

        func arm(_ work: @escaping @Sendable () -> Void) {
            due.withLock { $0 = (Thread.current, 0, work) }
        }

        func meet(_ place: MeetingPlace) {
            let work = due.withLock { due -> (@Sendable () -> Void)? in
                guard due?.thread === Thread.current else { return nil }
                due?.count += 1
                guard due?.count == 2 else { return nil }
                defer { due = nil }
                return due?.work
            }
            work?()
        }

        func enter(_ place: MeetingPlace) {}
        func leave() {}
        func wait(at lock: ObjectIdentifier, until attempt: () -> Bool) {
            while !attempt() { Thread.sleep(forTimeInterval: 0.0001) }
        }
        func wake(_ lock: ObjectIdentifier) {}
        func begin(isTimed: Bool, _ work: @escaping @Sendable () -> Void) {
            DispatchQueue.global().async(execute: work)
        }
    }

    /// A bug: the fetch took the step, and its completion was lost.
    @Test func `a completion that arrives while a fetch moves the view is called`() throws {
        let (queue, schedule) = (DispatchQueue(label: "view"), Interruption())
        let stack = DataStack(
            schemaHistory: SchemaHistory(allSchema: [Zoo.schema()], migrationChain: nil),
            viewContext: .queue(queue), schedule: schedule)
        try stack.addStorageAndWait(InMemoryStore())
        let isCalled = DispatchSemaphore(value: 0)
        try queue.sync {
            _ = try stack.fetchCount(From<Dog>())
            let ended = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
                ended.signal()
            }
            ended.wait()
            schedule.arm {
                stack.perform(
                    asynchronous: { _ = $0.create(Into<Dog>()) },
                    completion: { _ in isCalled.signal() })
                while !stack.viewSteps.hasCompletions { Thread.sleep(forTimeInterval: 0.0001) }
            }
            _ = try stack.fetchCount(From<Dog>())
        }
        #expect(isCalled.wait(timeout: .now() + .seconds(30)) == .success)
    }

    /// A bug: all completions saw five dogs.
    @Test(arguments: [false, true])
    func `a completion sees its own commit and no later one`(isUsedBefore: Bool) throws {
        let (stack, queue) = try Zoo.stack()
        if isUsedBefore { queue.sync { _ = try? stack.fetchCount(From<Dog>()) } }
        let seen = Seen()
        queue.suspend()
        for _ in 0..<5 { addDog(stack, seen) }
        settle(stack)
        try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
        queue.resume()
        queue.sync {}
        queue.sync { #expect((try? stack.fetchCount(From<Dog>())) == 6) }
        #expect(seen.all == [1, 2, 3, 4, 5])
    }

    @Test func `a fetch between two completions sees what they see`() throws {
        let (stack, queue) = try Zoo.stack()
        let seen = Seen()
        queue.suspend()
        addDog(stack, seen)
        settle(stack)
        queue.async { seen.add((try? stack.fetchCount(From<Dog>())) ?? -1) }
        addDog(stack, seen)
        settle(stack)
        queue.resume()
        queue.sync {}
        queue.sync {}
        #expect(seen.all == [1, 2, 2])
    }

    @Test func `completions of failed transactions run in order with the others`() throws {
        let (stack, queue) = try Zoo.stack()
        let seen = Seen()
        queue.suspend()
        addDog(stack, seen)
        stack.perform(
            asynchronous: { (_) -> Int in throw CoreStoreError.userCancelled },
            completion: { _ in seen.add(10 + ((try? stack.fetchCount(From<Dog>())) ?? -1)) })
        addDog(stack, seen)
        stack.perform(
            asynchronous: { try $0.fetchCount(From<Dog>()) },
            completion: { result in seen.add(20 + ((try? result.get()) ?? -1)) })
        settle(stack)
        queue.resume()
        queue.sync {}
        #expect(seen.all == [1, 11, 2, 22])
    }

    @Test func `a transaction in a completion is visible when it returns`() throws {
        let (stack, queue) = try Zoo.stack()
        let seen = Seen()
        queue.suspend()
        stack.perform(
            asynchronous: { _ = $0.create(Into<Dog>()) },
            completion: { _ in
                _ = try? stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
                seen.add((try? stack.fetchCount(From<Dog>())) ?? -1)
            })
        addDog(stack, seen)
        settle(stack)
        queue.resume()
        queue.sync {}
        // The second completion runs after the first one, which has created a third dog.
        #expect(seen.all == [3, 3])
    }

    @Test func `completions are called even if the storages were removed`() throws {
        let (stack, queue) = try Zoo.stack()
        let seen = Seen()
        queue.suspend()
        for value in 0..<3 {
            stack.perform(
                asynchronous: { _ = $0.create(Into<Dog>()) }, completion: { _ in seen.add(value) })
        }
        settle(stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        queue.resume()
        queue.sync {}
        queue.sync {}
        #expect(seen.all == [0, 1, 2])
    }

    @Test func `an executor that never runs blocks no writer and holds few snapshots`() throws {
        let (stack, queue) = try Zoo.stack()
        let seen = Seen()
        queue.sync { _ = try? stack.fetchCount(From<Dog>()) }
        queue.suspend()
        for _ in 0..<100 { addDog(stack, seen) }
        for _ in 0..<100 { try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) }) }
        settle(stack)
        stack.viewSteps.compute()
        #expect(stack.viewSteps.waiting.count <= StepQueue.completionMax)
        queue.resume()
        queue.sync {}
        queue.sync { #expect((try? stack.fetchCount(From<Dog>())) == 200) }
        #expect(seen.all.count == 100)
    }

    @Test func `a transaction that does not wait for observers is reported later`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            let monitor = stack.monitorObject(dog)
            try stack.perform(
                synchronous: { ($0.fetchExisting(id) as Dog?)?.age = 2 },
                waitForAllObservers: false)
            #expect(dog.age == 1)
            try stack.perform(synchronous: { ($0.fetchExisting(id) as Dog?)?.age += 1 })
            #expect(dog.age == 3)
            withExtendedLifetime(monitor) {}
        }
    }

    private final class CallCounts: ListObserver, ObjectObserver {
        private(set) var calls: [String] = []
        func listMonitorWillChange(_ monitor: ListMonitor<Dog>) { calls.append("will") }
        func listMonitorDidChange(_ monitor: ListMonitor<Dog>) {
            calls.append("did \(monitor.numberOfObjects())")
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Dog>) { calls.append("refetch") }
        func objectMonitor(_ monitor: ObjectMonitor<Dog>, didDeleteObject object: Dog) {
            calls.append("deleted \(object.age)")
        }
    }

    @Test func `the deletion of a large entity is reported once`() throws {
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        let (stack, queue) = try Zoo.stack()
        for _ in 0..<(isLong ? 100 : 1) {
            try stack.perform(synchronous: { transaction in
                for age in 0..<(isLong ? 10_000 : 6000) {
                    transaction.create(Into<Dog>()).age = age
                }
            })
        }
        try queue.sync {
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let monitor = stack.monitorList(chain)
            let publisher = stack.publishList(chain)
            let object = stack.monitorObject(monitor[monitor.numberOfObjects() - 1])
            let age = object.object?.age ?? -1
            let counts = CallCounts()
            monitor.addObserver(counts)
            object.addObserver(counts)
            var publishedCounts: [Int] = []
            publisher.addObserver(counts) { publishedCounts.append($0.snapshot.count) }
            let before = publisher.snapshot
            _ = try stack.perform(synchronous: { try $0.deleteAll(From<Dog>()) })
            #expect(counts.calls == ["will", "deleted \(age)", "did 0"])
            #expect(publishedCounts == [0] && object.isObjectDeleted)
            #expect(publisher.snapshot.changes(since: before).deletions.count == before.count)
        }
    }
}
