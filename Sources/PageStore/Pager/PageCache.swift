import Primitives

/// Images of pages as they are on disk, up to a budget of bytes.
///
/// Keyed by the whole map entry, never by address alone. Eviction is the clock algorithm: each
/// image gets a second chance, so that a scan does not evict pages in frequent use. Evicting a
/// pinned image frees no memory, so that others go first: pages pinned by a sort stay inside the
/// budget as long as they fit. All access is under the pager's lock.
///
/// A caller that looks a page up repeatedly keeps a ``CacheHint``, which finds the image with one
/// memory access, where the table takes three.
struct PageCache {
    private struct Slot {
        var address: ExtentAddress
        var image: PageBuffer?
        var location: ImageAddress
        var wasUsed: Bool
    }

    /// How many held images an eviction spares in search of one that is not held.
    private static let heldSparedMax = 64

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var slotByPlace = IntegerMap<Int>()
    private var hand = 0
    /// How many pages were looked up, but for the branches that a snapshot has met before.
    var lookupCount: UInt64 = 0
    private(set) var sizeInBytes = 0
    /// The budget of all pages in memory.
    let budgetInBytes: Int
    /// The part of the budget that pages outside the cache use; a quarter is always the cache's.
    private(set) var reservedBytes = 0
    /// The columns kept with pages, in the cache or outside, which count in the budget too.
    let keptBytes = ColumnCacheBudget()

    init(budgetInBytes: Int) {
        self.budgetInBytes = budgetInBytes
    }

    mutating func image(at address: ExtentAddress) -> PageBuffer? {
        guard let index = slotByPlace[address.place], slots[index].address == address else {
            return nil
        }
        slots[index].wasUsed = true
        return slots[index].image
    }

    /// Returns the image only if it is in the slot that the hint names.
    @inline(__always)
    mutating func image(
        at address: ExtentAddress, _ hint: CacheHint, _ prefetchHint: CellPrefetchHint? = nil
    ) -> PageBuffer? {
        let hinted = Int(hint.slot)
        // The address says whether the slot is still that page's, and no more is needed.
        guard hinted < slots.count, slots[hinted].address == address else { return nil }
        if !slots[hinted].wasUsed { slots[hinted].wasUsed = true }
        // Handing the image out waits for its count of references, and then for its header.
        slots[hinted].location.prefetchNode()
        if let prefetchHint { slots[hinted].location.prefetch(prefetchHint) }
        return slots[hinted].image
    }

    /// Where an image lies, without waiting for it and without using it.
    func imageAddress(at address: ExtentAddress, _ hint: CacheHint) -> ImageAddress? {
        var index = Int(hint.slot)
        if index >= slots.count || slots[index].address != address {
            guard let known = slotByPlace[address.place], slots[known].address == address
            else { return nil }
            index = known
        }
        return slots[index].image == nil ? nil : slots[index].location
    }

    /// The hint by which ``image(at:_:)`` finds the current image.
    func hint(for address: ExtentAddress) -> CacheHint {
        guard let index = slotByPlace[address.place] else { return .none }
        return CacheHint(slot: UInt32(truncatingIfNeeded: index))
    }

    /// - Parameter sparesHeld: false where the caller holds the images it inserts: each insertion
    ///   would then look at 64 of them in vain.
    mutating func insert(
        _ image: PageBuffer, at address: ExtentAddress, sparesHeld: Bool = true
    ) {
        if let index = slotByPlace[address.place] { remove(index) }
        // An image as large as the whole budget would push out everything for one use.
        guard image.count <= shareInBytes / 2 else { return }
        while sizeInBytes + image.count > shareInBytes, evictOne(sparesHeld: sparesHeld) {}
        let slot = Slot(
            address: address, image: image, location: ImageAddress(image), wasUsed: false)
        if let index = freeSlots.popLast() {
            slots[index] = slot
            slotByPlace[address.place] = index
        } else {
            slotByPlace[address.place] = slots.count
            slots.append(slot)
        }
        sizeInBytes += image.count
    }

    /// Lets go of an image that few will ask for again.
    mutating func remove(_ address: ExtentAddress) {
        guard let index = slotByPlace[address.place], slots[index].address == address else {
            return
        }
        remove(index)
    }

    private var shareInBytes: Int {
        max(budgetInBytes - reservedBytes - keptBytes.count, budgetInBytes / 4)
    }

    /// Gives way to pages elsewhere in memory.
    mutating func reserve(_ bytes: Int) {
        reservedBytes = bytes
        while sizeInBytes > shareInBytes, evictOne() {}
    }

    mutating func removeAll() {
        slots = []
        freeSlots = []
        slotByPlace = IntegerMap()
        hand = 0
        sizeInBytes = 0
    }

    private mutating func evictOne(sparesHeld: Bool = true) -> Bool {
        guard sizeInBytes > 0 else { return false }
        var heldCount = sparesHeld ? 0 : Self.heldSparedMax
        while true {
            if hand >= slots.count { hand = 0 }
            defer { hand += 1 }
            if slots[hand].image == nil { continue }
            if slots[hand].wasUsed {
                slots[hand].wasUsed = false
            } else if heldCount < Self.heldSparedMax, slots[hand].image?.isShared() == true {
                heldCount += 1
            } else {
                remove(hand)
                return true
            }
        }
    }

    private mutating func remove(_ index: Int) {
        guard let image = slots[index].image else { return }
        sizeInBytes -= image.count
        slotByPlace[slots[index].address.place] = nil
        slots[index].image = nil
        freeSlots.append(index)
    }
}

/// Which slot of a ``PageCache`` held a page when it was last asked for. It may be out of date.
struct CacheHint {
    fileprivate var slot: UInt32

    static let none = CacheHint(slot: .max)
}
