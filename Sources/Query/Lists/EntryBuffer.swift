/// Entries that are being packed into leaves.
struct EntryBuffer {
    private var keys = KeyBuffer()
    private var stamps: [UInt32] = []
    private var sections: [UInt32] = []

    var count: Int { keys.count }

    mutating func removeAll() {
        keys.removeAll()
        stamps.removeAll(keepingCapacity: true)
        sections.removeAll(keepingCapacity: true)
    }

    mutating func append(_ entry: ListEntry) {
        keys.append(entry.item.rawValue, key: entry.key, isWhole: entry.isKeyWhole)
        stamps.append(entry.stamp)
        sections.append(entry.section)
    }

    mutating func append(_ leaf: CountedLeaf, _ range: Range<Int>, stamp: UInt32? = nil) {
        keys.append(leaf.keys, range)
        let (known, names) = (leaf.stamps, leaf.sections)
        for index in range {
            stamps.append(stamp ?? known[index])
            sections.append(names[index])
        }
    }

    mutating func append(_ other: EntryBuffer) {
        for index in 0..<other.count { append(other, index) }
    }

    private mutating func append(_ other: EntryBuffer, _ index: Int) {
        keys.append(other.keys, index)
        stamps.append(other.stamps[index])
        sections.append(other.sections[index])
    }

    /// Applies an edit to an empty list.
    mutating func apply(_ edit: TreeEdit) {
        guard case .insert(let entry) = edit.change else {
            preconditionFailure("an empty list has no entry to change")
        }
        append(entry)
    }

    func leaf(_ range: Range<Int>) -> CountedLeaf {
        CountedLeaf(
            keys: KeyRun(keys, range), stamps: EntryMarks(stamps[range]),
            sections: EntryMarks(sections[range]))
    }

    /// Evenly filled leaves of all entries.
    func leaves(max: Int = KeyRun.entriesMax) -> [CountedLeaf] {
        Self.shares(of: count, max: max).map(leaf)
    }

    /// The fewest ranges of at most `max`, whose sizes differ by at most one.
    static func shares(of count: Int, max: Int) -> [Range<Int>] {
        guard count > 0 else { return [] }
        let pieces = (count + max - 1) / max
        return (0..<pieces).map { count * $0 / pieces..<count * ($0 + 1) / pieces }
    }
}

/// Items and stored keys of entries that are being packed.
struct KeyBuffer {
    /// The most bytes that are stored of a key, so that a long common prefix stays small.
    static let knownBytesMax = 256

    private(set) var items: [UInt64] = []
    private(set) var isCut: [Bool] = []
    private var bytes: [UInt8] = []
    /// The start of each key, and the end of the last one.
    private var starts: [Int] = [0]

    var count: Int { items.count }

    mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        isCut.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
    }

    mutating func append(_ item: UInt64, key: [UInt8], isWhole: Bool) {
        items.append(item)
        if key.count <= Self.knownBytesMax {
            isCut.append(!isWhole)
            bytes.append(contentsOf: key)
        } else {
            isCut.append(true)
            bytes.append(contentsOf: key[..<Self.knownBytesMax])
        }
        starts.append(bytes.count)
    }

    mutating func append(_ run: KeyRun, _ range: Range<Int>) {
        for index in range {
            items.append(run.item(index))
            isCut.append(run.isCut(index))
            run.append(key: index, to: &bytes)
            starts.append(bytes.count)
        }
    }

    mutating func append(_ other: KeyBuffer, _ index: Int) {
        items.append(other.items[index])
        isCut.append(other.isCut[index])
        bytes.append(contentsOf: other.bytes[other.starts[index]..<other.starts[index + 1]])
        starts.append(bytes.count)
    }

    @inline(__always)
    func keyCount(_ index: Int) -> Int { starts[index + 1] - starts[index] }

    @inline(__always)
    func appendKey(_ index: Int, _ range: Range<Int>, to target: inout [UInt8]) {
        bytes.withView { bytes in
            target.append(
                bytes.slice(from: starts[index] + range.lowerBound, count: range.count))
        }
    }

    /// How the entries of a range, which must not be empty, are best packed.
    func shape(
        of range: Range<Int>, ownMax: Int
    ) -> (
        shared: Int, base: UInt64, width: Int, ownCount: Int, firstOwn: Int, isUniform: Bool
    ) {
        let shared = sharedCount(of: range)
        var (low, high) = (UInt64.max, UInt64.min)
        var total = 0
        var isUniform = true
        let first = min(keyCount(range.lowerBound) - shared, ownMax)
        for index in range {
            let item = items[index]
            if item < low { low = item }
            if item > high { high = item }
            let own = min(keyCount(index) - shared, ownMax)
            if own != first { isUniform = false }
            total += own
        }
        let width = (71 - (high - low).leadingZeroBitCount) / 8
        return (shared, low, width, total, first, isUniform)
    }

    /// The length of the prefix that the keys of a range have in common.
    private func sharedCount(of range: Range<Int>) -> Int {
        let origin = starts[range.lowerBound]
        var shared = keyCount(range.lowerBound)
        bytes.withView { bytes in
            for index in range.dropFirst() {
                let first = bytes.slice(from: origin, count: shared)
                let key = bytes.slice(from: starts[index], count: min(shared, keyCount(index)))
                shared = key.sharedPrefixCount(with: first)
            }
        }
        return shared
    }
}
