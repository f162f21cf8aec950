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

    @Test func `a file that says unsafe also says why it is safe`() {
        var verdict = Verdict("safety")
        for file in SourceFile.rooms
        where file.code.contains(where: { $0.text.firstMatch(of: /\bunsafe\b/) != nil })
            && !file.lines.contains(where: { $0.contains("// Safety:") })
        {
            verdict.note(file.path, "has no Safety comment")
        }
        verdict.expectNothing()
    }

    @Test func `nothing is forced`() {
        var verdict = Verdict("force")
        for file in SourceFile.rooms {
            for (number, text) in file.code
            where text.firstMatch(of: /\btry!|\bas!|\bfatalError\b/) != nil {
                verdict.note(file.path, "line \(number): \(text)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `what is left to do has an issue`() {
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

    @Test func `no path of somebody's machine is in the sources`() {
        var verdict = Verdict("machine paths")
        let path = /["\s`](\/work\/|\/home\/|\/root\/|\/Users\/)/
        for file in SourceFile.all where !file.path.hasPrefix("Tests/TidyTests/") {
            for (index, line) in file.lines.enumerated() where line.firstMatch(of: path) != nil {
                verdict.note(file.path, "line \(index + 1): \(line)")
            }
        }
        verdict.expectNothing()
    }

    @Test func `types have names that say something`() {
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
