import Foundation
import PageStore
import Testing

/// Chapter 11 of the specification walks through a sample: its bytes are the sample's, and its
/// hashes come out.
@Suite struct WalkTests {
    private struct Walk {
        let title: String
        let rows: [[String]]
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "spec")
    private static let sample = folder.appending(path: "samples/cities-v1.trellis")

    private static func walks() throws -> [Walk] {
        let text = try String(contentsOf: folder.appending(path: "11-walk.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { lines[$0].hasPrefix("Walk: ") }.map { start in
            let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.dropFirst(2)
            return Walk(
                title: String(lines[start].dropFirst("Walk: ".count)),
                rows: rows.map { row in
                    row.split(separator: "|", omittingEmptySubsequences: false)
                        .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
                })
        }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        digits.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    /// The node of the map, whose address the second superblock holds.
    private static func mapNode(_ file: [UInt8]) throws -> [UInt8] {
        try file.withView { file throws(StoreError) in
            let slot = file.slice(from: SuperblockLayout.size, count: SuperblockLayout.size)
            let superblock = try Superblock.decode(slot, slot: 1)
            let address = superblock.mapRoot
            let start = Int(address.unit) * superblock.unitSizeInBytes
            let count = address.unitCount * superblock.unitSizeInBytes
            let image = try ExtentCodec.decode(
                file.slice(from: start, count: count), address: address, id: 0, kind: .map,
                unitSizeInBytes: superblock.unitSizeInBytes, uuid: superblock.uuid)
            return image.view.array()
        }
    }

    @Test func `every row of the specification's walk equals the bytes of the sample`() throws {
        let file = try Array(Data(contentsOf: Self.sample))
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: Self.sample.path, options: options)
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        var rowCount = 0
        for walk in try Self.walks() where walk.title != "hashes" {
            let source: [UInt8]
            switch walk.title {
            case "file": source = file
            case "map node": source = try Self.mapNode(file)
            default:
                let id = try #require(UInt64(walk.title.dropFirst("page ".count)))
                source = try snapshot.page(PageID(id)).view.array()
            }
            for row in walk.rows {
                let start = try #require(Int(row[0]))
                let expected = Self.bytes(row[1])
                try #require(!expected.isEmpty && start + expected.count <= source.count)
                #expect(
                    Array(source[start..<(start + expected.count)]) == expected,
                    "\(walk.title): \(row)")
                rowCount += 1
            }
        }
        #expect(rowCount > 70)
    }

    @Test func `the hashes of the specification's walk are those of the sample`() throws {
        let file = try Array(Data(contentsOf: Self.sample))
        let uuid = file[(SuperblockLayout.size + SuperblockLayout.uuid)...].prefix(16)
        let walk = try #require(try Self.walks().first { $0.title == "hashes" })
        #expect(walk.rows.count == 4)
        for row in walk.rows {
            let words = row[0].dropFirst(2).dropLast().split(separator: ", ")
            var bytes: [UInt8] = []
            if row[0].hasPrefix("S(") {
                // The UUID and three numbers; the salts are hexadecimal.
                bytes += uuid
                for index in 0..<3 {
                    let word = index < words.count ? words[index] : "0"
                    let number = try #require(UInt64(word, radix: index == 0 ? 10 : 16))
                    bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                }
            }
            let hash = bytes.withView { Checksum.hash($0, seed: 0) }
            #expect(UInt64(row[1], radix: 16) == hash, "\(row)")
        }
    }
}
