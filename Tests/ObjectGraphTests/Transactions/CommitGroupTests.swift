import TestSupport
import Testing

@testable import ObjectGraph

/// Transactions whose commits become durable by one write are announced to the view one after the
/// other.
@Suite(.timeLimit(.minutes(hangMinutes))) struct CommitGroupTests {
    /// A bug: the view was moved to the newest commit of the group but was given only the first
    /// one's changes, so it showed rows that were not announced.
    @Test func `the view shows each commit of a group only when it is announced`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.age = 1
            return dog.objectID()
        })
        func shown() throws -> [Int?] {
            try queue.sync {
                let dog: Dog? = stack.fetchExisting(id)
                return [dog?.age, try stack.fetchCount(From<Dog>())]
            }
        }
        #expect(try shown() == [1, 1])
        func stage(age: Int) throws -> StagedTransaction {
            let context = TransactionContext(of: stack)
            let transaction = SynchronousDataTransaction(
                stack: stack, context: context, sourceIdentifier: nil)
            let (_, staged, _) = try stack.stage(transaction, context, nil) { transaction in
                let dog: Dog? = transaction.fetchExisting(id)
                dog?.age = age
                transaction.create(Into<Dog>()).age = 90 + age
            }
            return try #require(staged)
        }
        let (first, second) = (try stage(age: 2), try stage(age: 3))
        try first.finish()
        #expect(try shown() == [2, 2])
        // The first one's write took the second along, and a checkpoint has stored both.
        try stack.stores[0].database.checkpoint()
        #expect(try shown() == [2, 2])
        try second.finish()
        #expect(try shown() == [3, 3])
    }
}
