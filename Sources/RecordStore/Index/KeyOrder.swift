import PageStore

/// A stable sort of keys that are in one buffer, one after the other in the order in which they
/// were added; none is empty. The entries are sorted in place, and a later order reuses their
/// memory.
///
/// The next eight bytes of every key form a number. Entries are exchanged until these numbers are
/// in order, by the first of their bytes that differs and then within each part by the next one,
/// without reading the keys. Keys with equal numbers are sorted by the following eight bytes.
struct KeyOrder {
    struct Entry {
        /// The eight bytes that are compared now, big-endian; padded with zeros after a key's end.
        fileprivate var head: UInt64
        fileprivate(set) var start: Int
        fileprivate(set) var count: Int32
        /// The caller's position of the key.
        fileprivate(set) var index: Int32
    }

    /// Entries whose keys have the same bytes before those that the heads have.
    private struct Part {
        var range: Range<Int>
        var depth: Int
    }

    private(set) var entries: [Entry] = []
    /// Parts that are not sorted yet. A list, because the depth of a recursion would grow with the
    /// beginnings that keys have in common.
    private var parts: [Part] = []
    /// Where each byte's entries begin and end, in a part that is sorted by it.
    private var starts: [Int] = []
    private var ends: [Int] = []

    /// Shorter parts use insertion sort.
    private static var partCountMin: Int { 48 }

    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// - Parameters:
    ///   - start: where the key is in the buffer, behind all that were added before.
    ///   - bytes: the buffer, which may grow before the keys are sorted.
    mutating func append(start: Int, count: Int, index: Int, in bytes: ByteView) {
        entries.append(
            Entry(
                head: Self.head(start, count, depth: 0, bytes), start: start, count: Int32(count),
                index: Int32(index)))
    }

    mutating func sort(in bytes: ByteView) {
        parts = [Part(range: 0..<entries.count, depth: 0)]
        while let part = parts.popLast() { sort(part, bytes) }
    }

    private static func head(_ start: Int, _ count: Int, depth: Int, _ bytes: ByteView) -> UInt64 {
        if depth + 8 <= count { return bytes.bigEndianUInt64(at: start + depth) }
        var head: UInt64 = 0
        for offset in 0..<8 {
            let byte = depth + offset < count ? bytes[start + depth + offset] : 0
            head = head << 8 | UInt64(byte)
        }
        return head
    }

    /// Whether a key sorts after another; the bytes before `depth` are equal.
    private static func follows(
        _ left: Entry, _ right: Entry, depth: Int, _ bytes: ByteView
    ) -> Bool {
        if left.head != right.head { return left.head > right.head }
        let skipped = min(depth, Int(left.count), Int(right.count))
        let order = bytes.slice(from: left.start + skipped, count: Int(left.count) - skipped)
            .compare(
                bytes.slice(from: right.start + skipped, count: Int(right.count) - skipped))
        return order == 0 ? left.start > right.start : order > 0
    }

    private func isSorted(_ part: Part, _ bytes: ByteView) -> Bool {
        var index = part.range.lowerBound + 1
        while index < part.range.upperBound {
            if Self.follows(entries[index - 1], entries[index], depth: part.depth, bytes) {
                return false
            }
            index += 1
        }
        return true
    }

    private mutating func sort(_ part: Part, _ bytes: ByteView) {
        guard part.range.count >= Self.partCountMin else { return insertionSort(part, bytes) }
        if isSorted(part, bytes) { return }
        let first = entries[part.range.lowerBound].head
        var varying: UInt64 = 0
        for index in part.range { varying |= entries[index].head ^ first }
        guard varying > 0 else { return sortEqualHeads(part, bytes) }
        let shift = UInt64(56 - varying.leadingZeroBitCount / 8 * 8)
        exchange(part.range, shift)
        var start = part.range.lowerBound
        for end in ends where end > start {
            let range = start..<end
            start = end
            if range.count >= Self.partCountMin {
                parts.append(Part(range: range, depth: part.depth))
            } else if range.count > 1 {
                insertionSort(Part(range: range, depth: part.depth), bytes)
            }
        }
    }

    private mutating func sortEqualHeads(_ part: Part, _ bytes: ByteView) {
        let depth = part.depth + 8
        var goesOn = false
        for index in part.range {
            let entry = entries[index]
            goesOn = goesOn || Int(entry.count) > depth
            entries[index].head = Self.head(entry.start, Int(entry.count), depth: depth, bytes)
        }
        // Keys that differ only in trailing zero bytes are ordered by length.
        guard !goesOn else { return parts.append(Part(range: part.range, depth: depth)) }
        entries[part.range].sort { ($0.count, $0.start) < ($1.count, $1.start) }
    }

    private mutating func insertionSort(_ part: Part, _ bytes: ByteView) {
        for position in part.range.dropFirst() {
            let entry = entries[position]
            var hole = position
            while hole > part.range.lowerBound,
                Self.follows(entries[hole - 1], entry, depth: part.depth, bytes)
            {
                entries[hole] = entries[hole - 1]
                hole -= 1
            }
            entries[hole] = entry
        }
    }

    /// Puts the entries in the order of one byte of their heads, in place: each entry that is
    /// displaced takes the next place of its byte.
    private mutating func exchange(_ range: Range<Int>, _ shift: UInt64) {
        if starts.isEmpty {
            starts = Array(repeating: 0, count: 256)
            ends = starts
        }
        for digit in 0..<256 { ends[digit] = 0 }
        for index in range { ends[Self.digit(entries[index], shift)] += 1 }
        var sum = range.lowerBound
        for digit in 0..<256 {
            starts[digit] = sum
            sum += ends[digit]
            ends[digit] = sum
        }
        for digit in 0..<256 {
            while starts[digit] < ends[digit] {
                var entry = entries[starts[digit]]
                var place = Self.digit(entry, shift)
                while place != digit {
                    let target = starts[place]
                    (entry, entries[target]) = (entries[target], entry)
                    starts[place] = target + 1
                    place = Self.digit(entry, shift)
                }
                entries[starts[digit]] = entry
                starts[digit] += 1
            }
        }
    }

    private static func digit(_ entry: Entry, _ shift: UInt64) -> Int {
        Int(entry.head >> shift & 0xFF)
    }
}
