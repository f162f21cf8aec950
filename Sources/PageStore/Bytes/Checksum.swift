import CXXHash

/// XXH64, the one hash of the format.
package enum Checksum {
    @inlinable
    package static func hash(_ bytes: ByteView, seed: UInt64) -> UInt64 {
        // Safety: a view's bytes are readable for its count.
        unsafe hashBytes(bytes.base, bytes.count, seed)
    }

    @usableFromInline
    static func hashBytes(_ base: UnsafeRawPointer, _ count: Int, _ seed: UInt64) -> UInt64 {
        // Safety: `hash` alone calls, with a view's bytes.
        unsafe XXH64(base, count, seed)
    }
}
