import ObjectGraph
import Testing

/// A transaction builds on the preceding commit while that is still being written and no snapshot
/// shows it: each answer must nevertheless be of that commit.
@Suite struct UnwrittenCommitTests {
    /// Runs one transaction that makes the dog seven years old, and a second one while the first
    /// one's commit waits for group commit.
    private func runBesideUnwritten(
        _ second: (SynchronousDataTransaction, Dog) throws -> Void
    ) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, queue) = try Zoo.stack(at: url)
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.age = 3
            return dog.objectID()
        })
        let hasChanged = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            defer { group.leave() }
            do {
                try stack.perform(
                    synchronous: { transaction in
                        let dog: Dog? = transaction.fetchExisting(id)
                        dog?.age = 7
                        dog?.master = transaction.create(Into<Person>())
                        hasChanged.signal()
                    }, durability: .grouped(maxDelay: .seconds(30)))
            } catch {
                hasChanged.signal()
                Issue.record(error)
            }
        }
        hasChanged.wait()
        try stack.perform(synchronous: { transaction in
            let shown = try queue.sync { try stack.fetchOne(From<Dog>())?.age }
            #expect(shown == 3, "the preceding commit must not be written yet")
            let dog: Dog = try #require(transaction.fetchExisting(id))
            try second(transaction, dog)
            // Another commit completes the group that the first one waits for.
            dog.nickname = "Rex"
        })
        group.wait()
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a query in a transaction finds what the preceding commit changed`() throws {
        try runBesideUnwritten { transaction, _ in
            let oldest = try transaction.queryValue(
                From<Dog>().select(Int.self, .maximum(\.$age)))
            #expect(oldest == 7)
            let masters = try transaction.queryValue(
                From<Person>().select(Int.self, .count(\.$name)))
            #expect(masters == 1)
        }
    }

    @Test func `a fetch without pending changes finds what the preceding commit changed`() throws {
        try runBesideUnwritten { transaction, dog in
            dog.age = 9
            let found = try transaction.fetchCount(
                From<Dog>().where(\.$age == 7).tweak { $0.includesPendingChanges = false })
            #expect(found == 1)
        }
    }

    @Test func `refreshing an object keeps the values of the preceding commit`() throws {
        try runBesideUnwritten { transaction, dog in
            dog.age = 9
            dog.master = nil
            // Flushes the change, so that it must be overwritten.
            let found = try transaction.fetchCount(From<Dog>().where(\.$age == 9))
            #expect(found == 1)
            dog.refreshAsFault()
            #expect(dog.age == 7)
            #expect(dog.master != nil)
        }
    }

    @Test func `an object has changed if it differs from the preceding commit`() throws {
        try runBesideUnwritten { transaction, dog in
            dog.age = 3
            #expect(transaction.objectHasPersistentChangedValues(dog))
            dog.age = 7
            #expect(!transaction.objectHasPersistentChangedValues(dog))
        }
    }
}
