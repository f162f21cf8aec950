import RecordStore
import TestSupport
import Testing

@testable import Query

/// The differences that options ignore, in the scripts where that is hard.
@Suite struct TextMatchTests {
    static let pairs: [(String, String, String, Bool)] = [
        // Sharp s is two letters, in either case.
        ("straße", "STRASSE", "c", true), ("straße", "strasse", "d", false),
        ("STRAẞE", "strasse", "c", true), ("ß", "s", "cd", false),
        // The dotted and the dotless i are letters of their own.
        ("İ", "i\u{307}", "c", true), ("İ", "i", "c", false), ("İ", "i", "cd", true),
        ("İ", "I", "d", true), ("ı", "i", "c", false), ("ı", "i", "cd", false),
        ("ı", "I", "c", false),
        // Sigma has three forms, one of them final.
        ("ΣΊΣΥΦΟΣ", "σίσυφος", "c", true), ("ς", "σ", "c", true), ("Σ", "ς", "c", true),
        ("ς", "σ", "", false), ("ΣΊΣΥΦΟΣ", "σισυφος", "cd", true),
        // Composed and decomposed.
        ("é", "e\u{301}", "", false), ("é", "e\u{301}", "c", true), ("é", "e\u{301}", "d", true),
        ("é", "e\u{301}", "w", true), ("é", "e\u{301}", "l", true), ("é", "e\u{301}", "n", false),
        ("é", "e", "c", false), ("é", "e", "d", true), ("É", "e", "d", false),
        ("É", "e", "cd", true),
        ("q\u{323}\u{307}", "q\u{307}\u{323}", "c", true), ("Å", "\u{212B}", "c", true),
        ("o\u{308}\u{304}", "ȫ", "c", true), ("ñ", "n", "cd", true), ("ø", "o", "cd", false),
        ("ﬁn", "FIN", "c", true),
        // Width.
        ("１２３", "123", "", false), ("１２３", "123", "w", true), ("１２３", "123", "cd", false),
        ("ＡＢＣ", "abc", "c", false), ("ＡＢＣ", "abc", "cw", true), ("ﾊﾞﾅﾅ", "バナナ", "w", true),
        // Emoji equal only themselves.
        ("👩‍👧", "👩‍👧", "cdw", true), ("👩‍👧", "👩👧", "cdw", false), ("👍🏽", "👍", "cd", false),
        // Tatweel is a letter of the text, as Foundation has it; so are the vowel signs.
        ("محمد", "محـمد", "", false), ("محمد", "محـمد", "cd", false), ("محمد", "مُحَمَّد", "d", false),
        // Hangul syllables and their letters.
        ("한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "", false),
        ("한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "c", true),
        ("한글", "하글", "cd", false),
        // Other scripts with case, and without.
        ("ПРИВЕТ", "привет", "c", true), ("Ё", "е", "cd", true), ("Й", "и", "cd", true),
        ("𐐀", "𐐨", "c", true), ("が", "か", "d", false), ("कि", "क", "cd", false),
    ]

    @Test(arguments: pairs)
    func `two texts are equal when the options overlook their differences`(
        left: String, right: String, options: String, isEqual: Bool
    ) throws {
        let operation = options.isEmpty ? "==" : "==[\(options)]"
        #expect(try Village.holds("%@ \(operation) %@", .text(left), .text(right)) == isEqual)
        #expect(try Village.holds("%@ \(operation) %@", .text(right), .text(left)) == isEqual)
        guard isEqual else { return }
        for other in ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"] where !options.isEmpty {
            #expect(
                try Village.holds("%@ \(other)[\(options)] %@", .text(left), .text(right)),
                "\(other)")
        }
    }

