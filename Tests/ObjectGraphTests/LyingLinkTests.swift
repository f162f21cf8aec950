import ObjectGraph
import PageStore
import Testing

@testable import RecordStore

private class Card: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Relationship("box") var box: Box?
}

private final class LongCard: Card {
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("crate") var crate: Crate?
}

private final class Box: CoreStoreObject {
    @Field.Relationship("cards", inverse: \.$box) var cards: Set<Card>
}

private final class Crate: CoreStoreObject {
    @Field.Relationship("cards", inverse: \.$crate, deleteRule: .cascade)
    var cards: Set<LongCard>
}

/// Links that lead to no record, or to one of another entity, in a file whose hashes are right.
@Suite struct LyingLinkTests {
    private func stack(_ url: URL) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Card>("Card"), Entity<LongCard>("LongCard"), Entity<Box>("Box"),
                    Entity<Crate>("Crate"),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    /// Makes a crate with one long card beside a card, adds a link of the crate's, and lends the
    /// store with the crate.
    private func withLie(
        to number: UInt64, _ body: (DataStack, NSManagedObjectID) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("lie-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let made = try stack(url)
        try made.perform(synchronous: { transaction in
            transaction.create(Into<Card>()).label = 1
            let long = transaction.create(Into<LongCard>())
            long.label = 2
            long.crate = transaction.create(Into<Crate>())
        })
        made.unsafeRemoveAllPersistentStoresAndWait()

        let engine = try Engine.open(path: url.path)
        let transaction = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(transaction))
        let tree = try #require(try catalog.tree("links/LongCard/crate", of: transaction))
        var key: [UInt8] = []
        for part in [1, number] as [UInt64] {
            key += (0..<8).map { UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * $0)) }
        }
        _ = try transaction.insert(key.span, [UInt8]().span, into: tree)
        _ = try transaction.commit()
        try engine.close()

        let again = try stack(url)
        let crate = try again.perform(synchronous: { transaction in
            try #require(try transaction.fetchOne(From<Crate>())).objectID()
        })
        try body(again, crate)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a record of another entity is not read as one of the link's`() throws {
        try withLie(to: 1) { stack, crate in
            let error = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { $0.delete(objectIDs: [crate]) })
            }
            #expect(error?.storeError?.code == .corrupt)
            let left = try stack.perform(synchronous: { try $0.fetchCount(From<Card>()) })
            #expect(left == 2)
        }
    }

    @Test(arguments: [3, 1 << 62, 1 << 63, .max] as [UInt64])
    func `a cascade to a number that no record has ends, and takes the others`(
        _ number: UInt64
    ) throws {
        try withLie(to: number) { stack, crate in
            do {
                try stack.perform(synchronous: { $0.delete(objectIDs: [crate]) })
                let left = try stack.perform(synchronous: { try $0.fetchCount(From<Card>()) })
                #expect(left == 1)
            } catch let error as CoreStoreError {
                #expect(error.storeError?.code == .corrupt)
            }
        }
    }
}
