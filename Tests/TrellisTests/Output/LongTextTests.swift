import Foundation
import RecordStore
import TestSupport
import Testing

@testable import trellis

/// Values that are printed in pieces.
@Suite struct LongTextTests {
    @Test func `text that is cut between characters is decoded as it is as a whole`() {
        var random = SeededRandom(for: "LongTextTests")
        let parts: [[UInt8]] = [
            Array("aé€🙂\"\\".utf8), [0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x99], [0xFF],
            [0xE0, 0x80],
        ]
        for _ in 0..<2000 {
            let bytes = (0..<4).flatMap { _ in parts[random.below(parts.count)] }
            let cut = random.below(bytes.count + 1)
            let count = UTF8Text.wholeCount(Array(bytes[..<cut]))
            #expect(count <= cut && count + 3 >= cut)
            let text =
                String(decoding: bytes[..<count], as: UTF8.self)
                + String(decoding: bytes[count...], as: UTF8.self)
            #expect(
                Array(text.utf8) == Array(String(decoding: bytes, as: UTF8.self).utf8),
                "\(bytes) at \(cut), seed \(random.seed)")
        }
    }

    /// A bug: a mark that joins the character before it was lost where a chunk began with it.
    @Test(arguments: ["é\"\n€🙂", "e\u{301}", "\u{600}1", "👍🏽👩‍👩‍👧", "क्षि"])
    func `a long value is printed as a short one is`(part: String) throws {
        // Its characters lie across the ends of chunks.
        let name = String(repeating: part, count: 3_000_000 / part.utf8.count)
        let portrait = (0..<2_500_001).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let store = try SampleStore(authorCount: 1, name: name, portrait: portrait)
        let json = try Tool.run("dump", store.path, "Author", "--json")
        #expect(json.exitCode == 0, "\(json.errors)")
        let objects = try #require(try json.json() as? [[String: Any]])
        #expect(objects.count == 1 && objects[0]["name"] as? String == name)
        #expect(objects[0]["portrait"] as? String == Data(portrait).base64EncodedString())
        #expect(objects[0]["$entity"] as? String == "Author")
        let text = try Tool.run("dump", store.path, "Author")
        let lines = text.output.split(separator: "\n")
        let base64 = "portrait  \"\(Data(portrait).base64EncodedString())\""
        #expect(lines.contains { $0 == base64 })
        #expect(lines.contains { $0.hasPrefix("fee       \"0.1\"") })
    }
}