    @Test(arguments: [
        ("BEGINSWITH", "école", "e", false), ("BEGINSWITH", "e\u{301}cole", "e", false),
        ("BEGINSWITH", "école", "É", true), ("ENDSWITH", "cafe\u{301}", "E", false),
        ("CONTAINS", "xq\u{303}x", "Q", false), ("CONTAINS", "xq\u{303}xq", "Q", true),
        ("BEGINSWITH", "한국", "하", false), ("BEGINSWITH", "한국", "한", true),
        ("BEGINSWITH", "👩‍👧", "👩", false), ("ENDSWITH", "👩‍👧", "👧", false),
        ("CONTAINS", "a👩‍👧b", "👩‍👧", true), ("CONTAINS", "👍🏽", "👍", false),
        ("CONTAINS", "कि", "क", true), ("CONTAINS", "कु", "क", false), ("ENDSWITH", "xß", "S", true),
        ("CONTAINS", "é", "", true), ("CONTAINS", "ẞ", "ss", true),
    ])
    func `with an option, a part matches whole characters only`(
        operation: String, text: String, part: String, isFound: Bool
    ) throws {
        #expect(try Village.holds("%@ \(operation)[c] %@", .text(text), .text(part)) == isFound)
    }

    @Test func `without options a part is matched by its bytes`() throws {
        #expect(try Village.holds("'e\u{301}' BEGINSWITH 'e' AND '👩‍👧' BEGINSWITH '👩'"))
        #expect(try !Village.holds("'é' BEGINSWITH 'e' OR 'é' CONTAINS 'e\u{301}'"))
    }

    @Test func `an ordering comparison ignores case and accents where its options say so`() throws {
        #expect(try Village.holds("'Émile' <[cd] 'FABIO' AND 'zebra' >[cd] 'Éa' AND 'a' >=[c] 'A'"))
        #expect(try Village.holds("'Z' < 'a' AND 'a' <[c] 'Z'"))
    }

    @Test func `ASCII folding and Unicode folding give the same text`() {
        var random = SeededRandom(for: "TextMatchTests")
        for round in 0..<3000 {
            let count = round < 128 ? 1 : random.below(12)
            let bytes = (0..<count).map { _ in
                round < 128 ? UInt8(round) : UInt8(random.below(128))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let options = TextOptions(rawValue: UInt8(random.below(32)))
            guard TextMatch.folds(options) else { continue }
            let quick = TextMatch.fold(text, options)
            let slow = TextMatch.foldedByUnicode(text, options)
            #expect(Array(quick.utf8) == Array(slow.utf8), "\(bytes) \(options)")
        }
    }

    @Test func `a case-insensitive search finds what a search of the folded texts finds`() {
        var random = SeededRandom(for: "TextMatchTests parts")
        let letters = Array("aAbB é\r\n\u{301}")
        for _ in 0..<3000 {
            let text = String(
                (0..<random.below(6)).map { _ in letters[random.below(letters.count)] })
            let part = String(
                (0..<random.below(3)).map { _ in letters[random.below(letters.count)] })
            let folded = TextMatch.foldedByUnicode(text, .caseInsensitive)
            let foldedPart = TextMatch.foldedByUnicode(part, .caseInsensitive)
            for operation in [Comparison.Operation.contains, .beginsWith, .endsWith] {
                let found = TextMatch.holds(operation, text, part, .caseInsensitive)
                #expect(found == TextMatch.holds(operation, folded, foldedPart, .localized))
            }
        }
    }

    @Test func `the byte search agrees with the Unicode search wherever it answers`() {
        var random = SeededRandom(for: "TextMatchTests bytes")
        let pieces = [
            "a", "B", "ab", "S", "i", "N", "k", "é", "É", "ß", "ı", "İ", "ŉ", "ſ", "µ", "ÿ", "Ž",
            "Ÿ",
            "\u{212A}", "\u{301}", "ﬁ", "ĸ", "\u{A0}", "Σ", "ǰ", "\u{200D}",
        ]
        let parts = ["a", "b", "ab", "ss", "i", "n", "k", "s", "fi", "j", "bi"]
        var told = 0
        for _ in 0..<20_000 {
            let text = (0..<random.below(7)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            let part = parts[random.below(parts.count)]
            let found = FilterProgram.containsASCII(
                text.utf8.span, part.utf8.span, lowers: true, foldsMarks: false)
            guard let found else { continue }
            told += 1
            let folded = TextMatch.foldedByUnicode(text, .caseInsensitive)
            #expect(
                found
                    == TextMatch.contains(folded.utf8.span, part.utf8.span, wholeCharacters: true),
                "\(text) and \(part)")
        }
        #expect(told > 2000)
    }
}
