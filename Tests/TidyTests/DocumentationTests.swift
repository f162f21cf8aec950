import Testing

/// Public declarations have docstrings.
@Suite struct DocumentationTests {
    private static let rooms = [
        "PageStore", "RecordStore", "Query", "ObjectGraph", "TrellisLogging", "XcodeModels",
    ]

    @Test func `each public declaration has a docstring`() {
        let files = SourceFile.rooms.filter { Self.rooms.contains($0.room) }
        #expect(Set(files.map(\.room)) == Set(Self.rooms))
        let declarations = files.flatMap { Declaration.all(in: $0) }
        #expect(declarations.count > 1_900)
        var verdict = Verdict("documentation")
        for declaration in Declaration.bare(declarations) {
            verdict.note(declaration.place, "\(declaration.signature) has no docstring")
        }
        verdict.expectNothing()
    }

    @Test func `the search for docstrings finds the declarations without one`() {
        let file = SourceFile(
            path: "Sources/Room/File.swift",
            lines: [
                "/// Documented.",
                "public protocol Shape {",
                "    /// Documented.",
                "    func area(of side: Int, _ scale: [Int: Int]) -> Int",
                "    var sideCount: Int { get }",
                "}",
                "",
                "/// Documented.",
                "@frozen",
                "public struct Square<Side>: Shape, Hashable",
                "where Side: Hashable {",
                "    public func area(of side: Int, _ scale: [Int: Int]) -> Int { 1 }",
                "    public func area(of other: Int) -> Int { 1 }",
                "    public func hash(into hasher: inout Hasher) {}",
                "    var hidden: Int { 1 }",
                "    /// Documented.",
                "    public private(set) var count = 0",
                "    public private(set) var width = 0",
                "}",
                "",
                "public enum Colour {",
                "    case red",
                "    public override init() { switch self { case .red: break } }",
                "}",
            ])
        let declarations = Declaration.all(in: file)
        #expect(declarations.count == 12)
        #expect(Declaration.bare(declarations).map(\.line) == [5, 13, 18, 21, 22])
        #expect(
            Declaration.bare(declarations).map(\.signature)
                == ["sideCount", "area(of:)", "width", "Colour", "red"])
    }
}

/// A public declaration of a source file.
private struct Declaration {
    private static let typeKinds: Set = [
        "struct", "class", "enum", "protocol", "actor", "extension",
    ]

    /// Requirements of Swift's and Foundation's protocols. Their own documentation describes them.
    private static let standardNames: Set = [
        "==", "<", "hash", "encode", "init(from:)", "makeIterator", "next", "index", "formIndex",
        "distance", "makeAsyncIterator", "startIndex", "endIndex", "description",
        "debugDescription", "errorDomain", "errorCode", "errorUserInfo", "errorDescription",
        "rawValue", "init(rawValue:)", "init(nilLiteral:)", "init(stringLiteral:)",
        "init(arrayLiteral:)", "init(dictionaryLiteral:)", "wrappedValue", "projectedValue",
        "body", "Element", "Index", "SubSequence", "Iterator", "AsyncIterator", "Output",
        "Failure", "RawValue",
    ]

    var place: String
    var line: Int
    /// The name with the labels of the parameters: `fetchOne(_:_:)`.
    var signature: String
    var isRequirement: Bool
    var isOverride: Bool
    var isDocumented: Bool

    /// The declarations that need a docstring and have none. A witness of a requirement inherits
    /// the docstring of that.
    static func bare(_ declarations: [Declaration]) -> [Declaration] {
        let inherited = Set(
            declarations.filter { $0.isRequirement && $0.isDocumented }.map(\.signature))
        return declarations.filter { declaration in
            let name = declaration.signature.prefix { $0 != "(" }
            return !declaration.isDocumented && !declaration.isOverride
                && !standardNames.contains(declaration.signature)
                && !standardNames.contains(String(name))
                && (declaration.isRequirement || !inherited.contains(declaration.signature))
        }
    }

    /// A type, an extension, or a body of code.
    private struct Scope {
        var kind: String
        var isPublic: Bool
    }

    static func all(in file: SourceFile) -> [Declaration] {
        let pattern =
            #/
            ^\s* ((?: @\w+ (?: \([^)]*\) )? \s+ | [a-z]+ (?: \(\w+\) )? \s+ )*?)
            ( func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias
            | associatedtype|case|extension )\b \s* (.*)$
            /#
        var found: [Declaration] = []
        var scopes: [Scope] = []
        // The type whose brace is on a later line.
        var pending: Scope?
        let code = file.code
        for (index, line) in code.enumerated() {
            let isMember = scopes.last.map { typeKinds.contains($0.kind) } ?? true
            if isMember, let match = line.text.firstMatch(of: pattern) {
                let (modifiers, kind) = (String(match.1), String(match.2))
                let isPublic = isPublic(modifiers, kind, in: scopes.last)
                if isPublic, kind != "extension" {
                    let rest = [String(match.3)] + code.dropFirst(index + 1).prefix(12).map(\.text)
                    found.append(
                        Declaration(
                            place: "\(file.path):\(line.number)", line: line.number,
                            signature: signature(kind, rest.joined(separator: " ")),
                            isRequirement: scopes.last?.kind == "protocol",
                            isOverride: modifiers.contains("override"),
                            isDocumented: isDocumented(line.number, in: file)))
                }
                pending = typeKinds.contains(kind) ? Scope(kind: kind, isPublic: isPublic) : nil
            }
            for character in line.text where character == "{" || character == "}" {
                if character == "{" {
                    scopes.append(pending ?? Scope(kind: "body", isPublic: false))
                    pending = nil
                } else {
                    _ = scopes.popLast()
                }
            }
        }
        return found
    }

    private static func isPublic(_ modifiers: String, _ kind: String, in scope: Scope?) -> Bool {
        if modifiers.firstMatch(of: /\b(?:public|open)\b(?!\()/) != nil { return true }
        guard let scope, scope.isPublic else { return false }
        return scope.kind == "protocol" || scope.kind == "enum" && kind == "case"
    }

    private static func isDocumented(_ number: Int, in file: SourceFile) -> Bool {
        // An attribute or a condition may stand between a docstring and its declaration.
        let between = /^\s*(?:@\w|#(?:if|else|endif)\b|\/\/(?!\/))/
        var index = number - 2
        while index > 0, file.lines[index].firstMatch(of: between) != nil { index -= 1 }
        return index >= 0 && file.lines[index].firstMatch(of: /^\s*\/\/\//) != nil
    }

    private static func signature(_ kind: String, _ text: String) -> String {
        let isNamed = kind != "init" && kind != "subscript"
        let name = isNamed ? String(name(of: text)) : kind
        guard !isNamed || kind == "func" else { return name }
        var (depth, label, labels) = (0, "", "")
        for character in text.dropFirst(isNamed ? name.count : 0) {
            switch character {
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return "\(name)(\(labels))" }
            case "," where depth == 1: label = ""
            case ":" where depth == 1: labels += "\(label.split(separator: " ").first ?? ""):"
            default: if depth == 1 { label.append(character) }
            }
        }
        return name
    }

    private static func name(of text: String) -> Substring {
        let isWord = text.first.map { $0.isLetter || $0 == "_" || $0 == "`" } ?? false
        return text.prefix { isWord ? $0.isLetter || $0.isNumber || "_`".contains($0) : $0 != " " }
    }
}
