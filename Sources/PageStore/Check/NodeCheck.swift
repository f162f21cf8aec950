import Primitives

/// The validation of one tree node. Every number of the page is doubted.
struct NodeCheck {
    private typealias Layout = NodeLayout

    let page: PageBuffer
    let isLeaf: Bool
    let pageCount: UInt64
    private let bytes: ByteView

    init(page: PageBuffer, isLeaf: Bool, pageCount: UInt64) {
        self.page = page
        self.isLeaf = isLeaf
        self.pageCount = pageCount
        self.bytes = page.view
    }

    private func field(_ byteOffset: Int) -> Int { Int(bytes.uint16(at: byteOffset)) }

    @inline(__always)
    private func require(
        _ condition: Bool, _ message: @autoclosure () -> String, _ byteOffset: Int
    ) throws(StoreError) {
        if !condition { throw .corrupt(page.id, message(), byteOffset: UInt64(byteOffset)) }
    }

    func run() throws(StoreError) {
        defer { withExtendedLifetime(page) {} }
        try require(
            page.count >= Limits.pageSizeInBytesMin && page.count <= Limits.pageSizeInBytesMax,
            "a node has an impossible size", 0)
        let level = Int(bytes[Layout.level])
        try require(
            isLeaf ? level == 0 : level > 0 && level < Limits.treeDepthMax,
            "the node's level contradicts its kind", Layout.level)
        try require(field(Layout.zero) == 0, "a field that must be zero is not", Layout.zero)
        let slotsStart = try checkFences()
        let count = field(Layout.slotCount)
        let heapStart = page.count - field(Layout.heapSize)
        try require(
            slotsStart + count * Layout.slotSize <= heapStart,
            "slots and cells overlap", Layout.slotCount)
        let gap = slotsStart + count * Layout.slotSize
        try require(
            bytes.slice(from: gap, count: heapStart - gap).isZero,
            "the bytes between slots and cells are not zero", gap)
        try checkFirstChild()
        try checkEntries(slotsStart: slotsStart, count: count, heapStart: heapStart)
    }

