import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// A small store in a file of its own, gone when the test is.
final class SampleStore {
    let path: String

    static let schema = SchemaDescription([
        EntityDescription(
            "Author", required: ["name": .string],
            optional: ["fee": .decimal, "born": .date, "portrait": .data, "token": .uuid],
            relationships: [.toManyUnordered("books", to: "Book", inverse: "author")],
            indexes: [["fee"]], uniqueConstraints: [["name"]]),
        EntityDescription(
            "Book", required: ["title": .string], relationships: [.toOne("author", to: "Author")]),
    ])

    static let token = UUID()

    /// - Parameter name: that of every author; else each has one of its own.
    init(authorCount: Int = 40, name: String? = nil, portrait: [UInt8] = [0, 1, 255]) throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("sample-\(UUID().uuidString).trellis").path
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        try SampleStore.fill(database, authorCount, name: name, portrait: portrait)
        try database.close()
    }

    /// A copy whose bytes are changed before it is opened.
    init(damaging other: SampleStore, _ change: (inout Data) -> Void) throws {
        path = other.path + ".damaged-\(UUID().uuidString)"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: other.path))
        change(&bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Commits a book without an author; returns the commit's number.
    static func addBook(to database: RecordDatabase) throws -> UInt64 {
        let book = try #require(database.schema.entity(named: "Book"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        var row = book.emptyRow()
        defer { row.deallocate() }
        row.setValue(.string("late"), try #require(book.field(named: "title")))
        batch.insert(book, try transaction.allocateNumber(in: book.hierarchy), row: row)
        try transaction.apply(batch)
        return try transaction.commit()
    }

    static func fill(
        _ database: RecordDatabase, _ authorCount: Int, name: String? = nil,
        portrait: [UInt8] = [0, 1, 255]
    ) throws {
        let author = try #require(database.schema.entity(named: "Author"))
        let book = try #require(database.schema.entity(named: "Book"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for index in 1...authorCount {
            let number = try transaction.allocateNumber(in: author.hierarchy)
            var row = author.emptyRow()
            defer { row.deallocate() }
            func set(_ name: String, _ value: Value) throws {
                row.setValue(value, try #require(author.field(named: name)))
            }
            try set("name", .string(name ?? "author \(index) \"ü\""))
            try set("fee", .decimal(Decimal(index) / 10))
            try set("born", .date(0.25))
            try set("portrait", .data(portrait))
            if index == 1 { try set("token", .uuid(token)) }
            batch.insert(author, number, row: row)
            let title = try transaction.allocateNumber(in: book.hierarchy)
            var bookRow = book.emptyRow()
            defer { bookRow.deallocate() }
            bookRow.setValue(.string("title"), try #require(book.field(named: "title")))
            bookRow.setLink(number, at: try #require(book.field(named: "author")).byteOffset)
            batch.insert(book, title, row: bookRow)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
    }
}
