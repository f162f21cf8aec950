/// The entries of one leaf whose keys are numbers of eight bytes, read where they lie: a scan
/// steps through them without a call for each.
///
/// Lent bytes are valid as long as the entries. Of a leaf that may change, they are a snapshot.
@safe @usableFromInline
package struct LeafEntries: ~Copyable {
    /// The leaf, so that it lives as long as its bytes are lent.
    package let page: PageBuffer
    @usableFromInline let base: UnsafeRawPointer
    /// Where the slot of the first entry lies.
    @usableFromInline let slotsStart: Int
    @usableFromInline package let count: Int
    /// Of each key, without what all share.
    @usableFromInline let suffixSize: Int
    /// From a cell to its value.
    @usableFromInline let valueOffset: Int
    /// The prefix that the keys share, as the upper bytes of their numbers.
    @usableFromInline let prefix: UInt64
    /// By entry the values that lie in pages of their own; empty when there are none.
    private let large: [ByteBuffer?]

    /// The cells of the next leaf, when those of both are read for the first time.
    private let next: NextCells?

    /// The budget for columns kept with the page; nil when none may be kept.
    private let kept: ColumnCacheBudget?

    /// The entries from a slot on; nil when a key has not eight bytes. Of a leaf that `isProved`
    /// it is known that all have, and that no value lies elsewhere; one that `isPublished` does
    /// not change any more. The leaf comes before another one, if that is in memory.
    init?(
        _ node: NodeView, from first: Int, of view: PageView, isProved: Bool, isPublished: Bool,
        before nextPage: PageBuffer?
    ) throws(StoreError) {
        let shared = node.prefix
        let end = node.slotCount
        guard node.isLeaf, shared.count <= 8, first >= 0, first <= end else { return nil }
        let suffixSize = 8 - shared.count
        var large: [ByteBuffer?] = []
        if !isProved {
            for index in first..<end where node.suffix(index).count != suffixSize { return nil }
            large = try LeafEntries.largeValues(node, from: first, of: view)
        }
        var prefix: UInt64 = 0
        for index in 0..<shared.count { prefix = prefix << 8 | UInt64(shared[index]) }
        self.suffixSize = suffixSize
        self.prefix = suffixSize == 8 ? 0 : prefix << UInt64(8 * suffixSize)
        // A transaction may change its leaf while this is lent: bytes that were checked stay.
        page = isPublished ? node.page : PageBuffer(copying: node.page)
        // Safety: this keeps the page, and so its bytes.
        unsafe base = UnsafeRawPointer(page.base)
        slotsStart = node.slotsStart + first * NodeLayout.slotSize
        count = end - first
        valueOffset = NodeLayout.cellKey + suffixSize
        kept = isPublished && first == 0 ? view.keptBytes : nil
        self.large = large
        next = isProved ? nil : nextPage.flatMap { NextCells(of: $0) }
    }

    /// Prefetches the start of an entry in the next leaf. A scan that reads leaf after leaf for the
    /// first time prefetches one with each entry that it reads: many requests at once would wait
    /// for each other, and the work in between hides the wait.
    package func prefetchInNext(_ index: Int) { next?.prefetch(index) }

    /// The values that lie elsewhere. Asks all cells together whether there are any, so that the
    /// processor waits for many of them at once.
    private static func largeValues(
        _ node: NodeView, from first: Int, of view: PageView
    ) throws(StoreError) -> [ByteBuffer?] {
        var largeCount = 0
        for index in first..<node.slotCount {
            largeCount &+= node.isOverflowValue(index) ? 1 : 0
        }
        guard largeCount > 0 else { return [] }
        var large: [ByteBuffer?] = []
        for index in first..<node.slotCount {
            guard node.isOverflowValue(index) else {
                large.append(nil)
                continue
            }
            let buffer = ByteBuffer(capacity: 64)
            try view.readBlob(BlobID(node.storedValue(index)), into: buffer)
            large.append(buffer)
        }
        return large
    }

    @inlinable @inline(__always)
    func slot(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "an entry is outside its leaf")
        // Safety: `NodeCheck` proved that the leaf holds its slots, and the line above that this
        // is one of them.
        return unsafe UInt64(
            littleEndian: base.loadUnaligned(
                fromByteOffset: slotsStart &+ index &* 8, as: UInt64.self))
    }

    @inlinable @inline(__always)
    func cell(_ index: Int) -> Int { Int(UInt16(truncatingIfNeeded: slot(index) >> 32)) }

    /// A value's size, and in the top bit whether it lies elsewhere.
    @inlinable @inline(__always)
    func valueField(_ cell: Int) -> UInt16 {
        // Safety: `NodeCheck` proved that the cell lies in the leaf.
        unsafe UInt16(littleEndian: base.loadUnaligned(fromByteOffset: cell, as: UInt16.self))
    }

    /// The key of an entry.
    @inlinable @inline(__always)
    package func number(_ index: Int) -> UInt64 {
        let slot = slot(index)
        // The slot repeats the first four bytes.
        if suffixSize <= 4 {
            let head = UInt64(UInt32(truncatingIfNeeded: slot))
            return prefix | head >> UInt64(32 &- 8 &* suffixSize)
        }
        let cell = Int(UInt16(truncatingIfNeeded: slot >> 32))
        var number: UInt64 = 0
        for position in (valueOffset &- suffixSize)..<valueOffset {
            // Safety: `NodeCheck` proved that the cell and its key lie in the leaf.
            let byte = unsafe base.load(fromByteOffset: cell &+ position, as: UInt8.self)
            number = number << 8 | UInt64(byte)
        }
        return prefix | number
    }

    /// The value of an entry.
    @inlinable @inline(__always)
    package func value(_ index: Int) -> ByteView {
        let cell = cell(index)
        let field = valueField(cell)
        guard field & 0x8000 == 0 else { return largeValue(index) }
        // Safety: `NodeCheck` proved that the leaf holds the cell with its key, whose size is that
        // of all others, and with its value.
        return unsafe ByteView(unsafeBase: base + cell + valueOffset, count: Int(field))
    }

    /// Two columns of the leaf as little-endian numbers. For a value that ends before its eight
    /// bytes a number means nothing.
    package func vectors(of pair: ColumnPair) -> ColumnVectors {
        let columnCountMax = ColumnCache.countMax(entryCount: count, pageSizeInBytes: page.count)
        if let kept, large.isEmpty, columnCountMax > 0 {
            let vectors = page.withColumns { columns in
                columns.vectors(
                    of: pair, columnCountMax: columnCountMax, countedBy: kept
                ) { words(at: $0) }
            }
            if let vectors { return vectors }
        }
        return ColumnVectors(
            dense: ColumnVector(words: words(at: pair.dense)),
            sparse: ColumnVector(sparse: words(at: pair.sparse)))
    }

    private func words(at byteOffset: Int) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: count)
        guard large.isEmpty else {
            for index in 0..<count {
                let value = value(index)
                if byteOffset <= value.count - 8 { words[index] = value.uint64(at: byteOffset) }
            }
            return words
        }
        // So short a loop that the processor waits for many values at once.
        var target = words.mutableSpan
        let end = page.count - valueOffset - byteOffset - 8
        for index in 0..<count {
            let cell = cell(index)
            guard cell <= end else { continue }
            // Safety: the line above proves that the eight bytes lie in the leaf.
            target[index] = unsafe UInt64(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: cell &+ valueOffset &+ byteOffset, as: UInt64.self))
        }
        return words
    }

    @usableFromInline @inline(never)
    func largeValue(_ index: Int) -> ByteView {
        guard index < large.count, let buffer = large[index] else {
            preconditionFailure("a value that lies elsewhere was read before")
        }
        return buffer.view
    }

    /// Whether some values lie outside the page.
    package var hasLargeValues: Bool { !large.isEmpty }
}

/// The starts of the entries of a leaf, to prefetch them.
private struct NextCells {
    private let node: NodeView
    private let count: Int
    private let image: ImageAddress

    /// Nil for a page that is no leaf.
    init?(of page: PageBuffer) {
        guard NodeView.isLeaf(page) else { return nil }
        node = NodeView(validated: page)
        count = node.slotCount
        image = ImageAddress(page)
    }

    func prefetch(_ index: Int) {
        if index < count { image.prefetchStart(ofCell: node.cellOffset(index)) }
    }
}
