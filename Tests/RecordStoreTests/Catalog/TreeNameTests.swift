import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Names of trees are bytes: a letter may combine with the slash before it.
@Suite struct TreeNameTests {
    private static let accent = "\u{301}"

    /// Names that begin with a combining mark, which is one character with the slash before it.
    private static func schema(isIndexed: Bool) -> SchemaDescription {
        SchemaDescription([
            EntityDescription(
                accent + "Thing", required: [accent + "size": .int64, accent + "code": .int64],
                relationships: [.toManyUnordered(accent + "others", to: accent + "Thing")],
                indexes: isIndexed ? [[accent + "size"]] : [],
                uniqueConstraints: isIndexed ? [[accent + "code"]] : [])
        ])
    }

    private static func names(_ isIndexed: Bool) -> [String] {
        let thing = accent + "Thing"
        return ["links/\(thing)/\(accent)others", "records/\(thing)"]
            + (isIndexed ? ["index/\(thing)/\(accent)size", "unique/\(thing)/\(accent)code"] : [])
    }

    /// Bugs: such an index was none, so that a file without it could not be opened, and the names
    /// that the catalog was asked for had lost their first letter.
    @Test func `indexes of names that begin with a combining mark are built and dropped`() throws {
        let files = MemoryFileSystem()
        for isIndexed in [true, false, true] {
            let database = try RecordDatabase.open(
                .file("store"), schema: Self.schema(isIndexed: isIndexed), files: files)
            let thing = try #require(database.schema.entity(named: Self.accent + "Thing"))
            let transaction = try database.beginWrite()
            let number = try transaction.allocateNumber(in: thing.hierarchy)
            var row = thing.emptyRow()
            defer { row.deallocate() }
            for name in ["size", "code"] {
                let field = try #require(thing.field(named: Self.accent + name))
                row.setValue(.int(Int64(number.rawValue)), field)
            }
            var batch = RecordBatch()
            batch.insert(thing, number, row: row)
            try transaction.apply(batch)
            _ = try transaction.commit()
            #expect(try database.snapshot().check().isEmpty)
            try database.close()
            var options = Engine.Options()
            options.mode = .reading
            let engine = try Engine.open(path: "store", options: options, files: files)
            defer { try? engine.close() }
            let trees = try #require(try CatalogView(try engine.snapshot())).trees().map(\.name)
            for name in Self.names(isIndexed) {
                #expect(trees.contains { $0.utf8.elementsEqual(name.utf8) }, "\(name)")
            }
            #expect(trees.count == Self.names(isIndexed).count + 2)
        }
    }
}
