import Foundation
import Testing

/// One Swift file of the repository as text.
struct SourceFile: Sendable {
    /// From the repository's root.
    let path: String
    let lines: [String]
    /// The lines with their numbers, without comments and the content of strings.
    let code: [(number: Int, text: String)]

    init(path: String, lines: [String]) {
        (self.path, self.lines) = (path, lines)
        code = Self.code(of: lines)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let all: [SourceFile] = ["Sources", "Tests", "FuzzTests", "Examples", "Benchmarks"]
        .flatMap { read($0) }

    /// Reads the Swift files of a folder, without build products.
    private static func read(_ folder: String) -> [SourceFile] {
        let start = root.appending(path: folder)
        let walk = FileManager.default.enumerator(
            at: start, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        var files: [SourceFile] = []
        for case let file as URL in walk ?? .init() where file.pathExtension == "swift" {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            var lines = text.components(separatedBy: "\n")
            if lines.last == "" { lines.removeLast() }
            let path = file.path.dropFirst(root.path.count).drop { $0 == "/" }
            files.append(SourceFile(path: String(path), lines: lines))
        }
        return files.sorted { $0.path < $1.path }
    }

    /// A page of text.
    static func text(at path: String) throws -> SourceFile {
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        return SourceFile(path: path, lines: text.components(separatedBy: "\n"))
    }

    /// The pages of a folder.
    static func pages(in folder: String) throws -> [SourceFile] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".md") }.sorted()
            .map { try text(at: "\(folder)/\($0)") }
    }

    static let rooms = all.filter { $0.path.hasPrefix("Sources/") }

    var parts: [String] { path.split(separator: "/").map(String.init) }
    var isTest: Bool { !path.hasPrefix("Sources/") }
    /// The target below `Sources/` or `Tests/`.
    var room: String { parts.count > 2 ? parts[1] : parts[0] }
    var name: String { parts[parts.count - 1] }

    private static func code(of lines: [String]) -> [(number: Int, text: String)] {
        var result: [(number: Int, text: String)] = []
        var isInText = false
        for (index, line) in lines.enumerated() {
            // Only the ends of a text over several lines are code.
            let ends = line.components(separatedBy: "\"\"\"").count - 1
            if ends == 1 { isInText.toggle() }
            if ends > 0 || isInText { continue }
            result.append((number: index + 1, text: codeOnly(line)))
        }
        return result
    }

    private static func codeOnly(_ line: String) -> String {
        var result = ""
        var isInString = false
        var previous: Character = " "
        for character in line {
            if character == "\"" && previous != "\\" { isInString.toggle() }
            if !isInString {
                if character == "/" && previous == "/" { return String(result.dropLast()) }
                result.append(character)
            }
            previous = previous == "\\" && character == "\\" ? " " : character
        }
        return result
    }
}

/// Collects what breaks a rule, and what an exception no longer excuses.
struct Verdict {
    private let rule: String
    private var excused: Set<String> = []
    private var found: [String] = []

    init(_ rule: String) { self.rule = rule }

    mutating func note(_ place: String, _ text: String) {
        if Exceptions.list[rule]?.contains(place) == true {
            excused.insert(place)
        } else {
            found.append("\(place): \(text)")
        }
    }

    /// The list of exceptions may only shrink: one that excuses nothing has to go.
    func expectNothing() {
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        let idle = (Exceptions.list[rule] ?? []).subtracting(excused)
        #expect(idle.isEmpty, "remove from Exceptions: \(idle.sorted())")
    }
}
