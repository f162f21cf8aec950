/// Where keys stand in a leaf, by hashes of what they are before the suffix that their shape says:
/// kept with an image in which keys were sought several times, when they begin alike.
///
/// A search by order reads a slot and a cell at each step, and waits for memory each time; this
/// reads one line of the table, and then a slot and its cell at once. What it says is where to
/// look, and never that something is there or not: the leaf alone says that.
@safe
struct KeyTable {
    /// How often keys are sought in an image before its table is made.
    private static let searchCountMin: UInt = 8
    /// What an image's word is while its table is made, and from then on when it has none. Smaller
    /// words count searches, larger ones are the table's address.
    private static let none: UInt = searchCountMin
    /// Fewer slots are few lines of memory.
    private static let slotCountMin = 32
    /// Images whose keys have hashes that meet more often have no table.
    private static let probeCountMax = 24

    /// 0 where nothing stands; else from the low bits on a slot's index and one, where its cell is,
    /// whether its key differs from the next one in more than the suffix, and bits of the hash.
    private let entries: UnsafeMutablePointer<UInt32>
    /// A power of two.
    private let count: Int
    private let indexBitCount: Int

    /// A page has 64 KiB at most.
    private static let cellBitCount = 16
    /// All but those of the hash.
    private var placeBitCount: Int { indexBitCount &+ KeyTable.cellBitCount &+ 1 }

    /// What is found by a table.
    struct Found {
        var index: Int
        /// Whether no other key of the node differs from it in the suffix alone.
        var isSingle: Bool
    }

    private init(_ entries: UnsafeMutablePointer<UInt32>, slotCount: Int) {
        // Safety: both callers give as many entries as `entryCount` says for the slots.
        unsafe self.entries = entries
        count = KeyTable.entryCount(slotCount)
        indexBitCount = Int.bitWidth - slotCount.leadingZeroBitCount
    }

    /// Three quarters of the entries are taken at most. All take a quarter of their page at most,
    /// because each key takes 24 bytes or more of it with its slot, and are in the cache's budget.
    private static func entryCount(_ slotCount: Int) -> Int {
        1 << (Int.bitWidth - (slotCount + slotCount / 3).leadingZeroBitCount)
    }

    /// The table of an image whose word is its address, for as long as somebody has the image.
    @inline(__always)
    init?(of leaf: NodeView) {
        let word = leaf.page.keyWord
        // Safety: a larger word is what `make` stored, which the image keeps to its end; its count
        // of slots is what it was then, because the image is published.
        guard word > KeyTable.none,
            let entries = unsafe UnsafeMutablePointer<UInt32>(bitPattern: word)
        else { return nil }
        unsafe self.init(entries, slotCount: leaf.slotCount)
    }

    /// Ends the table of an image that nobody has any more.
    static func end(_ word: UInt) {
        guard word > none else { return }
        // Safety: `make` allocated it, and the image's word was the only way to it.
        unsafe UnsafeMutablePointer<UInt32>(bitPattern: word)?.deallocate()
    }

    /// The first slot whose key after the node's prefix is these bytes and a suffix, if the table
    /// knows one.
    func slot(of rest: ByteView, _ shape: KeyShape, in leaf: NodeView) -> Found? {
        guard rest.count >= 8 else { return nil }
        let hash = KeyTable.hash(rest)
        let tag = self.tag(hash)
        let placeMask = UInt32(1) << placeBitCount &- 1
        var place = Int(truncatingIfNeeded: hash) & (count &- 1)
        for _ in 0..<KeyTable.probeCountMax {
            // Safety: the place is less than the count, which is a power of two.
            let entry = unsafe entries[place]
            if entry == 0 { return nil }
            if entry & ~placeMask == tag {
                let index = Int(entry & (UInt32(1) << indexBitCount &- 1)) &- 1
                let location = entry >> indexBitCount
                let cell = Int(location & 0xFFFF)
                ImageAddress(leaf.page).prefetch(from: cell &- 64, lineCount: 2)
                let suffix = leaf.suffix(index)
                if suffix.count == rest.count &+ shape.suffixSizeInBytes,
                    suffix.slice(from: 0, count: rest.count).compareInSteps(rest) == 0
                {
                    return Found(index: index, isSingle: location >> 16 & 1 == 1)
                }
            }
            place = (place &+ 1) & (count &- 1)
        }
        return nil
    }

