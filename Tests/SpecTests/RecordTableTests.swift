import Foundation
import RecordStore
import Testing

/// Chapters 5 and 6 of the specification and the program say the same.
@Suite struct RecordTableTests {
    /// The cells of a table's rows, without its heading.
    private func table(_ title: String, in chapter: String) throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "spec/\(chapter)"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "Table: \(title)"))
        return lines[(start + 1)...].drop { $0.isEmpty }.prefix { !$0.isEmpty }
            .dropFirst(2).map { line in
                line.split(separator: "|", omittingEmptySubsequences: false)
                    .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    @Test func `the record header matches the specification's table`() throws {
        let constants = [
            ("entityTag", RowLayout.entityTag), ("layoutVersion", RowLayout.layoutVersion),
            ("slotCount", RowLayout.slotCount), ("flags", RowLayout.flags),
        ]
        let rows = try table("record header", in: "05-records.md")
        #expect(rows.map { $0[2] } == constants.map(\.0))
        #expect(rows.map { Int($0[0]) } == constants.map(\.1))
        #expect(rows.compactMap { Int($0[1]) }.reduce(0, +) == RowLayout.headerSize)
    }

    @Test func `the state of a migration matches the specification's table`() throws {
        let constants = [
            ("form", MigrationStateLayout.form), ("phase", MigrationStateLayout.phase),
            ("passCount", MigrationStateLayout.passCount),
            ("commitNumber", MigrationStateLayout.commitNumber),
            ("plan", MigrationStateLayout.plan), ("program", MigrationStateLayout.program),
            ("doneCount", MigrationStateLayout.doneCount),
            ("positionSize", MigrationStateLayout.positionSize),
        ]
        let rows = try table("migration", in: "07-catalog.md")
        #expect(rows.map { $0[2] } == constants.map(\.0))
        #expect(rows.map { Int($0[0]) } == constants.map(\.1))
        let size = rows.compactMap { Int($0[1]) }.reduce(0, +)
        #expect(size == MigrationStateLayout.position)
    }

    @Test func `the history of models matches the specification's table`() throws {
        let constants = [
            ("fingerprint", ModelHistoryLayout.fingerprint),
            ("commitNumber", ModelHistoryLayout.commitNumber),
            ("time", ModelHistoryLayout.time), ("nameSize", ModelHistoryLayout.nameSize),
        ]
        let rows = try table("history", in: "07-catalog.md")
        #expect(rows.map { $0[2] } == constants.map(\.0))
        #expect(rows.map { Int($0[0]) } == constants.map(\.1))
        #expect(rows.compactMap { Int($0[1]) }.reduce(0, +) == ModelHistoryLayout.name)
    }

    @Test func `a move matches the specification's table`() throws {
        let constants = [
            ("generation", MoveLayout.generation), ("earlierNameSize", MoveLayout.earlierNameSize),
            ("laterNameSize", MoveLayout.laterNameSize), ("offset", MoveLayout.offset),
        ]
        let rows = try table("move", in: "07-catalog.md")
        #expect(rows.map { $0[2] } == constants.map(\.0))
        #expect(rows.map { Int($0[0]) } == constants.map(\.1))
        #expect(rows.compactMap { Int($0[1]) }.reduce(0, +) == MoveLayout.earlierName)
    }

    @Test func `attribute types match the specification's table`() throws {
        let rows = try table("attribute types", in: "05-records.md")
        #expect(rows.map { Int($0[0]) } == AttributeType.allCases.map { Int($0.rawValue) })
        #expect(rows.map { $0[1] } == AttributeType.allCases.map(\.name))
        #expect(
            rows.map { $0[2] } == AttributeType.allCases.map { $0.isVariable ? "heap" : "slot" })
    }

    @Test(arguments: [(0, 2), (63, 65), (64, 67), (127, 130), (128, 132)])
    func `a slot is at the offset that the formula gives`(slot: Int, word: Int) {
        #expect(RowLayout.byteOffset(slot: slot) == word * 8)
        #expect(2 + slot + slot / 64 == word)
        #expect(RowLayout.fixedSize(slotCount: slot + 1) == (word + 1) * 8)
    }

    @Test func `keys match the specification's examples`() throws {
        let rows = try table("key examples", in: "06-keys.md")
        #expect(rows.count == 20)
        for row in rows {
            var key = KeyEncoder(columnSizeMax: 100)
            try append(row[1], as: row[0], to: &key)
            #expect(key.bytes == bytes(row[2]), "\(row)")
        }
    }

    @Test func `whole keys match the specification's examples`() throws {
        let rows = try table("whole keys", in: "06-keys.md")
        #expect(rows.count == 2)
        for row in rows {
            var key = KeyEncoder(columnSizeMax: row[0].hasSuffix("at most 8 bytes") ? 8 : 100)
            let types = row[0].components(separatedBy: ", ").filter { !$0.hasPrefix("at most") }
            for (type, value) in zip(types, row[1].components(separatedBy: ", ")) {
                try append(value, as: type, to: &key)
            }
            key.append(ObjectNumber(3))
            #expect(key.bytes == bytes(row[2]), "\(row)")
        }
    }

    private func bytes(_ digits: String) -> [UInt8] {
        digits.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    /// Appends a column that an example spells.
    private func append(_ text: String, as name: String, to key: inout KeyEncoder) throws {
        let isEncoded: Bool
        if name == "link" {
            let target = ObjectNumber(try #require(UInt64(text)))
            isEncoded = key.append(.object(target), as: .link(relationshipID: 0))
        } else {
            let type = try #require(AttributeType(name: name))
            let value: Value =
                switch type {
                case _ where text == "nil": .null
                case .int64: .int(try #require(Int64(text)))
                case .double: .double(try #require(Double(text)))
                case .date: .date(try #require(Double(text)))
                case .decimal: .decimal(try #require(Decimal(string: text)))
                case .uuid: .uuid(try #require(UUID(uuidString: text)))
                case .data: .data(bytes(text))
                default: .string(text)
                }
            isEncoded = key.append(value, as: .attribute(type))
        }
        #expect(isEncoded)
    }
}
