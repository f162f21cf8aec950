import PageStore

/// A set of entries in a few bytes: how many there are, and the sum of their hashes. Two sides that
/// must hold the same are compared by it, in whatever order each holds them; only where they
/// differ is anything looked up.
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
