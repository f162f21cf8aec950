import PageStore

/// The format's hash of a value's bytes, equal on every machine.
package enum ContentHash {
    package static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.withView { Checksum.hash($0, seed: 0) }
    }
}
