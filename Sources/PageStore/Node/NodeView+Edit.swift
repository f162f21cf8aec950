/// Changes of a node in its page. The page is a private copy of the write transaction.
extension NodeView {
    private typealias Layout = NodeLayout

    @inline(__always)
    private var gapStart: Int { slotsStart &+ slotCount &* Layout.slotSize }

    /// Bytes that one more entry may take, cells moved together if need be.
    var freeSize: Int { page.count &- heapSize &- gapStart &+ garbageSize }

    /// The size of all entries, for the rule by which a node underflows.
    var usedSize: Int { slotCount &* Layout.slotSize &+ heapSize &- garbageSize }

    func hasRoom(keySize: Int, valueSize: Int) -> Bool {
        Layout.entrySize(keySize: keySize &- prefixSize, valueSize: valueSize) <= freeSize
    }

    /// Opens a slot for a key that has the prefix. The caller made sure of the room and the order.
    func insert(_ key: ByteView, _ value: ByteView, isOverflow: Bool, at index: Int) {
        let suffix = key.dropFirst(prefixSize)
        let size = Layout.cellKey + suffix.count + value.count
        if page.count - heapSize - gapStart < size + Layout.slotSize { compact() }
        let count = slotCount
        let slot = slotsStart + index * Layout.slotSize
        precondition(
            index >= 0 && index <= count
                && page.count - heapSize - gapStart >= size + Layout.slotSize,
            "an entry is inserted where it has room")
        page.move(from: slot, to: slot + Layout.slotSize, count: (count - index) * Layout.slotSize)
        page.setUInt16(UInt16(count + 1), at: Layout.slotCount)
        let newHeapSize = heapSize + size
        page.setUInt16(UInt16(newHeapSize), at: Layout.heapSize)
        NodeBuilder.writeEntry(
            suffix.slice(from: 0, count: 0), suffix, value,
            Layout.valueField(sizeInBytes: value.count, isOverflow: isOverflow), to: page,
            slot: slot, cell: page.count - newHeapSize)
    }

    /// Takes an entry out; its bytes become zero.
    func remove(at index: Int) {
        let cell = cellOffset(index)
        let size = cellSize(index)
        page.fill(0, from: cell, count: size)
        if cell == page.count - heapSize {
            page.setUInt16(UInt16(heapSize - size), at: Layout.heapSize)
        } else {
            page.setUInt16(UInt16(garbageSize + size), at: Layout.garbageSize)
        }
        let slot = slotsStart + index * Layout.slotSize
        let behind = (slotCount - index - 1) * Layout.slotSize
        page.move(from: slot + Layout.slotSize, to: slot, count: behind)
        page.setUInt64(0, at: slot + behind)
        page.setUInt16(UInt16(slotCount - 1), at: Layout.slotCount)
    }

    /// Overwrites a value with one that is no longer; the rest becomes zero. False when the new one
    /// is longer.
    func replaceInPlace(_ value: ByteView, isOverflow: Bool, at index: Int) -> Bool {
        let rest = storedValue(index).count - value.count
        guard rest >= 0 else { return false }
        let cell = cellOffset(index)
        let start = cell + Layout.cellKey + suffix(index).count
        page.setUInt16(
            Layout.valueField(sizeInBytes: value.count, isOverflow: isOverflow),
            at: cell + Layout.cellValueSize)
        page.copy(value, to: start)
        page.fill(0, from: start + value.count, count: rest)
        page.setUInt16(UInt16(garbageSize + rest), at: Layout.garbageSize)
        return true
    }

    /// Moves the cells together, so that all free bytes lie between slots and cells.
    private func compact() {
        // Prefix and fences stay, so that cells and slots do, but for where the cells are.
        let old = NodeView(validated: PageBuffer(copying: page))
        defer { withExtendedLifetime(old) {} }
        var start = page.count
        for index in 0..<old.slotCount {
            let size = old.cellSize(index)
            start -= size
            page.copy(old.page.view.slice(from: old.cellOffset(index), count: size), to: start)
            page.setUInt16(
                UInt16(start), at: slotsStart + index * Layout.slotSize + Layout.slotCell)
        }
        let oldStart = page.count - old.heapSize
        page.fill(0, from: oldStart, count: start - oldStart)
        page.setUInt16(UInt16(page.count - start), at: Layout.heapSize)
        page.setUInt16(0, at: Layout.garbageSize)
    }

    /// Makes the page an empty node that covers every key.
    static func clearRoot(_ page: PageBuffer, level: Int, firstChild: PageID?) -> NodeView {
        let nothing = page.view.slice(from: 0, count: 0)
        return clear(page, level: level, lower: nothing, upper: nothing, firstChild: firstChild)
    }

    /// Makes the page an empty node with these fences. They may not lie in this page.
    static func clear(
        _ page: PageBuffer, level: Int, lower: ByteView, upper: ByteView, firstChild: PageID?
    ) -> NodeView {
        page.fill(0, from: 0, count: page.count)
        let kind = level == 0 ? PageKind.treeLeaf : PageKind.treeBranch
        page.setUInt8(kind.rawValue, at: Layout.kind)
        page.setUInt8(UInt8(level), at: Layout.level)
        page.setUInt16(UInt16(lower.count), at: Layout.lowerFenceSize)
        page.setUInt16(UInt16(upper.count), at: Layout.upperFenceSize)
        page.setUInt16(UInt16(lower.sharedPrefixCount(with: upper)), at: Layout.prefixSize)
        page.setUInt64(firstChild?.rawValue ?? 0, at: Layout.firstChild)
        page.copy(lower, to: Layout.fences)
        page.copy(upper, to: Layout.fences + lower.count)
        return NodeView(validated: page)
    }
}
