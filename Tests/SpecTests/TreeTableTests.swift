import Foundation
import PageStore
import Testing

/// Chapter 4 of the specification and the constants say the same.
@Suite struct TreeTableTests {
    /// Offset and size of each row of a table, by name.
    private func table(_ title: String) throws -> [String: (offset: Int, size: Int?)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "spec/04-tree.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "Table: \(title)"))
        var rows: [String: (offset: Int, size: Int?)] = [:]
        for line in lines[(start + 1)...].drop(while: { $0.isEmpty }).prefix(while: { !$0.isEmpty })
        {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count > 4, let offset = Int(cells[1]) else { continue }
            rows[cells[3]] = (offset, Int(cells[2]))
        }
        return rows
    }

    private func compare(_ title: String, _ constants: [(String, Int)], end: Int?) throws {
        let rows = try table(title)
        #expect(Set(rows.keys) == Set(constants.map(\.0)))
        for (name, offset) in constants { #expect(rows[name]?.offset == offset, "\(name)") }
        // No gap and no overlap between the rows.
        let sorted = rows.values.sorted { $0.offset < $1.offset }
        for (row, next) in zip(sorted, sorted.dropFirst()) {
            #expect(row.offset + (row.size ?? 0) == next.offset)
        }
        if let end, let last = sorted.last { #expect(last.offset + (last.size ?? 0) == end) }
    }

    @Test func `the node header matches the specification's table`() throws {
        try compare(
            "node header",
            [
                ("kind", NodeLayout.kind), ("level", NodeLayout.level),
                ("slotCount", NodeLayout.slotCount), ("prefixSize", NodeLayout.prefixSize),
                ("lowerFenceSize", NodeLayout.lowerFenceSize),
                ("upperFenceSize", NodeLayout.upperFenceSize),
                ("heapSize", NodeLayout.heapSize), ("garbageSize", NodeLayout.garbageSize),
                ("zero", NodeLayout.zero), ("firstChild", NodeLayout.firstChild),
                ("fences", NodeLayout.fences),
            ], end: nil)
    }

    @Test func `slots and cells match the specification's tables`() throws {
        try compare(
            "slot",
            [
                ("slotHead", NodeLayout.slotHead), ("slotCell", NodeLayout.slotCell),
                ("slotKeySize", NodeLayout.slotKeySize),
            ], end: NodeLayout.slotSize)
        try compare(
            "cell",
            [("cellValueSize", NodeLayout.cellValueSize), ("cellKey", NodeLayout.cellKey)],
            end: nil)
    }

    @Test func `the header of a blob's page matches the specification's table`() throws {
        try compare(
            "blob page header",
            [
                ("kind", BlobLayout.kind), ("flags", BlobLayout.flags),
                ("zero", BlobLayout.zero), ("payloadSize", BlobLayout.payloadSize),
                ("next", BlobLayout.next), ("payload", BlobLayout.payload),
            ], end: nil)
    }
}
