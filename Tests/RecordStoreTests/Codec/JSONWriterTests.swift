import Foundation
import Testing

@testable import RecordStore

/// The JSON writer for files and for users.
@Suite struct JSONWriterTests {
    private static let odd =
        "a\"b\\c/d\u{8}\t\n\u{c}\r\u{1}\u{1F}\u{7F}é🙂\u{2028}{[:,"

    private func written(_ json: inout JSONWriter) -> String {
        json.object { json in
            json.name(Self.odd)
            json.string(Self.odd)
            json.name("list")
            json.list([[1, 2], [], [3]]) { json, row in
                json.list(row) { $0.number("\($1)") }
            }
            json.name("none")
            json.object { _ in }
            json.name("[")
            json.null()
            json.name("flag")
            json.bool(true)
            json.name("exact")
            json.number("0.10000000000000000000001")
        }
        return json.text
    }

    @Test(arguments: [false, true])
    func `written JSON is read back`(isSpaced: Bool) throws {
        var json = JSONWriter(isSpaced: isSpaced)
        let text = written(&json)
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(read[Self.odd] as? String == Self.odd)
        #expect(read["list"] as? [[Int]] == [[1, 2], [], [3]])
        #expect((read["none"] as? [String: Any])?.isEmpty == true)
        #expect(read["["] is NSNull)
        #expect(read["flag"] as? Bool == true)
        #expect(read.count == 6)
    }

    @Test func `members keep their order and numbers their digits`() {
        var (dense, spaced) = (JSONWriter(), JSONWriter(isSpaced: true))
        let end = "\"exact\":0.10000000000000000000001}"
        #expect(written(&dense).hasSuffix("\"[\":null,\"flag\":true," + end))
        let text = written(&spaced)
        #expect(text.contains("\"list\": [[1, 2], [], [3]], \"none\": {}, \"[\": null"))
    }
}
