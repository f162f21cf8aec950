import Foundation
import Testing

/// The code of the articles and of the README is part of a test, which the compiler reads.
@Suite struct ArticleTests {
    private struct Block {
        var path: String
        var line: Int
        var code: String
    }

    private static let texts: [String] = {
        let folder = "Sources/ObjectGraph/ObjectGraph.docc"
        let articles = try? FileManager.default.contentsOfDirectory(
            atPath: SourceFile.root.appending(path: folder).path)
        return (articles ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            + ["README.md"]
    }()

    /// The blocks that begin with three backticks and the word swift.
    private static func blocks(of text: String, at path: String) -> [Block] {
        var blocks: [Block] = []
        var current: Block?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if var block = current {
                if line == "```" {
                    blocks.append(block)
                    current = nil
                } else {
                    block.code += line + "\n"
                    current = block
                }
            } else if line == "```swift" {
                current = Block(path: path, line: index + 1, code: "")
            }
        }
        return blocks
    }

    /// How a block is wrapped and indented differs with its depth.
    private static func withoutSpace(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    }

    @Test func `each block of code in the articles is compiled in a test`() throws {
        let tests = SourceFile.all.filter { $0.path.hasPrefix("Tests/") }
            .map { Self.withoutSpace($0.lines.joined(separator: "\n")) }
        var verdict = Verdict("article")
        var count = 0
        for path in Self.texts {
            let text = try String(
                contentsOf: SourceFile.root.appending(path: path), encoding: .utf8)
            for block in Self.blocks(of: text, at: path) {
                count += 1
                let code = Self.withoutSpace(block.code)
                if !tests.contains(where: { $0.range(of: code, options: .literal) != nil }) {
                    verdict.note("\(path):\(block.line)", "no test has this code")
                }
            }
        }
        #expect(count >= 30)
        verdict.expectNothing()
    }

    @Test func `a code block ends at its closing fence`() {
        let text = "a\n```swift\nlet b = 1\n```\nc\n```\nd\n```\n```swift\n```\n"
        let blocks = Self.blocks(of: text, at: "x")
        #expect(blocks.map(\.code) == ["let b = 1\n", ""])
        #expect(blocks.map(\.line) == [2, 9])
    }
}
