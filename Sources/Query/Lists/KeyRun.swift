/// The packed items and sort keys of a few entries: those of a leaf, or the first ones of a
/// branch's children.
///
/// Invariants:
/// - `bytes` holds the common prefix of all keys, then `itemWidth` bytes per item (its distance
///   from `itemBase`), then each key's own bytes after the common prefix.
/// - An entry has at most `ownBytesMax` own bytes. If its key is longer, its cut bit is set, and
///   equal stored parts do not decide how two keys compare.
struct KeyRun: Sendable {
    static let ownBytesMax = 20
    static let entriesMax = 128

    private let bytes: [UInt8]
    /// The end of each key's own bytes, from the first key's start; empty if all have `stride`.
    private let ends: [UInt16]
    private let itemBase: UInt64
    private let cutBits: (low: UInt64, high: UInt64)
    private let sharedCount: Int32
    private let keysStart: Int32
    private let stride: UInt16
    private let itemWidth: UInt8
    private let entryCount: UInt8

    var count: Int { Int(entryCount) }

    /// Packs a range of a buffer's entries.
    init(_ buffer: borrowing KeyBuffer, _ range: Range<Int>) {
        precondition(range.count <= Self.entriesMax, "a run holds at most 128 entries")
        let shape = buffer.shape(of: range, ownMax: Self.ownBytesMax)
        var packed: [UInt8] = []
        packed.reserveCapacity(shape.shared + range.count * shape.width + shape.ownCount)
        buffer.appendKey(range.lowerBound, 0..<shape.shared, to: &packed)
        for index in range {
            Self.append(buffer.items[index] - shape.base, shape.width, to: &packed)
        }
        let keysStart = packed.count
        var ends: [UInt16] = []
        var cut: (low: UInt64, high: UInt64) = (0, 0)
        if !shape.isUniform { ends.reserveCapacity(range.count) }
        for index in range {
            let whole = buffer.keyCount(index) - shape.shared
            let own = min(whole, Self.ownBytesMax)
            buffer.appendKey(index, shape.shared..<shape.shared + own, to: &packed)
            if !shape.isUniform { ends.append(UInt16(packed.count - keysStart)) }
            if whole > own || buffer.isCut[index] { Self.set(index - range.lowerBound, in: &cut) }
        }
        bytes = packed
        self.ends = ends
        itemBase = shape.base
        cutBits = cut
        sharedCount = Int32(shape.shared)
        self.keysStart = Int32(keysStart)
        stride = UInt16(shape.isUniform ? shape.firstOwn : 0)
        itemWidth = UInt8(shape.width)
        entryCount = UInt8(range.count)
    }

    private init(
        like run: KeyRun, bytes: [UInt8], ends: [UInt16], cutBits: (low: UInt64, high: UInt64),
        count: Int
    ) {
        self.bytes = bytes
        self.ends = ends
        self.cutBits = cutBits
        itemBase = run.itemBase
        sharedCount = run.sharedCount
        keysStart = run.sharedCount + Int32(count * Int(run.itemWidth))
        stride = run.stride
        itemWidth = run.itemWidth
        entryCount = UInt8(count)
    }

