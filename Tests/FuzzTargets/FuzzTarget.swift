import ObjectProof
import Proof

/// An entry of the library that a fuzzer tries: `scripts/fuzz` with libFuzzer, `FuzzTests` with the
/// inputs of the corpus.
package struct FuzzTarget {
    package enum Kind: String, CaseIterable, Sendable {
        /// The pages of a store, and a whole file, opened by the engine alone.
        case pages
        /// The frames of a log whose hashes are correct.
        case log
        /// A file that a program opens by the public API.
        case file
        /// The text of a schema, exported or in a store's catalog.
        case schema
        /// The format of a condition.
        case predicate
    }

    private let tryInput: ([UInt8]) throws -> Bool

    /// Makes the stores that the target's inputs change.
    package init(_ kind: Kind) throws {
        switch kind {
        case .pages: tryInput = try FuzzedStore().run
        case .log: tryInput = try FuzzedLog().run
        case .file: tryInput = try FuzzedFile().run
        case .schema: tryInput = try FuzzedSchema().run
        case .predicate: tryInput = try FuzzedPredicate().run
        }
    }

    /// Returns whether the input was refused, or damage found in it. Throws what no input may lead
    /// to.
    package func run(_ input: [UInt8]) throws -> Bool { try tryInput(input) }
}