    /// False when the hash meets too many others.
    private func insert(_ hash: UInt64, _ found: Found, cell: Int) -> Bool {
        let single: UInt32 = found.isSingle ? 1 : 0
        let entry =
            tag(hash) | (single << 16 | UInt32(truncatingIfNeeded: cell)) << indexBitCount
            | UInt32(truncatingIfNeeded: found.index &+ 1)
        var place = Int(truncatingIfNeeded: hash) & (count &- 1)
        for _ in 0..<KeyTable.probeCountMax {
            // Safety: as in `slot`.
            if unsafe entries[place] == 0 {
                unsafe entries[place] = entry
                return true
            }
            place = (place &+ 1) & (count &- 1)
        }
        return false
    }

    private func tag(_ hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 32) << placeBitCount
    }

    /// Of eight bytes or more.
    @inline(__always)
    private static func hash(_ bytes: ByteView) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while index < bytes.count {
            // The last word may overlap the one before.
            hash ^= bytes.bigEndianUInt64(at: min(index, bytes.count &- 8))
            hash = hash &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            index &+= 8
        }
        return hash
    }

    // MARK: Making

    /// Whether an image may get a table yet.
    @inline(__always)
    static func countsSearches(in leaf: NodeView) -> Bool { leaf.page.keyWord < none }

    /// Counts a search in a published image, and makes its table when it is time.
    static func noteSearch(
        in leaf: NodeView, _ shape: KeyShape, countedBy kept: ColumnCacheBudget
    ) {
        let page = leaf.page
        let word = page.keyWord
        // Of several threads one makes the table.
        guard word < none, page.setKeyWord(word + 1, from: word), word + 1 == none,
            let table = make(of: leaf, shape)
        else { return }
        let size = table.count * MemoryLayout<UInt32>.size
        // Safety: from here on the word is what the table's memory is ended by.
        _ = page.setKeyWord(unsafe UInt(bitPattern: table.entries), from: none)
        page.withColumns { $0.countTable(size, by: kept) }
    }

    /// Nil for a leaf that a search by order serves as well, and for one with keys that are too
    /// short for their shape.
    private static func make(of leaf: NodeView, _ shape: KeyShape) -> KeyTable? {
        let slotCount = leaf.slotCount
        // Few bits of a hash would be left with more slots than a page can have.
        guard leaf.isLeaf, slotCount >= slotCountMin, slotCount < 1 << 13 else { return nil }
        let entryCount = entryCount(slotCount)
        let entries = UnsafeMutablePointer<UInt32>.allocate(capacity: entryCount)
        // Safety: there is room for so many entries, and no other thread has them yet.
        unsafe entries.initialize(repeating: 0, count: entryCount)
        let table = unsafe KeyTable(entries, slotCount: slotCount)
        if table.fill(from: leaf, shape) { return table }
        unsafe entries.deallocate()
        return nil
    }

    /// Takes in the first of all keys that differ in no more than their suffixes.
    private func fill(from leaf: NodeView, _ shape: KeyShape) -> Bool {
        var alikeCount = 0
        for index in 0..<leaf.slotCount {
            let suffix = leaf.suffix(index)
            guard suffix.count >= 8 &+ shape.suffixSizeInBytes else { return false }
            let part = shape.beginning(of: suffix)
            if index > 0 {
                let last = leaf.suffix(index &- 1)
                if last.hasPrefix(part) {
                    // One that is longer contradicts the shape.
                    guard last.count == suffix.count else { return false }
                    continue
                }
                if last.uint32(at: 0) == part.uint32(at: 0) { alikeCount &+= 1 }
            }
            let isSingle =
                index &+ 1 < leaf.slotCount && !leaf.suffix(index &+ 1).hasPrefix(part)
            let found = Found(index: index, isSingle: isSingle)
            guard insert(KeyTable.hash(part), found, cell: leaf.cellOffset(index)) else {
                return false
            }
        }
        // Where heads differ, the first slots that are looked at tell as much.
        return alikeCount >= leaf.slotCount / 2
    }
}