    @inline(__always)
    private static func append(_ distance: UInt64, _ width: Int, to bytes: inout [UInt8]) {
        var shift = UInt64(8 * width)
        for _ in 0..<width {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: distance >> shift))
        }
    }

    private static func set(_ index: Int, in bits: inout (low: UInt64, high: UInt64)) {
        if index < 64 {
            bits.low |= 1 << UInt64(index)
        } else {
            bits.high |= 1 << UInt64(index - 64)
        }
    }

    // MARK: One entry

    /// The run with one more entry; nil if the entry does not fit the packing of the run.
    func inserting(_ entry: ListEntry, at index: Int) -> KeyRun? {
        let (shared, width) = (Int(sharedCount), Int(itemWidth))
        let item = entry.item.rawValue
        guard item >= itemBase, width == 8 || (item - itemBase) >> UInt64(8 * width) == 0,
            entry.key.count >= shared, entry.key.count <= KeyBuffer.knownBytesMax,
            count < Self.entriesMax
        else { return nil }
        for offset in 0..<shared where bytes[offset] != entry.key[offset] { return nil }
        let own = min(entry.key.count - shared, Self.ownBytesMax)
        if ends.isEmpty && own != Int(stride) { return nil }
        let place = index == count ? bytes.count : ownRange(index).lowerBound
        var packed: [UInt8] = []
        packed.reserveCapacity(bytes.count + width + own)
        packed.append(contentsOf: bytes[..<(shared + index * width)])
        Self.append(item - itemBase, width, to: &packed)
        packed.append(contentsOf: bytes[(shared + index * width)..<place])
        packed.append(contentsOf: entry.key[shared..<shared + own])
        packed.append(contentsOf: bytes[place...])
        var ends = ends
        if !ends.isEmpty {
            ends.insert(UInt16(place - Int(keysStart)), at: index)
            for later in index..<ends.count { ends[later] += UInt16(own) }
        }
        var bits = shiftedBits(from: index, up: true)
        if !entry.isKeyWhole || entry.key.count - shared > own { Self.set(index, in: &bits) }
        return KeyRun(like: self, bytes: packed, ends: ends, cutBits: bits, count: count + 1)
    }

    func removing(at index: Int) -> KeyRun {
        let (shared, width) = (Int(sharedCount), Int(itemWidth))
        let own = ownRange(index)
        var packed: [UInt8] = []
        packed.reserveCapacity(bytes.count - width - own.count)
        packed.append(contentsOf: bytes[..<(shared + index * width)])
        packed.append(contentsOf: bytes[(shared + (index + 1) * width)..<own.lowerBound])
        packed.append(contentsOf: bytes[own.upperBound...])
        var ends = ends
        if !ends.isEmpty {
            ends.remove(at: index)
            for later in index..<ends.count { ends[later] -= UInt16(own.count) }
        }
        return KeyRun(
            like: self, bytes: packed, ends: ends,
            cutBits: shiftedBits(from: index, up: false), count: count - 1)
    }

    /// The cut bits with one more entry at an index, or without the entry at it.
    private func shiftedBits(from index: Int, up: Bool) -> (low: UInt64, high: UInt64) {
        if cutBits == (0, 0) { return cutBits }
        var bits: (low: UInt64, high: UInt64) = (0, 0)
        for position in 0..<count where isCut(position) {
            if position < index {
                Self.set(position, in: &bits)
            } else if up {
                Self.set(position + 1, in: &bits)
            } else if position > index {
                Self.set(position - 1, in: &bits)
            }
        }
        return bits
    }

    // MARK: Entries

    func item(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "an index is outside its run")
        let width = Int(itemWidth)
        var offset = Int(sharedCount) + index * width
        var distance: UInt64 = 0
        for _ in 0..<width {
            distance = distance << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return itemBase + distance
    }

    func isCut(_ index: Int) -> Bool {
        index < 64
            ? cutBits.low >> UInt64(index) & 1 == 1 : cutBits.high >> UInt64(index - 64) & 1 == 1
    }

    private func ownRange(_ index: Int) -> Range<Int> {
        let start = Int(keysStart)
        if ends.isEmpty {
            let width = Int(stride)
            return start + index * width..<start + (index + 1) * width
        }
        return (index == 0 ? start : start + Int(ends[index - 1]))..<start + Int(ends[index])
    }

    /// Appends the stored part of a key.
    func append(key index: Int, to buffer: inout [UInt8]) {
        let own = ownRange(index)
        bytes.withView { bytes in
            buffer.append(bytes.slice(from: 0, count: Int(sharedCount)))
            buffer.append(bytes.slice(from: own.lowerBound, count: own.count))
        }
    }

    /// Whether two entries certainly have the same key.
    static func haveSameKey(_ left: KeyRun, _ i: Int, _ right: KeyRun, _ j: Int) -> Bool {
        guard !left.isCut(i), !right.isCut(j) else { return false }
        var (a, b): ([UInt8], [UInt8]) = ([], [])
        left.append(key: i, to: &a)
        right.append(key: j, to: &b)
        return a == b
    }

    /// Whether the first entries of two runs have the same item and the same stored key.
    static func areSame(_ left: KeyRun, _ right: KeyRun) -> Bool {
        guard left.item(0) == right.item(0), left.isCut(0) == right.isCut(0) else { return false }
        let (leftOwn, rightOwn) = (left.ownRange(0), right.ownRange(0))
        let (leftShared, rightShared) = (Int(left.sharedCount), Int(right.sharedCount))
        guard leftShared + leftOwn.count == rightShared + rightOwn.count else { return false }
        for offset in 0..<leftShared + leftOwn.count {
            let place = offset < leftShared ? offset : leftOwn.lowerBound + offset - leftShared
            let other = offset < rightShared ? offset : rightOwn.lowerBound + offset - rightShared
            if left.bytes[place] != right.bytes[other] { return false }
        }
        return true
    }

    /// Whether the stored part of a key proves that it differs from `key`.
    func isCertainlyOther(_ index: Int, than key: [UInt8]) -> Bool {
        var known: [UInt8] = []
        append(key: index, to: &known)
        return isCut(index) ? !key.starts(with: known) : key != known
    }

    /// The memory of the run in bytes, including its own size.
    var sizeInBytes: Int {
        MemoryLayout<Self>.size + (bytes.isEmpty ? 0 : 32 + bytes.count)
            + (ends.isEmpty ? 0 : 32 + 2 * ends.count)
    }

    // MARK: Search

    /// The first entry that does not precede the probe.
    ///
    /// - Parameter start: an index up to which all entries are known to precede the probe.
    /// - Parameter wholeKey: reads the key of an item whose stored part the probe's key begins
    ///   with.
    func lowerBound<Failure: Error>(
        _ probe: ListProbe, from start: Int = 0,
        _ wholeKey: (ListItem) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Int {
        if let isBefore = prefixIsBefore(probe) { return isBefore ? count : start }
        var (low, high) = (start, count)
        while low < high {
            let middle = (low + high) / 2
            if try precedes(middle, probe, wholeKey) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether an entry precedes a probe.
    func isEntry<Failure: Error>(
        _ index: Int, before probe: ListProbe,
        _ wholeKey: (ListItem) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Bool {
        if let isBefore = prefixIsBefore(probe) { return isBefore }
        return try precedes(index, probe, wholeKey)
    }

    /// Whether all entries precede a probe, or none; nil if its key has the common prefix.
    private func prefixIsBefore(_ probe: ListProbe) -> Bool? {
        let shared = Int(sharedCount)
        for offset in 0..<min(shared, probe.key.count) where bytes[offset] != probe.key[offset] {
            return bytes[offset] < probe.key[offset]
        }
        return probe.key.count < shared ? false : nil
    }

    /// Whether an entry precedes a probe whose key has the common prefix.
    private func precedes<Failure: Error>(
        _ index: Int, _ probe: ListProbe, _ wholeKey: (ListItem) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Bool {
        let own = ownRange(index)
        let shared = Int(sharedCount)
        let rest = probe.key.count - shared
        let count = min(own.count, rest)
        let order = bytes.withView { bytes in
            probe.key.withView { key in
                bytes.slice(from: own.lowerBound, count: count)
                    .compare(key.slice(from: shared, count: count))
            }
        }
        if order != 0 { return order < 0 }
        let item = ListItem(rawValue: item(index))
        guard isCut(index), own.count < rest else {
            if own.count != rest || isCut(index) { return own.count < rest }
            return item < probe.item
        }
        if probe.isInList && item == probe.item { return false }
        let key = try wholeKey(item)
        return Self.precedes(key, item, probe)
    }

    private static func precedes(_ key: [UInt8], _ item: ListItem, _ probe: ListProbe) -> Bool {
        key == probe.key ? item < probe.item : key.lexicographicallyPrecedes(probe.key)
    }
}
