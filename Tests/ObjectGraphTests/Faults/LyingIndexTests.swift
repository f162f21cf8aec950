import ObjectGraph
import PageStore
import Testing

@testable import RecordStore

private class Stone: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
}

private final class Gem: Stone {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("weight") var weight: Int = 0
}

/// Entries of indexes that name another record than their own, in a file whose hashes are right.
@Suite struct LyingIndexTests {
    private func stack(_ url: URL) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Stone>("Stone", indexes: [[\.$label]]),
                    Entity<Gem>("Gem", indexes: [[\.$weight]]),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    /// Creates a stone, 1, and a gem, 2; the gem's entry in an index then names another number.
    private func withLie(
        in index: String, to number: UInt8, _ body: (DataStack) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("lie-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let made = try stack(url)
        try made.perform(synchronous: { transaction in
            transaction.create(Into<Stone>()).label = 1
            let gem = transaction.create(Into<Gem>())
            (gem.label, gem.weight) = (2, 5)
        })
        try made.close()
        try editTrees(of: url) { transaction, catalog in
            let tree = try #require(try catalog.tree(index, of: transaction))
            let cursor = Cursor(transaction, tree: tree)
            #expect(try cursor.seekLast())
            var key = (0..<cursor.key.count).map { cursor.key[$0] }
            #expect(key.last == 2)
            _ = try transaction.remove(key.span, from: tree)
            key[key.count - 1] = number
            _ = try transaction.insert(key.span, [UInt8]().span, into: tree)
            guard number == 0 else { return }
            let records = try #require(try catalog.tree("records/Stone", of: transaction))
            let gem = Cursor(transaction, tree: records)
            #expect(try gem.seekLast())
            let row = try gem.value()
            let copy = (0..<row.count).map { row[$0] }
            let zero = [UInt8](repeating: 0, count: 8)
            _ = try transaction.insert(zero.span, copy.span, into: records)
        }
        let again = try stack(url)
        try body(again)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test(arguments: [false, true])
    func `an entry that names a record of the superentity ended the process`(
        isHeld: Bool
    ) throws {
        try withLie(in: "index/Gem/weight", to: 1) { stack in
            let error = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { transaction in
                    let held = isHeld ? try transaction.fetchAll(From<Stone>()) : []
                    try withExtendedLifetime(held) {
                        _ = try transaction.update(
                            From<Gem>().where(\.$weight == 5), set: .value(\.$weight, 6))
                    }
                })
            }
            #expect(error?.storeError?.code == .corrupt)
        }
    }

    @Test func `such an entry ended the process in an unsafe transaction`() throws {
        try withLie(in: "index/Gem/weight", to: 1) { stack in
            let form = stack.beginUnsafe()
            let error = #expect(throws: CoreStoreError.self) {
                try form.update(From<Gem>().where(\.$weight == 5), set: .value(\.$weight, 6))
            }
            #expect(error?.storeError?.code == .corrupt)
        }
    }

    @Test func `an entry that names the number 0 ended the process`() throws {
        try withLie(in: "index/Stone/label", to: 0) { stack in
            let error = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { transaction in
                    _ = try transaction.deleteAll(From<Stone>().where(\.$label == 2))
                })
            }
            #expect(error?.storeError?.code == .corrupt)
        }
    }
}
