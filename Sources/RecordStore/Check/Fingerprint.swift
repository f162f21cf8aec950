import PageStore

/// A summary of a set of entries: their count, and the sum of their hashes. It compares two sides
/// that must hold the same entries, each in any order; only if the summaries differ are the entries
/// compared.
struct Fingerprint: Equatable {
    private(set) var count = 0
    private var sum: UInt64 = 0

    mutating func add(_ bytes: ByteView, _ number: ObjectNumber) {
        count += 1
        sum &+= Checksum.hash(bytes, seed: number.rawValue)
    }

    mutating func add(_ other: Fingerprint) {
        count += other.count
        sum &+= other.sum
    }

    mutating func add(_ first: ObjectNumber, _ second: ObjectNumber) {
        let bytes = InlineArray<8, UInt8> { index in
            UInt8(truncatingIfNeeded: first.rawValue >> UInt64(8 * index))
        }
        bytes.span.withView { add($0, second) }
    }
}
