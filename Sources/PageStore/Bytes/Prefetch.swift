import CPrefetch

// Most lookups find their pages in memory, but few of their lines in the processor's cache: what
// will be read for certain is asked for all at once, and not one line after the other.

extension PageBuffer {
    /// Asks memory for what every lookup reads of a node: its header, and its first slots.
    @inline(__always)
    func prefetchHead() {
        prefetchLine(0)
        prefetchLine(64)
    }

    /// Asks memory for the line that a byte is in, and for some behind it.
    @inline(__always)
    func prefetch(from byteOffset: Int, lineCount: Int) {
        for line in 0..<lineCount { prefetchLine(byteOffset &+ 64 &* line) }
    }

    @inline(__always)
    private func prefetchLine(_ byteOffset: Int) {
        // Safety: nothing is read here, and asking for an address outside of the page does no harm.
        let address = unsafe UInt(bitPattern: base) &+ UInt(bitPattern: byteOffset)
        unsafe trellis_prefetch(UnsafeRawPointer(bitPattern: address))
    }
}
