import Dispatch
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// Stacks that write several shared files from several threads.
@Suite(.timeLimit(.minutes(hangMinutes))) struct SharedWriterTests {
    final class Coin: CoreStoreObject {
        @Field.Stored("value") var value: Int = 0
        @Field.Stored("by") var by: Int = 0
    }

    private static func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entityConfigurations: [Entity<Coin>("Coin"): Set(["One", "Two"])])
    }

    /// The content of a stack's view, moved step by step, equals a fetch of everything.
    @Test func `views that follow steps equal a fetch of everything`() throws {
        let urls = [Zoo.temporaryURL(), Zoo.temporaryURL()]
        defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
        let queue = DispatchQueue(label: "view")
        let stacks = try (0..<3).map { number in
            let stack = DataStack(Self.schema(), viewContext: .queue(queue))
            // The order of the files differs from stack to stack.
            let order = number == 1 ? [1, 0] : [0, 1]
            for file in order {
                try stack.addStorageAndWait(
                    LocalStore(
                        fileURL: urls[file], configuration: file == 0 ? "One" : "Two"))
            }
            return stack
        }
        let publishers = queue.sync {
            stacks.map { $0.publishList(From<Coin>().orderBy(.ascending(\.$value))) }
        }
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: stacks.count) { number in
            var random = SeededRandom(seed: UInt64(number + 1))
            for round in 0..<60 {
                do throws(CoreStoreError) {
                    try stacks[number].perform(synchronous: { transaction in
                        // Both files, in either order.
                        let names = Bool.random(using: &random) ? ["One", "Two"] : ["Two", "One"]
                        for name in names {
                            let coins = try transaction.fetchAll(From<Coin>(name))
                            if let coin = coins.randomElement(using: &random) {
                                if coins.count > 20 { transaction.delete(coin) }
                                coin.by = number
                            }
                            let coin = transaction.create(Into<Coin>(name))
                            coin.value = number * 1000 + round
                        }
                    })
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let expected = try stacks[0].read { view in
            try view.fetchAll(From<Coin>()).map { "\($0.objectID()) \($0.value) \($0.by)" }
        }
        for (stack, publisher) in zip(stacks, publishers) {
            queue.sync { stack.deliver() }
            try queue.sync { () throws in
                let fetched = try stack.fetchAll(From<Coin>())
                    .map { "\($0.objectID()) \($0.value) \($0.by)" }
                #expect(Set(fetched) == Set(expected))
                let listed = publisher.snapshot.compactMap(\.object)
                    .map { "\($0.objectID()) \($0.value) \($0.by)" }
                #expect(Set(listed) == Set(expected))
                #expect(listed.count == expected.count)
            }
        }
    }

    @Test func `writer locks that are joined in a circle become one lock`() {
        let locks = (0..<4).map { _ in WriterLock() }
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            locks[number].join(locks[(number + 1) % 4])
        }
        let count = Mutex(0)
        let most = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for _ in 0..<200 {
                let lock = locks[number % 4]
                lock.take()
                let now = count.withLock { count in
                    count += 1
                    return count
                }
                most.withLock { $0 = max($0, now) }
                let areHeld = locks.allSatisfy { $0.isHeldByCaller }
                #expect(areHeld)
                count.withLock { $0 -= 1 }
                lock.release()
            }
        }
        #expect(most.withLock { $0 } == 1)
        #expect(!locks[0].isHeldByCaller)
    }

    @Test func `threads that wait for a lock take the lock that it joins`() {
        for _ in 0..<20 {
            let (one, two) = (WriterLock(), WriterLock())
            let count = Mutex(0)
            let wasBroken = Mutex(false)
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                if number == 5 { one.join(two) }
                for _ in 0..<50 {
                    let lock = number % 2 == 0 ? one : two
                    lock.take()
                    if number == 0 { count.withLock { $0 += 1 } }
                    if !lock.isHeldByCaller { wasBroken.withLock { $0 = true } }
                    lock.release()
                }
            }
            #expect(!wasBroken.withLock { $0 })
            #expect(count.withLock { $0 } == 50)
        }
    }
}
