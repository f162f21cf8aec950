import PageStore
import TestSupport
import Testing

@testable import RecordStore

/// Order keys of an ordered relationship close to the largest number.
@Suite struct OrderKeyEndTests {
    private static let schema = SchemaDescription(
        modelVersion: "V1",
        entities: [
            EntityDescription(
                name: "Album", className: "Album",
                relationships: [
                    RelationshipDescription(
                        name: "pictures", destinationEntityName: "Picture", kind: .toManyOrdered)
                ]),
            EntityDescription(name: "Picture", className: "Picture"),
        ])

    private static let gap: UInt64 = 1 << 32

    enum Change: CaseIterable {
        case add, append, appendMany, moveFirstToEnd, insertBeforeLast
    }

    /// An album of three pictures with these order keys, beside nine pictures without an album.
    private func files(_ keys: [UInt64]) throws -> FaultyFileSystem {
        let files = FaultyFileSystem()
        let database = try RecordDatabase.open(.file("store"), schema: Self.schema, files: files)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for (name, count) in [("Album", 1), ("Picture", 12)] {
            let entity = try #require(database.schema.entity(named: name))
            for _ in 0..<count {
                let row = entity.emptyRow()
                defer { row.deallocate() }
                batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
            }
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        let engine = try Engine.open(path: "store", files: files)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        let tree = try #require(try catalog.tree("links/Album/pictures", of: editor))
        for (index, key) in keys.enumerated() {
            let target = RecordKey.bytes(ObjectNumber(UInt64(index + 1)))
            _ = try editor.insert(RecordKey.bytes(1, key).span, target.span, into: tree)
        }
        _ = try editor.commit()
        try engine.close()
        return files
    }

    @Test(
        arguments: [
            [.max - 2, .max - 1, .max], [1, 2, .max], [1, .max - gap - 1, .max - gap],
            [1, .max - 2 * gap, .max - gap + 1],
        ] as [[UInt64]], Change.allCases)
    func `a list whose order keys are used up is numbered anew`(
        _ keys: [UInt64], _ change: Change
    ) throws {
        let files = try files(keys)
        let database = try RecordDatabase.open(.file("store"), schema: Self.schema, files: files)
        let album = try #require(database.schema.entity(named: "Album"))
        let list = album.relationships[0]
        let owner = ObjectNumber(1)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        let expected: [UInt64]
        switch change {
        case .add:
            expected = [1, 2, 3, 4, 5]
            batch.addLink(list, owner: owner, target: ObjectNumber(4))
            batch.addLink(list, owner: owner, target: ObjectNumber(5))
        case .append: expected = [1, 2, 3, 4]
        case .appendMany: expected = Array(1...12)
        case .moveFirstToEnd: expected = [2, 3, 1]
        case .insertBeforeLast: expected = [1, 2, 9, 3]
        }
        if change != .add {
            batch.setLinks(list, owner: owner, expected.map { ObjectNumber($0) })
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        let snapshot = try database.snapshot()
        #expect(try snapshot.linkedNumbers(list, of: owner).map(\.rawValue) == expected)
        #expect(snapshot.check() == [])
        try database.close()
        let reader = try RecordDatabase.openReadOnly(path: "store", files: files.powerCut())
        let known = try #require(reader.schema.entity(named: "Album")).relationships[0]
        let found = try reader.snapshot().linkedNumbers(known, of: owner).map(\.rawValue)
        #expect(found == expected)
        try reader.close()
    }
}
