import ObjectGraph
import Testing

/// A store that is opened for reading has the indexes of its file, whatever the model declares.
@Suite struct ReadOnlyIndexTests {
    final class Pot: CoreStoreObject {
        @Field.Stored("label") var label: String = ""
        @Field.Stored("size") var size: Int = 0
        @Field.Stored("colour") var colour: String = ""
    }

    private let queue = DispatchQueue(label: "view")

    private func stack(
        _ url: URL, _ entity: DynamicEntity, isReadOnly: Bool
    ) throws -> DataStack {
        var options = EngineOptions()
        options.isReadOnly = isReadOnly
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [entity]), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        return stack
    }

    private func withStore(_ body: (URL) throws -> Void) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(
            url,
            Entity<Pot>("Pot", indexes: [[\.$label]], uniqueConstraints: [[\.$colour, \.$size]]),
            isReadOnly: false)
        try stack.perform(synchronous: { transaction in
            for n in 0..<20 {
                let pot = transaction.create(Into<Pot>())
                (pot.label, pot.size, pot.colour) = ("l\(n % 5)", n, "c\(n % 2)")
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
        try body(url)
    }

    private let label = From<Pot>().where(\.$label == "l1")
    private let size = From<Pot>().where(\.$size == 7)

    @Test func `a read-only store was refused when the model declares other indexes`() throws {
        try withStore { url in
            let before = try Data(contentsOf: url)
            let stack = try stack(
                url, Entity<Pot>("Pot", indexes: [[\.$size]], uniqueConstraints: [[\.$label]]),
                isReadOnly: true)
            try queue.sync { () throws in
                #expect(try stack.fetchAll(label).map(\.size).sorted() == [1, 6, 11, 16])
                #expect(try stack.fetchOne(size)?.label == "l2")
                #expect(try stack.fetchCount(From<Pot>()) == 20)
                // The file has an index on label, and none on size.
                #expect(try stack.explain(label).contains("the index on label"))
                #expect(try stack.explain(size).contains("scan"))
            }
            stack.unsafeRemoveAllPersistentStoresAndWait()
            #expect(try Data(contentsOf: url) == before)
        }
    }

    @Test func `a model without indexes reads by those of the file`() throws {
        try withStore { url in
            let stack = try stack(url, Entity<Pot>("Pot"), isReadOnly: true)
            try queue.sync { () throws in
                #expect(try stack.explain(label).contains("the index on label"))
                #expect(try stack.fetchCount(label) == 4)
            }
        }
    }

    @Test func `a reader sees the indexes that a later writer has built`() throws {
        try withStore { url in
            let reader = try stack(url, Entity<Pot>("Pot", indexes: [[\.$size]]), isReadOnly: true)
            _ = try queue.sync { try reader.fetchCount(From<Pot>()) }
            let writer = try stack(
                url, Entity<Pot>("Pot", indexes: [[\.$size]]), isReadOnly: false)
            try queue.sync { () throws in
                #expect(try writer.explain(size).contains("the index on size"))
            }
            writer.unsafeRemoveAllPersistentStoresAndWait()
            let next = try stack(url, Entity<Pot>("Pot"), isReadOnly: true)
            try queue.sync { () throws in
                #expect(try next.explain(size).contains("the index on size"))
                #expect(try next.explain(label).contains("scan"))
                #expect(try next.fetchCount(label) == 4)
            }
        }
    }
}
