import Testing

/// Words that code does not use, or only behind a fence.
@Suite struct WordTests {
    @Test func `the word unsafe stays in its fences`() {
        var verdict = Verdict("unsafe")
        for file in SourceFile.rooms
        where !Fences.unsafe.contains(where: { file.path.hasPrefix($0) }) {
            for (number, text) in file.code where text.firstMatch(of: /\bunsafe\b/) != nil {
                verdict.note(file.path, "line \(number): \(text)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `each function that says unsafe also says why it is safe`() {
        var verdict = Verdict("safety")
        for file in SourceFile.rooms {
            for line in Safety.unprovedLines(of: file) {
                verdict.note(file.path, "line \(line) has no Safety comment in its function")
            }
        }
        verdict.expectNothing()
    }

    @Test func `the search for proofs finds unsafe code without a proof`() {
        let file = SourceFile(
            path: "Sources/Room/File.swift",
            lines: [
                "struct A {",
                "    func proved() {",
                "        // Safety: one word.",
                "        unsafe b()",
                "",
                "        unsafe c()",
                "    }",
                "    func unproved() {",
                "        unsafe b()",
                "    }",
                "",
                "    var d: Int { unsafe b() }",
                "",
                "    // Safety: one word.",
                "    var e: Int { unsafe b() }",
                "}",
            ])
        #expect(Safety.unprovedLines(of: file) == [9, 12])
    }

    @Test func `no source uses try!, as! or fatalError`() {
        var verdict = Verdict("force")
        for file in SourceFile.rooms {
            for (number, text) in file.code
            where text.firstMatch(of: /\btry!|\bas!|\bfatalError\b/) != nil {
                verdict.note(file.path, "line \(number): \(text)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `each note of work left to do names an issue number`() {
        var verdict = Verdict("left to do")
        let words = /\b(TO)(DO)\b|\b(FIX)(ME)\b|\bX(XX)\b/
        for file in SourceFile.all {
            for (index, line) in file.lines.enumerated()
            where line.firstMatch(of: words) != nil && line.firstMatch(of: /#\d+/) == nil {
                // The rule's own words are written in two.
                if file.path.hasPrefix("Tests/TidyTests/") { continue }
                verdict.note(file.path, "line \(index + 1)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `no source contains a path of one developer's machine`() {
        var verdict = Verdict("machine paths")
        let path = /["\s`](\/work\/|\/home\/|\/root\/|\/Users\/)/
        for file in SourceFile.all where !file.path.hasPrefix("Tests/TidyTests/") {
            for (index, line) in file.lines.enumerated() where line.firstMatch(of: path) != nil {
                verdict.note(file.path, "line \(index + 1): \(line)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `texts name programs and threads instead of using pronouns`() throws {
        var verdict = Verdict("pronouns")
        var texts = SourceFile.rooms
        for place in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
            texts.append(try SourceFile.text(at: place))
        }
        for folder in ["spec", "decisions", "Benchmarks", "Sources/ObjectGraph/ObjectGraph.docc"] {
            let pages = try SourceFile.pages(in: folder)
            try #require(!pages.isEmpty, "\(folder) has no page")
            texts += pages
        }
        try #require(texts.count > 400)
        // A sentence that says which of them does what is shorter.
        let pronoun = /\b(nobody|somebody|whoever|anybody)\b/.ignoresCase()
        for file in texts {
            for (index, line) in file.lines.enumerated()
            where line.firstMatch(of: pronoun) != nil {
                verdict.note(file.path, "line \(index + 1): \(line)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `no type name ends in Manager, Helper, Util, Info or Data`() {
        var verdict = Verdict("names of types")
        let type =
            /\b(?:class|struct|enum|protocol|actor) (\w*(?:Manager|Helper|Util|Utils|Info|Data))\b/
        for file in SourceFile.rooms {
            for (_, text) in file.code {
                if let match = text.firstMatch(of: type) {
                    verdict.note(String(match.1), "in \(file.path)")
                }
            }
        }
        verdict.expectNothing()
    }
}

/// Proofs of unsafe code.
enum Safety {
    /// The first line of each function that says `unsafe` without a proof inside. Of what is no
    /// function, a property for one, the lines up to the next empty ones count as its own.
    static func unprovedLines(of file: SourceFile) -> [Int] {
        let functions = Functions.of(file).map { $0.line..<$0.line + $0.lineCount }
        var known: Set<Range<Int>> = []
        var unproved: [Int] = []
        for (number, text) in file.code where text.firstMatch(of: /\bunsafe\b/) != nil {
            let extent =
                functions.last { $0.contains(number) } ?? paragraph(around: number, in: file)
            guard known.insert(extent).inserted else { continue }
            let isProved = extent.contains { file.lines[$0 - 1].contains("Safety:") }
            if !isProved { unproved.append(number) }
        }
        return unproved
    }

    private static func paragraph(around number: Int, in file: SourceFile) -> Range<Int> {
        func isEmpty(_ number: Int) -> Bool { file.lines[number - 1].allSatisfy(\.isWhitespace) }
        var (first, end) = (number, number + 1)
        while first > 1, !isEmpty(first - 1) { first -= 1 }
        while end <= file.lines.count, !isEmpty(end) { end += 1 }
        return first..<end
    }
}
