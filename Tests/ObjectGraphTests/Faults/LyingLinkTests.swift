import ObjectGraph
import PageStore
import Testing

@testable import RecordStore

private class Coin: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Relationship("owner") var owner: Purse?
}

private final class GoldCoin: Coin {
    @Field.Stored("weight") var weight: Int = 0
    @Field.Relationship("purse") var purse: Purse?
}

private final class Purse: CoreStoreObject {
    @Field.Relationship("gold", inverse: \.$purse, deleteRule: .cascade) var gold: Set<GoldCoin>
    @Field.Relationship("owned", inverse: \.$owner, deleteRule: .cascade) var owned: Set<Coin>
}

/// Links that lead to no record, or to one of another entity, in a file whose hashes are right.
@Suite struct LyingLinkTests {
    private func stack(_ url: URL) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Coin>("Coin"), Entity<GoldCoin>("GoldCoin"), Entity<Purse>("Purse"),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    /// Creates a purse with one gold coin and another coin, adds a link to `gold`, and passes the
    /// store and the purse to the body.
    private func withLie(
        to number: UInt64, ownsBoth: Bool = false,
        _ body: (DataStack, NSManagedObjectID) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("lie-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let made = try stack(url)
        try made.perform(synchronous: { transaction in
            let coin = transaction.create(Into<Coin>())
            let gold = transaction.create(Into<GoldCoin>())
            gold.label = 2
            gold.purse = transaction.create(Into<Purse>())
            if ownsBoth { coin.owner = gold.purse }
        })
        made.unsafeRemoveAllPersistentStoresAndWait()

        try editTrees(of: url) { transaction, catalog in
            let tree = try #require(try catalog.tree("links/GoldCoin/purse", of: transaction))
            var key: [UInt8] = []
            for part in [1, number] as [UInt64] {
                key += (0..<8).map { UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * $0)) }
            }
            _ = try transaction.insert(key.span, [UInt8]().span, into: tree)
        }
        let again = try stack(url)
        let purse = try again.perform(synchronous: { transaction in
            try #require(try transaction.fetchOne(From<Purse>())).objectID()
        })
        try body(again, purse)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test(arguments: [false, true])
    func `a link to a record of another entity is reported as corrupt`(
        _ ownsBoth: Bool
    ) throws {
        try withLie(to: 1, ownsBoth: ownsBoth) { stack, purse in
            let error = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { $0.delete(objectIDs: [purse]) })
            }
            #expect(error?.storeError?.code == .corrupt)
            let left = try stack.perform(synchronous: { try $0.fetchCount(From<Coin>()) })
            #expect(left == 2)
        }
    }

    @Test(arguments: [3, 1 << 62, 1 << 63, .max] as [UInt64])
    func `a cascade to a missing record ends and deletes the others`(
        _ number: UInt64
    ) throws {
        try withLie(to: number) { stack, purse in
            do {
                try stack.perform(synchronous: { $0.delete(objectIDs: [purse]) })
                let left = try stack.perform(synchronous: { try $0.fetchCount(From<Coin>()) })
                #expect(left == 1)
            } catch let error as CoreStoreError {
                #expect(error.storeError?.code == .corrupt)
            }
        }
    }
}
