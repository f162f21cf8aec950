import Primitives

/// Space that readers of some generations may still need: [born, died).
struct PendingSpace: Hashable {
    var unit: UInt64
    var unitCount: UInt64
    /// The first generation that needs it; zero when that is not known.
    var born: UInt64
    /// The first generation that does not need it any more.
    var died: UInt64
}

extension PendingSpace {
    init(_ address: ExtentAddress, born: UInt64, died: UInt64) {
        self.init(
            unit: address.unit, unitCount: UInt64(address.unitCount), born: born, died: died)
    }

    /// A unit of the spaces that another of them has too, or one that was there before them; nil
    /// when there is none.
    static func firstShared(
        in spaces: [PendingSpace], with others: [PendingSpace] = []
    ) -> UInt64? {
        var seen = SparseBitMap()
        for space in others { seen.insert(space.unit, space.unitCount) }
        for space in spaces {
            if let shared = seen.insert(space.unit, space.unitCount) { return shared }
        }
        return nil
    }
}

/// Which units of the file are taken. A unit is free, used, or pending; the bitmap has a one for
/// both others. Units past the bitmap's end are free.
struct SpaceMap {
    private(set) var bits = SparseBitMap()
    private(set) var pending: [PendingSpace] = []
    /// Zones whose bits changed since they were saved.
    private(set) var changedZones: Set<Int> = []
    /// Where each zone's bitmap is saved.
    var zoneAddresses: [ExtentAddress] = []
    /// Runs allocated since the last checkpoint began, and so not part of it: counts by first unit.
    private var recent: [UInt64: UInt64] = [:]
    /// Units past the former end of the file that have not been written yet.
    private var unwritten: [Range<UInt64>] = []
    /// The end of the file's durable length, in units. A power cut may remove anything after it,
    /// written or not.
    private(set) var syncedEnd: UInt64 = 0
    private var cursor = 0
    /// No free run below the end has this many units. Reset when units become free.
    private var missingCount = Int.max
    private(set) var freeUnitsBelowEnd: UInt64 = 0

    let unitsPerZone: Int
    /// The end of all units ever allocated: bits from here on are zero.
    private(set) var unitCount: UInt64 = 0

    init(pageSizeInBytes: Int) {
        unitsPerZone = pageSizeInBytes * 8
    }

    /// A zone's bitmap fills a page.
    static func unitsPerZone(_ geometry: Geometry) -> Int { geometry.pageSizeInBytes * 8 }

    /// A zone that was once saved keeps its address when the file has shrunk below it.
    var zoneCount: Int {
        let needed = (unitCount + UInt64(unitsPerZone) - 1) / UInt64(unitsPerZone)
        return max(Int(needed), zoneAddresses.count)
    }

    /// The saved state holds no more zones: a file with units after them could not be opened for
    /// writing again.
    static func unitCountMax(unitsPerZone: Int) -> UInt64 {
        Limits.zoneCountMax * UInt64(unitsPerZone)
    }

    /// Allocates a run of units, aligned to a count of units. Looks below the end first, from where
    /// the last search ended, and else extends the file. `isRecent` for space that a running
    /// checkpoint must not save as taken.
    ///
    /// Throws `tooLarge`, and allocates nothing, when the file cannot have that many units.
    mutating func allocate(
        _ count: Int, alignment: Int = 1, isRecent: Bool
    ) throws(StoreError) -> UInt64 {
        let unit = place(count, alignment)
        let countMax = Self.unitCountMax(unitsPerZone: unitsPerZone)
        guard unit <= countMax, UInt64(count) <= countMax - unit else {
            throw StoreError(.tooLarge, "the file is as large as the format allows")
        }
        set(unit, UInt64(count), used: true)
        if isRecent { recent[unit] = UInt64(count) }
        return unit
    }

    /// Takes a run of free units that ends at or before a limit; nil where there is none.
    mutating func allocate(_ count: Int, below limit: UInt64) -> UInt64? {
        let end = Int(min(limit, unitCount))
        let found =
            search(count, 1, from: min(cursor, end), to: end)
            ?? search(count, 1, from: 0, to: min(cursor + count, end))
        guard let found else { return nil }
        cursor = found + count
        set(UInt64(found), UInt64(count), used: true)
        return UInt64(found)
    }

    private mutating func place(_ count: Int, _ alignment: Int) -> UInt64 {
        if freeUnitsBelowEnd >= UInt64(count), let unit = search(count, alignment: alignment) {
            return unit
        }
        let step = UInt64(alignment)
        return (unitCount + step - 1) / step * step
    }