    /// Returns where the slots begin.
    private func checkFences() throws(StoreError) -> Int {
        let lowerSize = field(Layout.lowerFenceSize)
        let upperSize = field(Layout.upperFenceSize)
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: page.count)
        try require(
            lowerSize <= limit, "the lower fence is longer than a key", Layout.lowerFenceSize)
        try require(
            upperSize <= limit, "the upper fence is longer than a key", Layout.upperFenceSize)
        let lower = bytes.slice(from: Layout.fences, count: lowerSize)
        let upper = bytes.slice(from: Layout.fences + lowerSize, count: upperSize)
        try require(
            upperSize == 0 || lower.compare(upper) < 0, "the fences are not in order",
            Layout.fences)
        try require(
            field(Layout.prefixSize) == lower.sharedPrefixCount(with: upper),
            "the prefix is not what the fences share", Layout.prefixSize)
        let end = Layout.fences + lowerSize + upperSize
        let slotsStart = Layout.slotsStart(fencesSize: lowerSize + upperSize)
        try require(
            bytes.slice(from: end, count: slotsStart - end).isZero,
            "the bytes before the slots are not zero", end)
        return slotsStart
    }

    private func checkFirstChild() throws(StoreError) {
        let child = bytes.uint64(at: Layout.firstChild)
        if isLeaf {
            try require(child == 0, "a leaf names a child", Layout.firstChild)
        } else {
            try checkChild(child, at: Layout.firstChild)
        }
    }

    private func checkChild(_ child: UInt64, at byteOffset: Int) throws(StoreError) {
        try require(
            child > 0 && child < pageCount && child != page.id.rawValue,
            "the node names an impossible child", byteOffset)
    }

    private func checkEntries(
        slotsStart: Int, count: Int, heapStart: Int
    ) throws(StoreError) {
        let prefixSize = field(Layout.prefixSize)
        let lower = bytes.slice(from: Layout.fences, count: field(Layout.lowerFenceSize))
        let upper = bytes.slice(
            from: Layout.fences + lower.count, count: field(Layout.upperFenceSize))
        var cellsSize = 0
        var cellsStart = page.count
        // As a load in order leaves them: each below the one before, so that none overlap.
        var areStacked = true
        var before = lower.dropFirst(prefixSize)
        for index in 0..<count {
            let slot = slotsStart + index * Layout.slotSize
            let cell = try checkedCell(slot: slot, heapStart: heapStart, prefixSize: prefixSize)
            areStacked = areStacked && cell.byteOffset + cell.size <= cellsStart
            cellsStart = cell.byteOffset
            cellsSize += cell.size
            let order = before.compareInSteps(cell.suffix)
            // A branch's first separator is above its lower fence; a leaf may hold that key.
            try require(
                order < 0 || (order == 0 && index == 0 && isLeaf),
                "the keys are not in order, or not inside the fences", slot)
            before = cell.suffix
        }
        if count > 0 && !upper.isEmpty {
            try require(
                before.compareInSteps(upper.dropFirst(prefixSize)) < 0,
                "the last key is not inside the fences",
                slotsStart + (count - 1) * Layout.slotSize)
        }
        try require(
            cellsSize + field(Layout.garbageSize) == page.count - heapStart,
            "the sizes of the cells do not add up", Layout.garbageSize)
        if !areStacked { try checkOverlaps(slotsStart: slotsStart, count: count) }
    }

    /// For cells that are known to lie within the page: none begins inside another one.
    private func checkOverlaps(slotsStart: Int, count: Int) throws(StoreError) {
        // A bit for each byte of the page at which a cell begins.
        var starts = [UInt64](repeating: 0, count: (page.count + 63) / 64)
        for index in 0..<count {
            let slot = slotsStart + index * Layout.slotSize
            let cell = field(slot + Layout.slotCell)
            let bit = UInt64(1) &<< UInt64(cell)
            guard starts[cell >> 6] & bit == 0 else { throw overlap(slot) }
            starts[cell >> 6] |= bit
        }
        for index in 0..<count {
            let slot = slotsStart + index * Layout.slotSize
            let cell = field(slot + Layout.slotCell)
            let size =
                Layout.cellKey + field(slot + Layout.slotKeySize)
                + Int(bytes.uint16(at: cell + Layout.cellValueSize) & ~Layout.overflowFlag)
            var word = cell >> 6
            // Without the cell's own start and those before it.
            var others = starts[word] & ((UInt64.max << 1) &<< UInt64(cell))
            while others == 0, (word + 1) << 6 < cell + size {
                word += 1
                others = starts[word]
            }
            guard others == 0 || word << 6 + others.trailingZeroBitCount >= cell + size else {
                throw overlap(slot)
            }
        }
    }

    private func overlap(_ slot: Int) -> StoreError {
        .corrupt(page.id, "two cells overlap", byteOffset: UInt64(slot))
    }

    private func checkedCell(
        slot: Int, heapStart: Int, prefixSize: Int
    ) throws(StoreError) -> (byteOffset: Int, size: Int, suffix: ByteView) {
        let cell = field(slot + Layout.slotCell)
        let suffixSize = field(slot + Layout.slotKeySize)
        try require(
            cell >= heapStart && cell + Layout.cellKey + suffixSize <= page.count,
            "a cell lies outside its page", slot)
        try require(
            prefixSize + suffixSize <= Limits.keySizeInBytesMax(pageSizeInBytes: page.count),
            "a key is too long", slot)
        let valueField = bytes.uint16(at: cell + Layout.cellValueSize)
        let valueSize = Int(valueField & ~Layout.overflowFlag)
        let valueStart = cell + Layout.cellKey + suffixSize
        try require(valueStart + valueSize <= page.count, "a value runs past its page", cell)
        let suffix = bytes.slice(from: cell + Layout.cellKey, count: suffixSize)
        try require(
            bytes.uint32(at: slot + Layout.slotHead) == NodeView.head(of: suffix),
            "a slot's head is not how its key begins", slot)
        let isOverflow = valueField & Layout.overflowFlag != 0
        if !isLeaf {
            try require(
                valueSize == 8 && !isOverflow, "a branch's value is not a child", cell)
            try checkChild(bytes.uint64(at: valueStart), at: valueStart)
        } else if isOverflow {
            try require(
                valueSize == Layout.referenceSize, "a reference has a wrong size", cell)
            try checkChild(bytes.uint64(at: valueStart), at: valueStart)
        } else {
            try require(
                valueSize <= Limits.inlineValueSizeInBytesMax(pageSizeInBytes: page.count),
                "a value is too long for its leaf", cell)
        }
        return (cell, Layout.cellKey + suffixSize + valueSize, suffix)
    }
}
