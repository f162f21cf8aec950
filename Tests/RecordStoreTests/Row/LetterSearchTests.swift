import PageStore
import RecordStore
import TestSupport
import Testing

/// A search of eight bytes at a time finds what a search byte by byte finds.
@Suite struct LetterSearchTests {
    private static func lowered(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    }

    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains {
            Array(text[$0..<($0 + part.count)]) == part
        }
    }

    @Test(arguments: [true, false])
    func `letters are found at any position in a text of any size`(lowers: Bool) throws {
        var random = SeededRandom(for: "LetterSearchTests letters \(lowers)")
        // Characters next to the letters, and some that differ from them in one bit.
        let alphabet = Array("abABzZ@[`{!\u{0}\u{7F}".utf8)
        var foundCount = 0
        for _ in 0..<40_000 {
            let text = (0..<random.below(40)).map { _ in alphabet[random.below(alphabet.count)] }
            var part = (0..<(2 + random.below(3))).map { _ in alphabet[random.below(alphabet.count)]
            }
            if lowers { part = Self.lowered(part) }
            let search = try #require(LetterSearch(part, lowers: lowers))
            let found = text.withView { search.isFound(in: $0) }
            let expected = Self.contains(lowers ? Self.lowered(text) : text, part)
            #expect(found == expected, "\(part) in \(text)")
            if found == true { foundCount += 1 }
        }
        #expect(foundCount > 1000)
    }

    @Test func `a byte beyond ASCII anywhere in the text makes the fast search undecided`() throws {
        let search = try #require(LetterSearch(Array("ab".utf8), lowers: true))
        for size in 2..<30 {
            for place in 0..<size {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: size)
                (text[0], text[1]) = (UInt8(ascii: "A"), UInt8(ascii: "b"))
                text[place] = 0xC3
                #expect(text.withView { search.isFound(in: $0) } == nil, "\(place) of \(size)")
            }
        }
    }

    @Test func `the fast search takes only two ASCII letters`() {
        for letters in ["", "a", "é", "aé"] {
            #expect(LetterSearch(Array(letters.utf8), lowers: true) == nil, "\(letters)")
        }
    }
}
