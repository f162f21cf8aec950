import Foundation
import Testing

/// The error types of public functions.
@Suite struct ThrowingTests {
    /// A program implements these, and throws what it likes. `AsyncThrowingStream`, which
    /// `async.addStorage` returns, has no typed form.
    private static let untyped = ["Sources/ObjectGraph/Importing/ImportableObject.swift"]

    @Test func `public functions throw typed errors`() {
        var found: [String: [Int]] = [:]
        var count = 0
        for file in SourceFile.rooms
        where ["ObjectGraph", "XcodeModels", "TrellisLogging"].contains(file.room) {
            for declaration in Declarations.throwing(in: file) {
                count += 1
                if !declaration.isTyped { found[file.path, default: []].append(declaration.line) }
            }
        }
        #expect(count > 80, "\(count)")
        #expect(Set(found.keys) == Set(Self.untyped), "\(found)")
    }

    @Test func `declarations that throw are found over several lines and in protocols`() {
        let lines = [
            "public protocol A {",
            "    func a(",
            "        _ body: () throws -> Void",
            "    ) throws -> Int",
            "    func b(_ body: () throws -> Void)",
            "}",
            "struct B {",
            "    func c() throws {}",
            "    public static func d<T>(",
            "        _ body: (Int) throws(MyError) -> T",
            "    ) async throws(MyError) -> T where T: Sendable {",
            "    }",
            "    public var e: Int { get throws { 0 } }",
            "    public init() throws { }",
            "}",
        ]
        let found = Declarations.throwing(in: SourceFile(path: "A.swift", lines: lines))
        #expect(found.map(\.line) == [2, 9, 13, 14])
        #expect(found.map(\.isTyped) == [false, true, false, false])
    }
}

/// The public declarations of a file that throw.
private struct Declarations {
    var line: Int
    var isTyped: Bool

    static func throwing(in file: SourceFile) -> [Declarations] {
        let code = file.code
        var found: [Declarations] = []
        var isInProtocol = false
        for (index, (number, text)) in code.enumerated() {
            if text.hasPrefix("public protocol") { isInProtocol = true }
            if text == "}" { isInProtocol = false }
            let start = text.drop { $0 == " " }
            guard start.hasPrefix("public") || isInProtocol else { continue }
            if let accessor = start.firstMatch(of: /\bget (?:async )?throws(\()?/) {
                found.append(Declarations(line: number, isTyped: accessor.1 != nil))
            }
            guard let keyword = start.firstMatch(of: /\b(?:func|init|subscript)\b/) else {
                continue
            }
            var rest = String(start[keyword.range.lowerBound...])
            for (_, line) in code[(index + 1)...].prefix(40) { rest += "\n" + line }
            let effects = effects(of: rest)
            if effects.contains(/\bthrows\b/) {
                found.append(
                    Declarations(line: number, isTyped: effects.contains(/\bthrows\(/)))
            }
        }
        return found
    }

    /// The text between a function's parameters and its body or its end of line.
    private static func effects(of text: String) -> String {
        var depth = 0
        var effects: String?
        for character in text {
            if depth == 0, effects != nil, "{\n".contains(character) { break }
            // The opening parenthesis of a typed error counts as an effect.
            if effects != nil { effects?.append(character) }
            if character == "(" { depth += 1 }
            if character == ")" {
                depth -= 1
                if depth == 0 && effects == nil { effects = "" }
            }
        }
        return effects ?? ""
    }
}
