import PageStore
import RecordStore
import SampleSchemas
import Testing

/// Links without an inverse when their target is deleted.
@Suite struct DanglingLinkTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Album",
            relationships: [
                .toManyOrdered("pictures", to: "Picture"),
                .toManyUnordered("favourites", to: "Picture"),
            ]),
        EntityDescription("Picture"),
    ])

    @Test func `a deleted record leaves every list that has it`() throws {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        defer { try? database.close() }
        let album = try #require(database.schema.entity(named: "Album"))
        let picture = try #require(database.schema.entity(named: "Picture"))
        let lists = album.relationships
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        func insert(_ entity: EntityLayout) throws -> ObjectNumber {
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            let row = entity.emptyRow()
            defer { row.deallocate() }
            batch.insert(entity, number, row: row)
            return number
        }
        let albums = try (0..<3).map { _ in try insert(album) }
        let pictures = try (0..<9).map { _ in try insert(picture) }
        for owner in albums {
            for list in lists {
                batch.setLinks(list, owner: owner, pictures.reversed())
            }
        }
        try transaction.apply(batch)
        var deletions = RecordBatch()
        for number in [pictures[0], pictures[4], pictures[8]] {
            deletions.delete(number, in: picture.hierarchy)
        }
        try transaction.apply(deletions)
        _ = try transaction.commit()

        let snapshot = try database.snapshot()
        #expect(snapshot.check().isEmpty)
        let rest = pictures.enumerated().filter { $0.offset % 4 != 0 }.map(\.element)
        for owner in albums {
            for list in lists {
                let linked = try snapshot.linkedNumbers(list, of: owner)
                #expect(linked == (list.kind == .toManyOrdered ? rest.reversed() : rest))
            }
        }
    }
}
