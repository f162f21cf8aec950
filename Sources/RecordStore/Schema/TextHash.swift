import PageStore

/// The format's hash of a text, the same on every machine.
package enum TextHash {
    package static func hash(_ text: String, seed: UInt64) -> UInt64 {
        Array(text.utf8).withView { Checksum.hash($0, seed: seed) }
    }
}
