import Foundation
import Testing

/// The patches of `scripts/mutants`: one that does not fit the sources any more proves nothing, and
/// is only found out where all of them are run.
@Suite struct MutantTests {
    /// Lines that a patch takes from a file, in their order, with those around them.
    struct Hunk {
        let path: String
        var lines: [String] = []
        /// Whether each of them is one that the patch removes.
        var isRemoved: [Bool] = []
    }

    /// How many lines at its beginning and end need not fit, as in `patch -F3`.
    private static let looseMax = 3

    private static let patches: [URL] = {
        let folder = SourceFile.root.appending(path: "Tests/Mutants")
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "patch" }
            .sorted { $0.path < $1.path }
    }()

    @Test func `the patch of each mutant fits the sources`() throws {
        try #require(Self.patches.count > 50)
        for patch in Self.patches {
            let name = patch.lastPathComponent
            let text = try String(contentsOf: patch, encoding: .utf8)
            #expect(text.firstMatch(of: /^[a-z][^:\n]*:/) != nil, "\(name) names no proof")
            let hunks = Self.hunks(of: text)
            #expect(!hunks.isEmpty, "\(name) changes nothing")
            for hunk in hunks {
                let file = SourceFile.root.appending(path: hunk.path)
                let lines = try String(contentsOf: file, encoding: .utf8)
                    .components(separatedBy: "\n")
                #expect(Self.fits(hunk, lines), "\(name) does not fit \(hunk.path)")
            }
        }
    }

    @Test func `a patch whose lines differ from the file does not fit`() {
        let text = "crash: a\n\n--- a/F\n+++ b/F\n@@ -1,3 +1,2 @@\n a\n-b\n c\n"
        let hunks = Self.hunks(of: text)
        #expect(hunks.map(\.path) == ["F"] && hunks.map(\.lines) == [["a", "b", "c"]])
        #expect(hunks.allSatisfy { Self.fits($0, ["x", "a", "b", "c"]) })
        #expect(hunks.allSatisfy { Self.fits($0, ["other", "b", "c"]) })
        #expect(hunks.allSatisfy { !Self.fits($0, ["a", "B", "c"]) })
    }

    static func hunks(of text: String) -> [Hunk] {
        var hunks: [Hunk] = []
        var path = ""
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("--- a/") {
                path = String(line.dropFirst(6).prefix { $0 != "\t" })
            } else if line.hasPrefix("@@") {
                hunks.append(Hunk(path: path))
            } else if !hunks.isEmpty, line.hasPrefix(" ") || line.hasPrefix("-") {
                hunks[hunks.count - 1].lines.append(String(line.dropFirst()))
                hunks[hunks.count - 1].isRemoved.append(line.hasPrefix("-"))
            }
        }
        return hunks
    }

    /// Whether the lines stand in a file one after the other, but for some at either end that the
    /// patch keeps.
    static func fits(_ hunk: Hunk, _ lines: [String]) -> Bool {
        let first = hunk.isRemoved.firstIndex(of: true) ?? hunk.lines.count
        let after = hunk.lines.count - 1 - (hunk.isRemoved.lastIndex(of: true) ?? -1)
        let head = min(looseMax, first)
        let tail = min(looseMax, after, hunk.lines.count - head)
        let core = Array(hunk.lines.dropFirst(head).dropLast(tail))
        guard !core.isEmpty else {
            // Lines are only added: one of those around them is enough.
            return hunk.lines.contains { lines.contains($0) }
        }
        return lines.indices.contains { start in
            lines[start...].prefix(core.count).elementsEqual(core)
        }
    }
}
