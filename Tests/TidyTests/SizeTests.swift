import Testing

/// Sizes that a person can hold in mind.
@Suite struct SizeTests {
    @Test func `files stay below their limits`() {
        var verdict = Verdict("file size")
        for file in SourceFile.all {
            let limit = file.isTest ? 800 : 500
            if file.lines.count > limit {
                verdict.note(file.path, "\(file.lines.count) lines, the limit is \(limit)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `lines have at most a hundred columns`() {
        var verdict = Verdict("line size")
        for file in SourceFile.all {
            for (index, line) in file.lines.enumerated() where line.count > 100 {
                verdict.note(file.path, "line \(index + 1) has \(line.count) columns")
            }
        }
        verdict.expectNothing()
    }

    @Test func `functions have at most sixty lines`() {
        var verdict = Verdict("function size")
        for file in SourceFile.all {
            for function in Functions.of(file) where function.lineCount > 60 {
                verdict.note(
                    file.path,
                    "the function at line \(function.line) has \(function.lineCount) lines")
            }
        }
        verdict.expectNothing()
    }

    @Test func `the function measure counts the lines of a long function`() {
        let body = (0..<70).map { "        let a\($0) = \($0)" }
        let file = SourceFile(
            path: "Sources/Room/File.swift",
            lines: ["struct A {", "    func long(", "        _ a: Int", "    ) -> Int {"] + body
                + ["    }", "    func short() { 1 }", "}"])
        #expect(Functions.of(file).map(\.lineCount) == [74, 1])
    }
}

/// Functions as the formatter lays them out: the closing brace stands below the first word.
enum Functions {
    struct Extent: Equatable {
        var line: Int
        var lineCount: Int
    }

    static func of(_ file: SourceFile) -> [Extent] {
        var found: [Extent] = []
        let start = /^\s*([a-z@][\w()@]*\s+)*(func\s|init[?(<]|deinit\b|subscript\b)/
        for (index, line) in file.lines.enumerated()
        where line.firstMatch(of: start) != nil && !line.contains("self.init(") {
            guard let end = end(of: index, in: file.lines) else { continue }
            found.append(Extent(line: index + 1, lineCount: end - index + 1))
        }
        return found
    }

    private static func indent(_ line: String) -> Int { line.prefix { $0 == " " }.count }

    /// The line of the closing brace; nil when there is no body.
    private static func end(of start: Int, in lines: [String]) -> Int? {
        let depth = indent(lines[start])
        var index = start
        while !lines[index].hasSuffix("{") {
            if lines[index].hasSuffix("}") { return index }
            index += 1
            guard index < lines.count, !lines[index].isEmpty else { return nil }
            let isHead =
                indent(lines[index]) > depth
                || indent(lines[index]) == depth
                    && (lines[index].dropFirst(depth).hasPrefix(")")
                        || lines[index].dropFirst(depth).hasPrefix("where")
                        || lines[index].dropFirst(depth) == "{")
            guard isHead else { return nil }
        }
        let closing = String(repeating: " ", count: depth) + "}"
        return lines[index...].firstIndex { $0 == closing || $0.hasPrefix(closing + ")") }
    }
}
