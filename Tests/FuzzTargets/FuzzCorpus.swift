import Foundation
import Proof

/// The inputs of a target that reach code which its other inputs do not: one line for each in
/// `Tests/EngineFuzzer/Corpus/<target>.hex`, its name and its bytes in hexadecimal.
package struct FuzzCorpus {
    package struct Input: Sendable {
        package var name: String
        package var bytes: [UInt8]
    }

    package let inputs: [Input]

    /// Throws when the corpus is missing, empty or cannot be read.
    package init(_ kind: FuzzTarget.Kind) throws {
        let url = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "EngineFuzzer/Corpus/\(kind.rawValue).hex")
        try self.init(String(contentsOf: url, encoding: .utf8), name: kind.rawValue)
    }

    /// - Parameter name: for errors.
    package init(_ text: String, name: String) throws {
        inputs = try text.split(separator: "\n").map { try Self.input($0, name) }
        guard !inputs.isEmpty else { throw ProofFailure("the corpus \(name) has no input") }
        guard Set(inputs.map(\.name)).count == inputs.count else {
            throw ProofFailure("the corpus \(name) has two inputs of one name")
        }
    }

    private static func input(_ line: Substring, _ name: String) throws -> Input {
        let words = line.split(separator: " ")
        let digits = words.count == 2 ? Array(words[1]) : []
        guard (1...2).contains(words.count), digits.count.isMultiple(of: 2) else {
            throw ProofFailure("the corpus \(name) has a line that is no input: \(line)")
        }
        let bytes = try stride(from: 0, to: digits.count, by: 2).map { index in
            guard let byte = UInt8(String(digits[index...(index + 1)]), radix: 16) else {
                throw ProofFailure("the corpus \(name) has a line that is no input: \(line)")
            }
            return byte
        }
        return Input(name: String(words[0]), bytes: bytes)
    }
}
