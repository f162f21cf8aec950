import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

private final class East: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

private final class West: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

/// Uses that begin while the steps of commits are still on their way to the view.
@Suite(.timeLimit(.minutes(hangMinutes))) struct LateUseTests {
    private let queue = DispatchQueue(label: "view")

    private func inThread(_ work: @escaping @Sendable () throws -> Void) throws {
        let result = Mutex<Result<Void, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let outcome = Result { try work() }
            result.withLock { $0 = outcome }
            done.signal()
        }
        thread.start()
        done.wait()
        try #require(result.withLock { $0 }).get()
    }

    /// Each entity has a storage of its own.
    private func twoStores() throws -> DataStack {
        let schema = CoreStoreSchema(
            modelVersion: "V1",
            entityConfigurations: [
                Entity<East>("East"): Set(["East"]), Entity<West>("West"): Set(["West"]),
            ])
        let stack = DataStack(schema, viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "East"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "West"))
        return stack
    }

    /// A bug: what was created before the first use of a storage, and deleted after it, was in none
    /// of the changes that many commits make together. It stayed in the view.
    @Test(arguments: [false, true])
    func `an object that was found between joined commits is followed`(isDeleted: Bool) throws {
        let stack = try twoStores()
        // While something is observed, the view moves by steps alone.
        let easts = queue.sync { stack.publishList(From<East>().orderBy(.ascending(\.$name))) }
        let (found, wests) = try queue.sync {
            try inThread { try stack.perform { $0.create(Into<West>()).name = "first" } }
            let found = try #require(try stack.fetchOne(From<West>()))
            #expect(found.name == "first")
            try inThread {
                try stack.perform(synchronous: { transaction in
                    let west = try #require(try transaction.fetchOne(From<West>()))
                    if isDeleted { transaction.delete(west) } else { west.name = "second" }
                })
                for number in 1...40 {
                    try stack.perform { $0.create(Into<West>()).name = "\(number)" }
                }
            }
            let chain = From<West>().orderBy(.ascending(\.$name))
            return (found, stack.publishList(chain))
        }
        stack.drain(queue)
        try queue.sync {
            let names = try stack.fetchAll(From<West>()).map(\.name)
            #expect(names.count == (isDeleted ? 40 : 41))
            #expect(found.isDeleted == isDeleted && found.name == (isDeleted ? "first" : "second"))
            #expect((stack.fetchExisting(found) == nil) == isDeleted)
            #expect(wests.snapshot.compactMap { $0.object?.name } == names.sorted())
        }
        withExtendedLifetime(easts) {}
    }

    @Test func `joined changes are none for a reader that began between them`() throws {
        let (stack, _) = try Zoo.stack()
        let steps = StepQueue()
        stack.steps.subscribe(steps)
        let numbers = try (1...3).map { _ in
            try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
            return stack.statistics.commitNumber
        }
        let joined = try #require(steps.takeAll(takesCompletions: true)?.parts.first)
        func isKnown(_ number: UInt64) -> Bool {
            if case .changes = joined.content(since: number) { true } else { false }
        }
        #expect(isKnown(numbers[0] - 1) && isKnown(numbers[2]))
        #expect(!isKnown(numbers[0]) && !isKnown(numbers[1]))
    }

    /// A bug: the view moved between the first call and the observation, and the commit was told by
    /// neither.
    @Test func `an initial value is that of the commit that is observed from`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.nickname = "A"
            return dog.objectID()
        })
        let told = Mutex<[String?]>([])
        let observation = try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            #expect(dog.nickname == "A")
            try inThread {
                try stack.perform(synchronous: { transaction in
                    (transaction.fetchExisting(id) as Dog?)?.nickname = "B"
                })
            }
            let observation = dog.observe(\.$nickname, options: [.initial, .new]) { _, change in
                told.withLock { $0.append(change.newValue ?? nil) }
            }
            return (observation, dog)
        }
        stack.drain(queue)
        #expect(told.withLock { $0 } == ["B"])
        withExtendedLifetime(observation) {}
    }

    /// A bug: a transaction without changes overtook the commit that it had read, and its
    /// completion did not find what the transaction had found.
    @Test(arguments: [false, true])
    func `what a transaction has read is shown before its completion`(fails: Bool) throws {
        let (stack, _) = try Zoo.stack()
        let context = TransactionContext(of: stack)
        let transaction = SynchronousDataTransaction(
            stack: stack, context: context, sourceIdentifier: nil)
        let (_, staged, _) = try stack.stage(transaction, context, nil) { transaction in
            transaction.create(Into<Dog>()).nickname = "Rex"
        }
        let told = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        stack.perform(
            asynchronous: { transaction in
                let dog = try transaction.fetchOne(From<Dog>().where(\.$nickname == "Rex"))
                if fails { throw CoreStoreError.userCancelled }
                return dog?.objectID()
            }, durability: .relaxed,
            completion: { result in
                if case .success(let id) = result {
                    let dog: Dog? = id.flatMap { stack.fetchExisting($0) }
                    told.withLock { $0.append(dog == nil ? -1 : 1) }
                }
                let count = try? stack.fetchCount(From<Dog>())
                told.withLock { $0.append(count ?? -1) }
                done.signal()
            })
        // It would have ended long ago.
        #expect(done.wait(timeout: .now() + 0.3) == .timedOut)
        try #require(staged).finish()
        done.wait()
        #expect(told.withLock { $0 } == (fails ? [1] : [1, 1]))
    }

    private final class Waiter: ListObserver {
        let work: @Sendable () -> Void

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        func listMonitorWillChange(_ monitor: ListMonitor<Dog>) {}
        func listMonitorDidChange(_ monitor: ListMonitor<Dog>) {}
        func listMonitorWillRefetch(_ monitor: ListMonitor<Dog>) { work() }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Dog>) {}
    }

    /// A bug: observers were told of a new storage inside the lock for adding storages.
    @Test func `an observer waits for a thread that adds a storage`() throws {
        let (stack, queue) = try Zoo.stack()
        let results = Mutex<[DispatchTimeoutResult]>([])
        let isTold = Mutex(false)
        let observer = Waiter {
            let isFirst = isTold.withLock { isTold in
                defer { isTold = true }
                return !isTold
            }
            guard isFirst else { return }
            let added = DispatchSemaphore(value: 0)
            Thread {
                _ = try? stack.addStorageAndWait(InMemoryStore())
                added.signal()
            }.start()
            let result = added.wait(timeout: .now() + 20)
            results.withLock { $0.append(result) }
        }
        let monitor = queue.sync {
            stack.monitorList(From<Dog>().orderBy(.ascending(\.$age)))
        }
        try queue.sync {
            monitor.addObserver(observer)
            try stack.addStorageAndWait(InMemoryStore())
        }
        stack.drain(queue)
        #expect(results.withLock { $0 } == [.success])
        #expect(stack.stores.count == 3)
    }
}
