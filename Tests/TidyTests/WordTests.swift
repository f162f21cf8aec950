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

    @Test func `each use of unsafe says why it is safe`() {
        var verdict = Verdict("safety")
        for file in SourceFile.rooms {
            for (number, text) in file.code
            where text.firstMatch(of: /\bunsafe\b/) != nil && !isProven(number, in: file.lines) {
                verdict.note(file.path, "line \(number) has no Safety comment: \(text)")
            }
        }
        verdict.expectNothing()
    }

    /// Whether a proof stands in the ten lines above, or further up in the same function.
    private func isProven(_ number: Int, in lines: [String]) -> Bool {
        let function = /^ *(@\w+ |\w+ )*(func \w|init[?(]|deinit|subscript)/
        var isInFunction = true
        for distance in 0..<60 where number - 1 - distance >= 0 {
            let line = lines[number - 1 - distance]
            if (isInFunction || distance <= 10) && line.contains("// Safety:") { return true }
            if line.firstMatch(of: function) != nil { isInFunction = false }
        }
        return false
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
