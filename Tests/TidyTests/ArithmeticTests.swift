import Foundation
import Testing

/// Numbers of 64 bits that a file says. One that was not compared with anything must not be
/// calculated with, nor made an `Int`: either ends the process when the number lies. So does the
/// product of two of 32 bits, as an `Int`.
@Suite struct ArithmeticTests {
    @Test func `a number read from a file is compared before any arithmetic on it`() {
        var verdict = Verdict("arithmetic")
        let rooms = SourceFile.rooms
        #expect(rooms.contains { $0.code.contains { $0.text.contains("uint64(at: ") } })
        for file in rooms {
            for line in Numbers.uncheckedLines(of: file) {
                verdict.note(file.path, "line \(line) calculates with what a file says")
            }
        }
        verdict.expectNothing()
    }

    @Test func `the search finds each form of unchecked arithmetic`() {
        func lines(_ body: String...) -> [Int] {
            let indented = body.map { "        " + $0 }
            let file = SourceFile(
                path: "Sources/Room/File.swift", lines: ["    func a() {"] + indented + ["    }"])
            return Numbers.uncheckedLines(of: file)
        }
        #expect(lines("let a = Int(bytes.uint64(at: 8))") == [2])
        #expect(lines("let a = Int(bytes.uint64(at: 8) & 3)").isEmpty)
        #expect(lines("let a = bytes.uint64(at: 8) * 512") == [2])
        #expect(lines("let a = b + bytes.uint64(at: start)") == [2])
        #expect(lines("let a = b &+ bytes.uint64(at: start)").isEmpty)
        #expect(lines("let a = bytes.uint64(at: 8)", "return a + 1") == [3])
        #expect(lines("let a = bytes.uint64(at: 8)", "return Int(a)") == [3])
        #expect(lines("let a = bytes.uint64(at: 8)", "guard a < 9 else {", "Int(a)").isEmpty)
        #expect(lines("let a = try stream.uint64()", "return a * 2") == [3])
        #expect(lines("let a = bytes.uint32(at: 8)", "return a + 1").isEmpty)
        #expect(lines("let a = Int(b.uint32(at: 8)) * Int(b.uint32(at: 12))") == [2])
        #expect(lines("let a = Int(b.uint32(at: 8)) * 16").isEmpty)
        #expect(
            lines("let a = Int(b.uint32(at: 8))", "let c = Int(b.uint32(at: 12))", "d(a * c)")
                == [4])
        #expect(
            lines(
                "let a = Int(b.uint32(at: 8))", "let c = Int(b.uint32(at: 12))",
                "guard a <= size, c <= size else {", "d(a * c)"
            ).isEmpty)
        #expect(lines("let a = Int(b.uint32(at: 8))", "return a * size").isEmpty)
    }
}

enum Numbers {
    /// Lines that calculate with a number of 64 bits, or convert it, where it is read, or where a
    /// name for it was not compared before in the function.
    static func uncheckedLines(of file: SourceFile) -> [Int] {
        var found: Set<Int> = []
        let code = file.code
        for (index, line) in code.enumerated() where readsNumber(line.text) {
            if isUnchecked(line.text) { found.insert(line.number) }
            if let name = namedHalf(line.text),
                let user = firstProduct(
                    of: name, in: code[(index + 1)...], below: indent(line.text))
            {
                found.insert(user)
            }
            if let name = namedNumber(line.text),
                let user = firstUse(of: name, in: code[(index + 1)...], below: indent(line.text))
            {
                found.insert(user)
            }
        }
        return found.sorted()
    }

    /// Whether one of the expressions below may match, which take a thousand times as long.
    private static func readsNumber(_ text: String) -> Bool {
        text.contains("nt64(") || text.contains("nt32(")
    }

    private static func isUnchecked(_ text: String) -> Bool {
        let read = /(?:[\w.]+\.)?(?:uint64|bigEndianUInt64)\((?:at: )?[^()]*\)/
        let conversion = /\bInt\((?:[\w.]+\.)?(?:uint64|bigEndianUInt64)\((?:at: )?[^()]*\)\)/
        if text.contains(conversion) { return true }
        if text.contains(/\bInt\([\w.]*uint32\([^()]*\)\) \* Int\([\w.]*uint32\(/) { return true }
        for match in text.matches(of: read) {
            let (before, after) = (text[..<match.range.lowerBound], text[match.range.upperBound...])
            let isFirst = after.prefixMatch(of: /\)?\s+(?:[-+*]|<<)\s/) != nil
            if isFirst || before.contains(/(?:^|[^&<])[-+*]\s+(?:Int\()?$/) { return true }
        }
        return false
    }

    private static func namedNumber(_ text: String) -> String? {
        let pattern =
            /^\s*(?:let|var) (\w+) = (?:try )?(?:[\w.]+\.)?(?:uint64|bigEndianUInt64)\((?:at|\))/
        return text.firstMatch(of: pattern).map { String($0.1) }
    }

    /// A name for a number of 32 bits as an `Int`.
    private static func namedHalf(_ text: String) -> String? {
        let pattern = /^\s*(?:let|var) (\w+) = (?:try )?Int\((?:[\w.]+\.)?uint32\((?:at|\))/
        return text.firstMatch(of: pattern).map { String($0.1) }
    }

    /// The line that multiplies a number of 32 bits with another one before any compares it.
    private static func firstProduct(
        of name: String, in code: ArraySlice<(number: Int, text: String)>, below depth: Int
    ) -> Int? {
        var names: Set<String> = [name]
        for line in code {
            let words = line.text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if !words.isEmpty, indent(line.text) < depth { return nil }
            if let other = namedHalf(line.text) { names.insert(other) }
            if words.contains(Substring(name)), line.text.contains(/[<>]|==|ReportingOverflow/) {
                return nil
            }
            for match in line.text.matches(of: /\b(\w+) \* (\w+)\b/) {
                let factors = [String(match.1), String(match.2)]
                if factors.contains(name), factors.allSatisfy(names.contains) { return line.number }
            }
        }
        return nil
    }

    private static func indent(_ text: String) -> Int { text.prefix { $0 == " " }.count }

    /// The line that calculates with a name before any compares it.
    private static func firstUse(
        of name: String, in code: ArraySlice<(number: Int, text: String)>, below depth: Int
    ) -> Int? {
        for line in code {
            let words = line.text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if !words.isEmpty, indent(line.text) < depth { return nil }
            guard words.contains(Substring(name)) else { continue }
            if line.text.contains(/[<>]|==|ReportingOverflow/) { return nil }
            let pieces = line.text.replacingOccurrences(of: name, with: "#")
            if pieces.contains(/#\s[-+*]\s|(?:^|[^&])[-+*]\s#|\bInt\(#\)/) { return line.number }
        }
        return nil
    }
}
