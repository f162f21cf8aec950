import PageStore

/// A stable sort of keys that are in one buffer, eight bytes at a time.
///
/// The next eight bytes of every key form a number. A radix sort orders these numbers without
/// reading the keys; keys with equal numbers are sorted by the following eight bytes.
struct KeyOrder {
    struct Entry {
        /// The eight bytes that are compared now, big-endian; padded with zeros after a key's end.
        var head: UInt64
        var start: Int
        var count: Int32
        /// The caller's position of the key.
        var index: Int32
    }

    /// Memory that one order passes to the next, so that large orders allocate none.
    struct Memory {
        fileprivate(set) var entries: [Entry] = []
        fileprivate var scratch: [Entry] = []

        /// Moves the memory out, so that it has a single owner while it is filled.
        fileprivate mutating func take() -> Memory {
            defer { self = Memory() }
            return self
        }
    }

    private(set) var entries: [Entry]
    private var scratch: [Entry]
    private let bytes: ByteView

    /// Shorter ranges use insertion sort.
    private static var radixCountMin: Int { 48 }

    /// - Parameter bytes: the buffer that holds the keys; its owner must outlive the order.
    init(_ bytes: ByteView, capacity: Int) {
        var memory = Memory()
        self.init(bytes, capacity: capacity, memory: &memory)
    }

    /// An order in reused memory, which ``leave(in:)`` returns.
    init(_ bytes: ByteView, capacity: Int, memory: inout Memory) {
        self.bytes = bytes
        let taken = memory.take()
        (entries, scratch) = (taken.entries, taken.scratch)
        entries.removeAll(keepingCapacity: true)
        entries.reserveCapacity(capacity)
    }

    /// Returns the memory, with the entries in order.
    consuming func leave(in memory: inout Memory) {
        memory = Memory(entries: entries, scratch: scratch)
    }

    mutating func append(start: Int, count: Int, index: Int) {
        entries.append(
            Entry(
                head: head(start, count, depth: 0), start: start, count: Int32(count),
                index: Int32(index)))
    }

    mutating func sort() { sort(0..<entries.count, depth: 0) }

    private func head(_ start: Int, _ count: Int, depth: Int) -> UInt64 {
        if depth + 8 <= count { return bytes.bigEndianUInt64(at: start + depth) }
        var head: UInt64 = 0
        for offset in 0..<8 {
            let byte = depth + offset < count ? bytes[start + depth + offset] : 0
            head = head << 8 | UInt64(byte)
        }
        return head
    }

    /// Whether a key sorts after another; the bytes before `depth` are equal.
    private func follows(_ left: Entry, _ right: Entry, depth: Int) -> Bool {
        if left.head != right.head { return left.head > right.head }
        let skipped = min(depth, Int(left.count), Int(right.count))
        return bytes.slice(from: left.start + skipped, count: Int(left.count) - skipped)
            .compare(
                bytes.slice(from: right.start + skipped, count: Int(right.count) - skipped)) > 0
    }

    private func isSorted(_ range: Range<Int>, depth: Int) -> Bool {
        var index = range.lowerBound + 1
        while index < range.upperBound {
            if follows(entries[index - 1], entries[index], depth: depth) { return false }
            index += 1
        }
        return true
    }

    private mutating func sort(_ range: Range<Int>, depth: Int) {
        if isSorted(range, depth: depth) { return }
        guard range.count >= Self.radixCountMin else {
            insertionSort(range, depth: depth)
            return
        }
        radixSort(range)
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start + 1
            while end < range.upperBound && entries[end].head == entries[start].head { end += 1 }
            if end - start > 1 { sortEqualHeads(start..<end, depth: depth + 8) }
            start = end
        }
    }

    private mutating func sortEqualHeads(_ range: Range<Int>, depth: Int) {
        var goesOn = false
        for index in range {
            let entry = entries[index]
            goesOn = goesOn || Int(entry.count) > depth
            entries[index].head = head(entry.start, Int(entry.count), depth: depth)
        }
        // Keys that differ only in trailing zero bytes are ordered by length.
        if goesOn {
            sort(range, depth: depth)
        } else {
            insertionSort(range, depth: 0)
        }
    }

    private mutating func insertionSort(_ range: Range<Int>, depth: Int) {
        for position in range.dropFirst() {
            let entry = entries[position]
            var hole = position
            while hole > range.lowerBound, follows(entries[hole - 1], entry, depth: depth) {
                entries[hole] = entries[hole - 1]
                hole -= 1
            }
            entries[hole] = entry
        }
    }

    /// Sorts by the heads, from the last byte to the first; skips bytes that are equal in all.
    private mutating func radixSort(_ range: Range<Int>) {
        let first = entries[range.lowerBound].head
        var varying: UInt64 = 0
        for index in range { varying |= entries[index].head ^ first }
        if scratch.count < range.count {
            scratch = Array(
                repeating: Entry(head: 0, start: 0, count: 0, index: 0), count: range.count)
        }
        var offsets = [Int](repeating: 0, count: 256)
        for shift in stride(from: UInt64(0), to: 64, by: 8) where varying >> shift & 0xFF != 0 {
            for digit in 0..<256 { offsets[digit] = 0 }
            for index in range { offsets[Int(entries[index].head >> shift & 0xFF)] += 1 }
            var sum = 0
            for digit in 0..<256 { (offsets[digit], sum) = (sum, sum + offsets[digit]) }
            for index in range {
                let entry = entries[index]
                let digit = Int(entry.head >> shift & 0xFF)
                scratch[offsets[digit]] = entry
                offsets[digit] += 1
            }
            for offset in 0..<range.count { entries[range.lowerBound + offset] = scratch[offset] }
        }
    }
}
