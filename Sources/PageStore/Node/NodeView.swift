/// A tree node as it lies in its page.
///
/// A view is made only of a page that `PageCheck` accepted when it entered the cache or that the
/// tree itself has built, so its offsets and sizes lead inside the page. That is the proof for
/// the unchecked loads below; indices that come from a caller are checked against the node.
@safe
package struct NodeView {
    package let page: PageBuffer

    @inline(__always)
    init(validated page: PageBuffer) { self.page = page }

    @inline(__always)
    private func load<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, _ byteOffset: Int
    ) -> Number {
        assert(byteOffset >= 0 && byteOffset + MemoryLayout<Number>.size <= page.count)
        // Safety: header fields lie in every page, and `PageCheck` proved the other offsets.
        return unsafe Number(
            littleEndian: page.base.loadUnaligned(fromByteOffset: byteOffset, as: Number.self))
    }

    @inline(__always)
    private func view(_ byteOffset: Int, _ byteCount: Int) -> ByteView {
        assert(byteOffset >= 0 && byteCount >= 0 && byteOffset + byteCount <= page.count)
        // Safety: as for `load`.
        return unsafe ByteView(
            unsafeBase: UnsafeRawPointer(page.base) + byteOffset, count: byteCount)
    }

    // MARK: Header

    @inline(__always) var isLeaf: Bool { load(UInt8.self, 0) == PageKind.treeLeaf.rawValue }
    @inline(__always) var level: Int { Int(load(UInt8.self, NodeLayout.level)) }
    @inline(__always) var slotCount: Int { Int(load(UInt16.self, NodeLayout.slotCount)) }
    @inline(__always) var prefixSize: Int { Int(load(UInt16.self, NodeLayout.prefixSize)) }
    @inline(__always) private var lowerSize: Int {
        Int(load(UInt16.self, NodeLayout.lowerFenceSize))
    }
    @inline(__always) private var upperSize: Int {
        Int(load(UInt16.self, NodeLayout.upperFenceSize))
    }
    @inline(__always) var heapSize: Int { Int(load(UInt16.self, NodeLayout.heapSize)) }
    @inline(__always) var garbageSize: Int { Int(load(UInt16.self, NodeLayout.garbageSize)) }
    @inline(__always) var slotsStart: Int {
        NodeLayout.slotsStart(fencesSize: lowerSize &+ upperSize)
    }

    /// Every key of the node begins with these bytes.
    var prefix: ByteView { view(NodeLayout.fences, prefixSize) }
    /// The least key that may stand in the node.
    var lowerFence: ByteView { view(NodeLayout.fences, lowerSize) }
    /// Keys of the node are less than this; empty when there is no such bound.
    var upperFence: ByteView { view(NodeLayout.fences + lowerSize, upperSize) }

    // MARK: Slots

    @inline(__always)
    private func slot(_ index: Int, start: Int) -> UInt64 {
        load(UInt64.self, start &+ index &* NodeLayout.slotSize)
    }

    @inline(__always)
    private func checkedSlot(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < slotCount, "a slot is outside its node")
        return slot(index, start: slotsStart)
    }

    @inline(__always)
    func cellOffset(_ index: Int) -> Int {
        Int(UInt16(truncatingIfNeeded: checkedSlot(index) >> 32))
    }

    /// The key after the prefix.
    @inline(__always)
    func suffix(_ index: Int) -> ByteView {
        let slot = checkedSlot(index)
        return view(
            Int(UInt16(truncatingIfNeeded: slot >> 32)) &+ NodeLayout.cellKey, Int(slot >> 48))
    }

    @inline(__always)
    private func valueField(_ index: Int) -> (start: Int, field: UInt16) {
        let slot = checkedSlot(index)
        let cell = Int(UInt16(truncatingIfNeeded: slot >> 32))
        return (
            cell &+ NodeLayout.cellKey &+ Int(slot >> 48),
            load(UInt16.self, cell &+ NodeLayout.cellValueSize)
        )
    }

    /// The value's bytes in this page: the value, or the reference to it.
    @inline(__always)
    func storedValue(_ index: Int) -> ByteView {
        let (start, field) = valueField(index)
        return view(start, Int(field & ~NodeLayout.overflowFlag))
    }

    @inline(__always)
    func isOverflowValue(_ index: Int) -> Bool {
        valueField(index).field & NodeLayout.overflowFlag != 0
    }

    @inline(__always)
    func cellSize(_ index: Int) -> Int {
        let slot = checkedSlot(index)
        let field = load(UInt16.self, Int(UInt16(truncatingIfNeeded: slot >> 32)))
        return NodeLayout.cellKey &+ Int(slot >> 48) &+ Int(field & ~NodeLayout.overflowFlag)
    }

    /// Prefetches a cell whose value will be read, up to a size that few records exceed.
    @inline(__always)
    func prefetchCell(_ index: Int) {
        ImageAddress(page).prefetch(from: cellOffset(index), lineCount: 6)
    }

    /// The child for keys from a slot's key on; -1 names the child before the first slot.
    @inline(__always)
    func child(_ index: Int) -> PageID {
        guard index >= 0 else { return PageID(load(UInt64.self, NodeLayout.firstChild)) }
        return PageID(load(UInt64.self, valueField(index).start))
    }

    /// Puts a slot's whole key together in a scratch page; returns its size.
    @inline(__always)
    func copyKey(_ index: Int, into scratch: PageBuffer) -> Int {
        let slot = checkedSlot(index)
        let prefixSize = prefixSize
        let suffixSize = Int(slot >> 48)
        precondition(prefixSize &+ suffixSize <= scratch.count, "a key is longer than its scratch")
        let cell = Int(UInt16(truncatingIfNeeded: slot >> 32))
        // Safety: the line above proves the targets; `PageCheck` proved prefix and suffix.
        unsafe copyInSteps(page.base + NodeLayout.fences, scratch.base, prefixSize)
        unsafe copyInSteps(
            page.base + cell + NodeLayout.cellKey, scratch.base + prefixSize, suffixSize)
        return prefixSize &+ suffixSize
    }

    /// A copy of a few bytes without a call, before which the page would have to be retained.
    @inline(__always)
    private func copyInSteps(
        _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
    ) {
        // Safety: the caller proved that both hold `count` bytes; no step passes them.
        var position = 0
        while position &+ 8 <= count {
            let word = unsafe source.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            unsafe target.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
            position &+= 8
        }
        while position < count {
            let byte = unsafe source.load(fromByteOffset: position, as: UInt8.self)
            unsafe target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
            position &+= 1
        }
    }

    // MARK: Search

    /// The first slot whose key is not less than `key`, and whether it is equal.
    ///
    /// The key has the node's prefix (`begins(_:)`). Heads are compared first, without branches on
    /// their values; only keys whose heads are equal are compared in full.
    func search(_ key: ByteView) -> (index: Int, isEqual: Bool) {
        let rest = key.dropFirst(prefixSize)
        let head = NodeView.head(of: rest)
        let start = slotsStart
        let end = slotCount
        if rest.count <= 4, end > 0,
            let index = gaplessSlot(head, size: rest.count, start: start, end: end)
        {
            return (index, true)
        }
        if rest.count > 4, rest.count <= 8, !isLeaf {
            return searchByNumber(rest, start: start, end: end)
        }
        var index = lowerBound(head, start: start, from: 0, to: end)
        guard index < end, headAt(index, start: start) == head else {
            return (index, false)
        }
        let order = compare(slot(index, start: start), rest)
        if order >= 0 { return (index, order == 0) }
        index &+= 1
        // Others with this head follow: texts that begin alike. A step too far does no harm.
        var upper = index
        var step = 8
        while upper < end, headAt(upper, start: start) == head {
            upper &+= step
            step &*= 2
        }
        return searchInFull(rest, start: start, from: index, to: min(upper, end))
    }

    /// Searches from a slot before which all keys are less, one slot after the other: for many keys
    /// in their order.
    func search(_ key: ByteView, from first: Int) -> (index: Int, isEqual: Bool) {
        let rest = key.dropFirst(prefixSize)
        let head = NodeView.head(of: rest)
        let start = slotsStart
        let end = slotCount
        var index = max(first, 0)
        while index < end, headAt(index, start: start) < head { index &+= 1 }
        while index < end, headAt(index, start: start) == head {
            let order = compare(slot(index, start: start), rest)
            if order >= 0 { return (index, order == 0) }
            index &+= 1
        }
        return (index, false)
    }

    /// Searches a range of slots by whole keys. The range is cut in four, because three cache
    /// misses at once take hardly longer than one.
    private func searchInFull(
        _ rest: ByteView, start: Int, from first: Int, to end: Int
    ) -> (index: Int, isEqual: Bool) {
        var low = first
        var high = end
        while low < high {
            let middle = (low &+ high) >> 1
            let quarter = (high &- low) >> 2
            let left = low &+ quarter
            let right = middle &+ quarter
            let leftOrder = compare(slot(left, start: start), rest)
            let order = compare(slot(middle, start: start), rest)
            let rightOrder = compare(slot(right, start: start), rest)
            if order == 0 { return (middle, true) }
            if order < 0 {
                if rightOrder == 0 { return (right, true) }
                low = rightOrder < 0 ? right &+ 1 : middle &+ 1
                high = rightOrder < 0 ? high : right
            } else {
                if leftOrder == 0 { return (left, true) }
                low = leftOrder < 0 ? left &+ 1 : low
                high = leftOrder < 0 ? middle : left
            }
        }
        return (low, false)
    }

    /// Searches a branch at an edge of its tree by interpolation. Its keys share no prefix, so the
    /// heads of numbers are alike, but numbers stand about as far from the first as they are above
    /// it.
    private func searchByNumber(
        _ rest: ByteView, start: Int, end: Int
    ) -> (index: Int, isEqual: Bool) {
        let number = rest.leadingNumber
        func isLess(_ index: Int) -> Bool {
            let suffix = suffix(index)
            let other = suffix.leadingNumber
            return other < number || (other == number && suffix.count < rest.count)
        }
        var low = 0
        var high = end
        var probe = 0
        if end > 2 {
            let least = suffix(0).leadingNumber
            let greatest = suffix(end &- 1).leadingNumber
            if least < number && number < greatest {
                let share = Double(number &- least) / Double(greatest &- least)
                probe = Int(share * Double(end &- 1))
            } else {
                probe = number >= greatest ? end &- 1 : 0
            }
        }
        var width = 1
        while low < high {
            if isLess(probe) {
                low = probe &+ 1
                probe = min(probe &+ width, high &- 1)
            } else {
                high = probe
                probe = max(probe &- width, low)
            }
            width = min(width &* 2, max((high &- low) / 2, 1))
        }
        guard low < end else { return (low, false) }
        let found = suffix(low)
        return (low, found.count == rest.count && found.leadingNumber == number)
    }

    /// The slot of a key that is all in its head, if it is as far from the first slot as the key is
    /// above the first key. Numbers of records, which have few gaps, are: looking there first waits
    /// for one line of slots, and a bisection for several.
    @inline(__always)
    private func gaplessSlot(_ head: UInt32, size: Int, start: Int, end: Int) -> Int? {
        let first = slot(0, start: start)
        // Keys that the sought one is only the beginning of stand elsewhere.
        guard Int(first >> 48) == size else { return nil }
        let distance = Int(head &- UInt32(truncatingIfNeeded: first)) >> (32 &- 8 &* size)
        guard distance < end else { return nil }
        let slot = slot(distance, start: start)
        // The head repeats the whole of a key that is no longer than it is.
        let isFound = UInt32(truncatingIfNeeded: slot) == head && Int(slot >> 48) == size
        return isFound ? distance : nil
    }

    /// The slot of the child that covers a key, -1 for the first child.
    @inline(__always)
    func childIndex(_ key: ByteView) -> Int {
        let (index, isEqual) = search(key)
        return isEqual ? index : index &- 1
    }

    /// The first slot from `first` on whose head is not less.
    @inline(__always)
    private func lowerBound(_ head: UInt32, start: Int, from first: Int, to end: Int) -> Int {
        var low = first
        var count = end &- first
        if count > NodeView.guessSlotCountMin {
            (low, count) = narrowed(head, start: start, from: first, to: end)
        }
        while count > 1 {
            let half = count >> 1
            let probe = headAt(low &+ half &- 1, start: start)
            // A mask instead of a branch: which way a search goes cannot be predicted.
            low &+= half & (0 &- (probe < head ? 1 : 0))
            count &-= half
        }
        if count == 1, headAt(low, start: start) < head { low &+= 1 }
        return low
    }

    /// Fewer slots than this lie in a few lines of the processor's cache: bisecting them is
    /// cheaper than guessing.
    private static var guessSlotCountMin: Int { 32 }

    /// A range of slots that holds the lower bound, found by guessing where a head should stand
    /// if heads were evenly spread, and widening the guess while it is wrong. A bisection of a
    /// large page waits for memory at each of its first steps; a good guess waits twice.
    @inline(__always)
    private func narrowed(
        _ head: UInt32, start: Int, from first: Int, to end: Int
    ) -> (low: Int, count: Int) {
        let least = headAt(first, start: start)
        if head <= least { return (first, 0) }
        // The upper fence is mostly hardly above the last key, and lies in a line that was read
        // already. Where a writer set it far ahead the guess falls short, and is widened.
        let fence = upperFence
        let greatest =
            fence.isEmpty
            ? headAt(end &- 1, start: start) : NodeView.head(of: fence.dropFirst(prefixSize))
        if head > greatest { return (end, 0) }
        // From here on least < head <= greatest, so the divisor is not zero.
        let span = UInt64(end &- 1 &- first)
        let guess = first &+ Int(UInt64(head &- least) &* span / UInt64(greatest &- least))
        ImageAddress(page).prefetch(from: start &+ guess &* NodeLayout.slotSize, lineCount: 1)
        var low = first
        var high = end &- 1
        var width = 8
        while low < high {
            let left = guess &- width
            let right = guess &+ width
            let isLeftBelow = left <= low || headAt(left, start: start) < head
            let isRightAbove = right >= high || headAt(right, start: start) >= head
            if isLeftBelow && left > low { low = left &+ 1 }
            if isRightAbove && right < high { high = right }
            if isLeftBelow && isRightAbove { break }
            if !isLeftBelow { high = left }
            if !isRightAbove { low = right &+ 1 }
            width &*= 4
        }
        return (low, high &- low &+ 1)
    }

    @inline(__always)
    private func headAt(_ index: Int, start: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: slot(index, start: start))
    }

    @inline(__always)
    private func compare(_ slot: UInt64, _ rest: ByteView) -> Int {
        let cell = Int(UInt16(truncatingIfNeeded: slot >> 32))
        return view(cell &+ NodeLayout.cellKey, Int(slot >> 48)).compareInSteps(rest)
    }

    /// Whether a slot's key after the prefix begins with these bytes. Short ones are all in the
    /// slot, so that no cell is waited for.
    @inline(__always)
    func isSuffix(_ index: Int, behind rest: ByteView) -> Bool {
        guard rest.count <= 4 else { return suffix(index).hasPrefix(rest) }
        let slot = checkedSlot(index)
        guard Int(slot >> 48) >= rest.count else { return false }
        let difference = UInt64(UInt32(truncatingIfNeeded: slot) ^ NodeView.head(of: rest))
        return difference >> UInt64(32 &- 8 &* rest.count) == 0
    }

    /// Whether a key has the node's prefix.
    @inline(__always)
    func begins(_ key: ByteView) -> Bool {
        let size = prefixSize
        guard size > 0 else { return true }
        guard key.count >= size else { return false }
        return view(NodeLayout.fences, size).compareInSteps(key.slice(from: 0, count: size)) == 0
    }

    /// The first four bytes as a big-endian number, padded with zeros.
    @inline(__always)
    static func head(of rest: ByteView) -> UInt32 {
        if rest.count >= 4 { return rest.uint32(at: 0).byteSwapped }
        var head: UInt32 = 0
        for index in 0..<rest.count { head |= UInt32(rest[index]) << UInt32(24 &- 8 &* index) }
        return head
    }
}

extension ByteView {
    /// `compare` for short keys, where a call of `memcmp` costs more than it does.
    @inline(__always)
    func compareInSteps(_ other: ByteView) -> Int {
        let shared = Swift.min(count, other.count)
        if shared > 64 { return compare(other) }
        var index = 0
        while index &+ 8 <= shared {
            let left = bigEndianUInt64(at: index)
            let right = other.bigEndianUInt64(at: index)
            if left != right { return left < right ? -1 : 1 }
            index &+= 8
        }
        if index < shared {
            if shared >= 8 {
                let left = bigEndianUInt64(at: shared &- 8)
                let right = other.bigEndianUInt64(at: shared &- 8)
                if left != right { return left < right ? -1 : 1 }
            } else {
                while index < shared {
                    let left = self[index]
                    let right = other[index]
                    if left != right { return left < right ? -1 : 1 }
                    index &+= 1
                }
            }
        }
        return count &- other.count
    }
}