    /// The next search begins at the first unit, so that allocations are as low as they can be.
    mutating func searchFromStart() { cursor = 0 }

    /// Marks units as used, used before or not.
    mutating func take(_ unit: UInt64, _ count: UInt64) { set(unit, count, used: true) }

    /// Frees units at once: no reader can need them.
    mutating func free(_ unit: UInt64, _ count: UInt64) {
        recent[unit] = nil
        set(unit, count, used: false)
    }

    mutating func free(_ address: ExtentAddress) { free(address.unit, UInt64(address.unitCount)) }

    /// A checkpoint begins: all units allocated by now are reachable from the state that it saves.
    mutating func settle() {
        for (unit, count) in recent {
            for zone in Int(unit) / unitsPerZone...Int(unit + count - 1) / unitsPerZone {
                changedZones.insert(zone)
            }
        }
        recent = [:]
    }

    /// Keeps space until no reader can need it.
    mutating func retire(_ spaces: [PendingSpace]) {
        assert(spaces.allSatisfy { isUsed($0.unit) }, "what is retired was in use")
        pending += spaces
    }

    /// Frees what the reuse rule allows: died at or before the generation in the other superblock,
    /// and no generation inside [born, died) that a reader holds.
    ///
    /// - Parameter reused: units of the log. A run that has some of them was released before, when
    ///   the writer of that time took its reader for too old, and is no reader's any more.
    mutating func release(
        previous: UInt64, held: [Range<UInt64>], reused: SparseBitMap = SparseBitMap()
    ) {
        var kept: [PendingSpace] = []
        for space in pending {
            let isNeeded =
                held.contains { $0.lowerBound < space.died && $0.upperBound > space.born }
                && reused.firstSet(in: space.unit..<space.unit + space.unitCount) == nil
            if space.died <= previous && !isNeeded {
                set(space.unit, space.unitCount, used: false)
            } else {
                kept.append(space)
            }
        }
        pending = kept
    }

    // MARK: Unwritten space

    /// The parts of a range of units that are still to be written before a log may use them.
    func unwrittenParts(_ unit: UInt64, _ count: UInt64) -> [Range<UInt64>] {
        unwritten.map { $0.clamped(to: unit..<(unit + count)) }.filter { !$0.isEmpty }
    }

