/// Compares the allocation state that a checkpoint saved with what can be reached from that
/// checkpoint. A writer trusts the state: what it calls free is written over.
struct SpaceCheck {
    private let engine: Engine
    private let superblock: Superblock
    private let saved: LoadedSpace
    private let content: StoreContent
    private var reachable = UnitSet()
    private var waiting = UnitSet()
    private(set) var findings: [Finding] = []

    /// Returns what is wrong, nothing when nothing is. The engine has just been opened, for
    /// reading only; `content` is what its map names.
    static func run(_ engine: Engine, _ content: StoreContent) -> [Finding] {
        do throws(StoreError) {
            let superblock = engine.superblock
            var check = SpaceCheck(
                engine: engine, superblock: superblock,
                saved: try engine.savedSpace(superblock.allocationRoot), content: content)
            check.collectReachable()
            check.collectWaiting()
            check.compare()
            check.compareLog()
            check.compareNames()
            return check.findings
        } catch {
            return [Finding(error)]
        }
    }

    private init(
        engine: Engine, superblock: Superblock, saved: LoadedSpace, content: StoreContent
    ) {
        self.engine = engine
        self.superblock = superblock
        self.saved = saved
        self.content = content
    }

    private var unitSize: UInt64 { UInt64(superblock.unitSizeInBytes) }
    private var end: UInt64 { superblock.requiredLength / unitSize }

    private mutating func note(_ unit: UInt64, _ message: String) {
        guard findings.count < TreeCheck.findingCountMax else { return }
        findings.append(Finding(byteOffset: unit * unitSize, message))
    }

    private mutating func collectReachable() {
        let blockUnits = UInt64(2 * Limits.blockSizeInBytes) / unitSize
        _ = reachable.insert(0, blockUnits)
        // Extents that lie on each other have been reported by then.
        for place in content.places {
            if place.unit < end, place.unitCount <= end - place.unit {
                _ = reachable.insert(place.unit, place.unitCount)
            } else {
                note(place.unit, "the extent lies behind what its checkpoint says it needs")
            }
        }
        let head = superblock.head
        insertAlone(head.byteOffset / unitSize, head.sizeInBytes / unitSize, "the log's head")
        for address in saved.map.zoneAddresses + saved.blocks where !address.isNone {
            insertAlone(address.unit, UInt64(address.unitCount), "the allocation state")
        }
    }

    private mutating func insertAlone(_ unit: UInt64, _ count: UInt64, _ what: String) {
        guard unit < end, count <= end - unit else {
            return note(unit, "\(what) lies behind what its checkpoint says it needs")
        }
        if let shared = reachable.insert(unit, count) {
            note(shared, "\(what) lies on something else")
        }
    }

    private mutating func collectWaiting() {
        for pending in saved.map.pending {
            if let shared = waiting.insert(pending.unit, pending.unitCount) {
                note(shared, "the place waits twice to be used again")
            }
        }
    }

    private mutating func compare() {
        let used = UnitSet(words: saved.map.words)
        let rules: [(in: UnitSet, notIn: UnitSet, said: String)] = [
            (reachable, used, "in use and marked as free"),
            (waiting, used, "still needed and marked as free"),
            (used, reachable.union(waiting), "marked as used, and nothing uses it"),
        ]
        for rule in rules {
            for run in rule.in.subtracting(rule.notIn) {
                note(run.lowerBound, "\(size(of: run)) bytes: \(rule.said)")
            }
        }
        for run in reachable.intersection(waiting) {
            note(run.lowerBound, "\(size(of: run)) bytes: in use and waiting to be used again")
        }
    }

    private func size(of run: Range<UInt64>) -> UInt64 { UInt64(run.count) * unitSize }

    private mutating func compareLog() {
        // What contradicts itself cannot be released; it has been reported.
        guard saved.pendingConflict == nil else { return }
        var map = saved.map
        map.release(
            previous: engine.state.previousGeneration,
            held: [superblock.generation..<superblock.generation + 1])
        if let conflict = engine.claimLog(in: &map) {
            note(conflict, "the log names a place that something else uses")
        }
    }

    /// A writer gives a free name to the next page.
    private mutating func compareNames() {
        var runs = saved.freeNames[...]
        for id in content.pages {
            runs = runs.drop { $0.end <= id.rawValue }
            if let run = runs.first, id.rawValue >= run.start {
                findings.append(Finding(page: id, "the page exists and its name is marked as free"))
            } else if id.rawValue >= superblock.pageCount {
                findings.append(Finding(page: id, "the page's name was never given out"))
            }
        }
    }
}

/// A set of units, a bit each.
struct UnitSet {
    private var words: [UInt64]

    init(words: [UInt64] = []) { self.words = words }

    /// Inserts a run. Returns a unit of it that the set had already.
    mutating func insert(_ unit: UInt64, _ count: UInt64) -> UInt64? {
        let end = unit + count
        let needed = Int((end + 63) / 64)
        if needed > words.count {
            words.append(contentsOf: repeatElement(0, count: needed - words.count))
        }
        var shared: UInt64?
        var position = unit
        while position < end {
            let bit = position % 64
            let part = min(64 - bit, end - position)
            let mask = (part == 64 ? UInt64.max : (1 << part) - 1) << bit
            let word = Int(position / 64)
            if shared == nil, words[word] & mask != 0 {
                shared = position - bit + UInt64((words[word] & mask).trailingZeroBitCount)
            }
            words[word] |= mask
            position += part
        }
        return shared
    }

    func union(_ other: UnitSet) -> UnitSet {
        var longer = words.count >= other.words.count ? words : other.words
        let shorter = words.count >= other.words.count ? other.words : words
        for (index, word) in shorter.enumerated() { longer[index] |= word }
        return UnitSet(words: longer)
    }

    func subtracting(_ other: UnitSet) -> [Range<UInt64>] {
        runs { $0 < other.words.count ? words[$0] & ~other.words[$0] : words[$0] }
    }

    func intersection(_ other: UnitSet) -> [Range<UInt64>] {
        runs { $0 < other.words.count ? words[$0] & other.words[$0] : 0 }
    }

    /// The runs of ones in words that are made up from this set's.
    private func runs(_ word: (Int) -> UInt64) -> [Range<UInt64>] {
        var runs: [Range<UInt64>] = []
        for index in words.indices {
            var bits = word(index)
            while bits != 0 {
                let low = UInt64(bits.trailingZeroBitCount)
                let length = UInt64((~(bits >> low)).trailingZeroBitCount)
                let start = UInt64(index) * 64 + low
                if let last = runs.last, last.upperBound == start {
                    runs[runs.count - 1] = last.lowerBound..<(start + length)
                } else {
                    runs.append(start..<(start + length))
                }
                bits &= length == 64 ? 0 : ~(((1 << length) - 1) << low)
            }
        }
        return runs
    }
}
