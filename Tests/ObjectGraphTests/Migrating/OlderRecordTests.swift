import Foundation
import ObjectGraph
import TestSupport
import Testing

/// Scans of records that are older than some properties, beside newer ones.
@Suite struct OlderRecordTests {
    enum V1 {
        class Note: CoreStoreObject {
            @Field.Stored("title") var title: String = ""
            @Field.Stored("size") var size: Int?
        }
        final class Book: Note {
            @Field.Stored("pages") var pages: Int = 0
        }
    }

    enum V2 {
        class Note: CoreStoreObject {
            @Field.Stored("title") var title: String = ""
            @Field.Stored("size") var size: Int?
            @Field.Stored("label") var label: String = "Label North"
            @Field.Stored("hint") var hint: String?
            @Field.Stored("weight") var weight: Int = 7
        }
        final class Book: Note {
            @Field.Stored("pages") var pages: Int = 0
            @Field.Stored("shelf") var shelf: String = "Upper shelf"
        }
    }

    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("older-\(UUID().uuidString).trellis")
    private let queue = DispatchQueue(label: "view")

    private func stack(_ version: String, _ entities: [DynamicEntity]) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: version, entities: entities),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    private static let texts = ["Abbey", "cabin", "", "ab", "North", "Zoë ab", "south"]

    private func text(_ random: inout SeededRandom) -> String {
        Self.texts[random.below(Self.texts.count)] + Self.texts[random.below(Self.texts.count)]
    }

    private func fillFirst(_ random: inout SeededRandom) throws {
        let stack = try stack("V1", [Entity<V1.Note>("Note"), Entity<V1.Book>("Book")])
        try stack.perform(synchronous: { transaction in
            for number in 0..<400 {
                let isBook = random.below(2) == 0
                let note =
                    isBook
                    ? transaction.create(Into<V1.Book>()) : transaction.create(Into<V1.Note>())
                note.title = text(&random)
                note.size = number % 5 == 0 ? nil : random.below(20)
                (note as? V1.Book)?.pages = random.below(9)
            }
        })
        try stack.close()
    }

    @Test func `conditions find older records and newer ones alike`() throws {
        var random = SeededRandom(for: "OlderRecordTests")
        try fillFirst(&random)
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack("V2", [Entity<V2.Note>("Note"), Entity<V2.Book>("Book")])
        try stack.perform(synchronous: { transaction in
            for note in try transaction.fetchAll(From<V2.Note>()) where random.below(4) == 0 {
                (note.hint, note.label) = (text(&random), text(&random))
            }
            for _ in 0..<100 {
                let book = transaction.create(Into<V2.Book>())
                (book.title, book.size) = (text(&random), random.below(20))
                (book.label, book.shelf) = (text(&random), text(&random))
            }
        })
        try queue.sync {
            let notes = try stack.fetchAll(From<V2.Note>())
            let conditions: [(Where<V2.Note>, (V2.Note) -> Bool)] = [
                (
                    \.$size > 5 && Where<V2.Note>("title CONTAINS[c] %@", "ab"),
                    { $0.size ?? 0 > 5 && $0.title.lowercased().contains("ab") }
                ),
                (
                    \.$weight == 7 && Where<V2.Note>("label CONTAINS[c] %@", "north"),
                    { $0.label.lowercased().contains("north") }
                ),
                (
                    Where<V2.Note>("hint CONTAINS[c] %@", "ab"),
                    { $0.hint?.lowercased().contains("ab") == true }
                ),
                (\.$size == nil, { $0.size == nil }),
                (\.$weight > 6 && \.$size < 3, { $0.size.map { $0 < 3 } == true }),
            ]
            for (number, (condition, isFound)) in conditions.enumerated() {
                let found = try stack.fetchCount(From<V2.Note>().where(condition))
                let expected = notes.filter(isFound).count
                #expect(found == expected, "condition \(number), seed \(random.seed)")
                #expect(expected > 0)
            }
            let books = notes.compactMap { $0 as? V2.Book }
            let onShelf = try stack.fetchCount(
                From<V2.Book>().where(Where<V2.Book>("shelf CONTAINS[c] %@", "upper")))
            #expect(onShelf == books.filter { $0.shelf == "Upper shelf" }.count)
            let titled = try stack.fetchCount(
                From<V2.Book>().where(Where<V2.Book>("title CONTAINS[c] %@", "ab")))
            #expect(titled == books.filter { $0.title.lowercased().contains("ab") }.count)
        }
        try stack.close()
    }
}