    mutating func noteWritten(_ unit: UInt64, _ count: UInt64) {
        guard !unwritten.isEmpty else { return }
        let range = unit..<(unit + count)
        unwritten = unwritten.flatMap { old -> [Range<UInt64>] in
            guard old.overlaps(range) else { return [old] }
            return [
                old.lowerBound..<max(old.lowerBound, range.lowerBound),
                min(old.upperBound, range.upperBound)..<old.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    /// A sync has made the file's size durable up to this unit.
    mutating func noteSynced(upTo end: UInt64) { syncedEnd = max(syncedEnd, end) }

    private mutating func noteUnwritten(_ range: Range<UInt64>) {
        if let last = unwritten.last, last.upperBound == range.lowerBound {
            unwritten[unwritten.count - 1] = last.lowerBound..<range.upperBound
        } else {
            unwritten.append(range)
        }
    }

    var freeUnits: UInt64 { freeUnitsBelowEnd }

    private mutating func set(_ unit: UInt64, _ count: UInt64, used: Bool) {
        guard count > 0 else { return }
        let end = unit + count
        if end > unitCount {
            if unit > unitCount { missingCount = .max }
            freeUnitsBelowEnd += end - unitCount
            noteUnwritten(unitCount..<end)
            unitCount = end
        }
        if used {
            let taken = bits.count(in: unit, count)
            bits.insert(unit, count)
            freeUnitsBelowEnd -= count - taken
        } else {
            missingCount = .max
            let freed = bits.remove(unit, count)
            assert(freed == count, "space is freed once")
            freeUnitsBelowEnd += freed
        }
        for zone in Int(unit) / unitsPerZone...Int(end - 1) / unitsPerZone {
            changedZones.insert(zone)
        }
    }

    func isUsed(_ unit: UInt64) -> Bool { bits.contains(unit) }

    /// The first unit of a range that is taken.
    func firstUsed(in units: Range<UInt64>) -> UInt64? { bits.firstSet(in: units) }

    /// Whether all of a run is taken; of no units it is not.
    func isUsed(_ unit: UInt64, _ count: UInt64) -> Bool {
        count > 0 && bits.firstClear(in: unit..<unit + count) == nil
    }

    /// First fit from the cursor on, once around.
    private mutating func search(_ count: Int, alignment: Int) -> UInt64? {
        guard count < missingCount else {
            cursor = 0
            return nil
        }
        if let found = search(count, alignment, from: cursor, to: Int(unitCount)) {
            cursor = found + count
            return UInt64(found)
        }
        if cursor > 0,
            let found = search(count, alignment, from: 0, to: min(cursor + count, Int(unitCount)))
        {
            cursor = found + count
            return UInt64(found)
        }
        // Nothing fits: until units become free, requests of this length or more extend the file
        // without a search, which would look at every gap.
        cursor = 0
        if alignment == 1 { missingCount = count }
        return nil
    }

    private func search(_ count: Int, _ alignment: Int, from: Int, to end: Int) -> Int? {
        var start = (from + alignment - 1) / alignment * alignment
        while start + count <= end {
            guard let taken = bits.firstSet(in: UInt64(start)..<UInt64(start + count)) else {
                return start
            }
            let behind = taken + 1
            let next = bits.firstClear(in: behind..<max(UInt64(end), behind)) ?? UInt64(end)
            start = (Int(next) + alignment - 1) / alignment * alignment
        }
        return nil
    }

    // MARK: Saving

    /// The allocation that the running checkpoint saves: all but recent runs. Zones that changed
    /// count as saved from now on.
    mutating func beginSaving() -> SavedSpace {
        var saved = SavedSpace(
            bits: bits, zones: changedZones.sorted(), zoneAddresses: zoneAddresses,
            pending: pending, unitsPerZone: unitsPerZone)
        for (unit, count) in recent { saved.clear(unit, count) }
        while saved.zoneAddresses.count < zoneCount { saved.zoneAddresses.append(.none) }
        changedZones = []
        return saved
    }

    /// The checkpoint failed: its zones are to be saved by the next one.
    mutating func noteUnsaved(_ zones: [Int]) { changedZones.formUnion(zones) }

    /// Takes over a zone's bitmap as it was saved.
    mutating func loadZone(_ zone: Int, _ image: ByteView) {
        let first = UInt64(zone) * UInt64(unitsPerZone / 64)
        bits.insert(wordsAt: first, count: image.count / 8) { image.uint64(at: $0 * 8) }
    }

    /// Sets the end after all zones were loaded.
    mutating func finishLoading(unitCount count: UInt64, pending saved: [PendingSpace]) {
        unitCount = count
        let used = bits.setCount
        freeUnitsBelowEnd = count >= used ? count - used : 0
        pending = saved
        changedZones = []
        unwritten = []
        // A superblock names a state when all of it is durable.
        syncedEnd = count
    }

    /// Ends the map at its last taken unit, and returns that end.
    mutating func trim() -> UInt64 {
        let end = usedEnd
        for range in unwrittenParts(end, unitCount - end) {
            noteWritten(range.lowerBound, UInt64(range.count))
        }
        freeUnitsBelowEnd -= unitCount - end
        unitCount = end
        syncedEnd = min(syncedEnd, end)
        // A zone that was never saved and lies above the end is free for every reader of the state:
        // the next checkpoint has no entry for it.
        let zoneCount = zoneCount
        changedZones = changedZones.filter { $0 < zoneCount }
        cursor = min(cursor, Int(end))
        return end
    }

    /// The end of the last unit that is taken.
    var usedEnd: UInt64 { bits.end }
}

/// The allocation state as a checkpoint saves it.
struct SavedSpace {
    private var bits: SparseBitMap
    /// The zones to write.
    let zones: [Int]
    var zoneAddresses: [ExtentAddress]
    var pending: [PendingSpace]
    let unitsPerZone: Int

    var usedEnd: UInt64 { bits.end }

    fileprivate init(
        bits: SparseBitMap, zones: [Int], zoneAddresses: [ExtentAddress], pending: [PendingSpace],
        unitsPerZone: Int
    ) {
        self.bits = bits
        self.zones = zones
        self.zoneAddresses = zoneAddresses
        self.pending = pending
        self.unitsPerZone = unitsPerZone
    }

    fileprivate mutating func clear(_ unit: UInt64, _ count: UInt64) { bits.remove(unit, count) }

    /// The bitmap of a zone, one bit a unit, low bits first.
    func zoneImage(_ zone: Int) -> PageBuffer {
        let page = PageBuffer(id: PageID(UInt64(zone)), count: unitsPerZone / 8)
        let first = UInt64(zone) * UInt64(unitsPerZone / 64)
        bits.forEachWord(from: first, count: unitsPerZone / 64) { index, word in
            page.setUInt64(word, at: index * 8)
        }
        return page
    }
}
