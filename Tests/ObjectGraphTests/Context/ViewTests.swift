import Dispatch
import ObjectGraph
import Primitives
import Testing

/// The view of a stack: when it moves, what it keeps, and the order of its completions.
@Suite struct ViewTests {
    /// A serial executor that a program provides.
    private final class QueueExecutor: SerialExecutor {
        private static let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "executor")

        init() { queue.setSpecific(key: Self.key, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func isIsolatingCurrentContext() -> Bool? {
            DispatchQueue.getSpecific(key: Self.key) == true
        }
    }

    private static func order(of count: Int, in stack: DataStack) async -> [Int] {
        let order = Mutex<[Int]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            for number in 0..<count {
                stack.perform(
                    asynchronous: { transaction in
                        transaction.create(Into<Dog>()).age = number
                        return number
                    },
                    completion: { result in
                        let isLast = order.withLock { order in
                            order.append((try? result.get()) ?? -1)
                            return order.count == count
                        }
                        if isLast { done.resume() }
                    })
            }
        }
        return order.withLock { $0 }
    }

    @Test func `completions run in the order of their transactions`() async throws {
        let (onQueue, _) = try Zoo.stack()
        let queued = await Self.order(of: 300, in: onQueue)
        #expect(queued == Array(0..<300))
        let onExecutor = DataStack(Zoo.schema(), viewContext: .executor(QueueExecutor()))
        try onExecutor.addStorageAndWait(InMemoryStore())
        let executed = await Self.order(of: 300, in: onExecutor)
        #expect(executed == Array(0..<300))
    }

    /// A bug: the executor received the delivery after work that was scheduled later.
    @Test func `work that is scheduled on an executor after a commit finds it`() throws {
        let executor = QueueExecutor()
        let stack = DataStack(Zoo.schema(), viewContext: .executor(executor))
        try stack.addStorageAndWait(InMemoryStore())
        nonisolated(unsafe) let monitor = executor.queue.sync {
            stack.monitorList(From<Toy>().orderBy(.ascending(\.$label)))
        }
        for count in 1...300 {
            try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "new" })
            let found = executor.queue.sync { monitor.numberOfObjects() }
            #expect(found == count)
        }
    }

    @Test func `a completion finds what its transaction did in the view`() async throws {
        let (stack, _) = try Zoo.stack()
        let count = await withCheckedContinuation { done in
            stack.perform(
                asynchronous: { transaction in
                    for _ in 0..<7 { transaction.create(Into<Toy>()).label = "new" }
                },
                completion: { _ in
                    done.resume(returning: (try? stack.fetchCount(From<Toy>())) ?? -1)
                })
        }
        #expect(count == 7)
    }

    @Test func `a view that is not used does not pin every commit`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        let id = try stack.perform(synchronous: { transaction in
            transaction.create(Into<Person>()).objectID()
        })
        let person = queue.sync { stack.fetchExisting(id) as Person? }
        func write(_ count: Int) throws -> UInt64 {
            for number in 0..<count {
                try stack.perform(synchronous: { transaction in
                    let person: Person? = transaction.fetchExisting(id)
                    person?.photo = Data(repeating: UInt8(number % 251), count: 200_000)
                    person?.name = "\(number)"
                })
            }
            return stack.statistics.fileSizeInBytes
        }
        let before = try write(20)
        let after = try write(120)
        // A version of 200,000 bytes for each commit would be 24 MB.
        #expect(after < before + (8 << 20), "\(before) to \(after) bytes")
        queue.sync {
            _ = stack.fetchExisting(id) as Person?
            #expect(person?.name == "119")
            #expect(person?.photo?.count == 200_000)
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `an unused view moves over several commits at once`() throws {
        let (stack, queue) = try Zoo.stack()
        let ids = try stack.perform(synchronous: { transaction in
            (0..<3).map { _ in transaction.create(Into<Dog>()).objectID() }
        })
        let dogs: [Dog] = queue.sync { ids.compactMap { stack.fetchExisting($0) } }
        queue.sync { #expect(dogs.map(\.age) == [1, 1, 1]) }
        queue.suspend()
        for age in 2..<5 {
            try stack.perform(synchronous: { transaction in
                for id in ids {
                    let dog: Dog? = transaction.fetchExisting(id)
                    dog?.age = age
                }
            })
        }
        try stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [ids[1]])
        })
        queue.resume()
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Dog>()) == 2)
            #expect(dogs[0].age == 4)
            // A deleted object keeps the values that the view had.
            #expect(dogs[1].age == 1)
            #expect(stack.fetchExisting(ids[1]) as Dog? == nil)
        }
    }

    @Test func `refreshing the view reads everything again`() throws {
        let (stack, queue) = try Zoo.stack()
        let ids = try stack.perform(synchronous: { transaction in
            (0..<2).map { _ in transaction.create(Into<Dog>()).objectID() }
        })
        let dogs: [Dog] = queue.sync { ids.compactMap { stack.fetchExisting($0) } }
        queue.sync { #expect(dogs.map(\.age) == [1, 1]) }
        try stack.perform(synchronous: { transaction in
            let dog: Dog? = transaction.fetchExisting(ids[0])
            dog?.age = 8
            transaction.delete(objectIDs: [ids[1]])
        })
        queue.sync {
            stack.refreshAndMergeAllObjects()
            #expect(dogs.map(\.age) == [8, 1])
            #expect(stack.fetchExisting(ids[1]) as Dog? == nil)
        }
    }

    @Test func `a transaction inside an asynchronous one throws at once`() async throws {
        let (stack, _) = try Zoo.stack()
        let inner = try await stack.async.perform { transaction -> CoreStoreError? in
            transaction.create(Into<Toy>()).label = "outer"
            do throws(CoreStoreError) {
                try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "inner" })
                return nil
            } catch {
                return error
            }
        }
        #expect(inner?.description.contains("inside another") == true)
        let labels = try await stack.async.perform { transaction in
            try transaction.fetchAll(From<Toy>()).map(\.label)
        }
        #expect(labels == ["outer"])
    }

    @Test func `transactions of several threads run one after the other`() async throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        try await stack.async.perform { transaction in
                            let dog: Dog? = transaction.fetchExisting(id)
                            dog?.age += 1
                        }
                    }
                }
            }
            for _ in 0..<50 {
                try stack.perform(synchronous: { transaction in
                    let dog: Dog? = transaction.fetchExisting(id)
                    dog?.age += 1
                })
            }
            try await group.waitForAll()
        }
        #expect(queue.sync { (stack.fetchExisting(id) as Dog?)?.age } == 251)
    }
}
