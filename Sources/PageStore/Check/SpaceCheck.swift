import Primitives

/// Compares the allocation state that a checkpoint saved with the space reachable from that
/// checkpoint. A writer trusts the state, and writes over the space that it calls free.
struct SpaceCheck {
    private let superblock: Superblock
    private let previousGeneration: UInt64
    private let log: LogClaim
    private let saved: LoadedSpace
    private let content: StoreContent
    private var reachable = SparseBitMap()
    private var waiting = SparseBitMap()
    private(set) var findings: [Finding] = []

    /// Returns the errors found, none when the state is right. The store has just been opened, for
    /// reading only; `content` has the pages that its map names.
    static func run(_ pager: Pager, _ content: StoreContent) -> [Finding] {
        do throws(StoreError) {
            let (superblock, previous, segments) = pager.withPublished {
                ($0.superblock, $0.previousGeneration, $0.segments)
            }
            var check = SpaceCheck(
                superblock: superblock, previousGeneration: previous,
                log: LogClaim(pager.context.geometry, segments, pager.loggedExtents),
                saved: try AllocationReader(pager.context).read(superblock), content: content)
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
        superblock: Superblock, previousGeneration: UInt64, log: LogClaim, saved: LoadedSpace,
        content: StoreContent
    ) {
        self.superblock = superblock
        self.previousGeneration = previousGeneration
        self.log = log
        self.saved = saved
        self.content = content
    }

    private var unitSize: UInt64 { UInt64(superblock.unitSizeInBytes) }
    private var end: UInt64 { superblock.requiredLength / unitSize }

    private mutating func report(_ unit: UInt64, _ message: String) {
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
                report(place.unit, "the extent lies behind what its checkpoint says it needs")
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
            return report(unit, "\(what) lies behind what its checkpoint says it needs")
        }
        if let shared = reachable.insert(unit, count) {
            report(shared, "\(what) lies on something else")
        }
    }

    private mutating func collectWaiting() {
        for pending in saved.map.pending {
            if let shared = waiting.insert(pending.unit, pending.unitCount) {
                report(shared, "the place waits twice to be used again")
            }
        }
    }

    private mutating func compare() {
        let (used, countMax) = (saved.map.bits, TreeCheck.findingCountMax)
        let rules: [(in: SparseBitMap, notIn: SparseBitMap, said: String)] = [
            (reachable, used, "in use and marked as free"),
            (waiting, used, "still needed and marked as free"),
            (used, reachable.union(waiting), "marked as used, and nothing uses it"),
        ]
        for rule in rules {
            for run in rule.in.subtracting(rule.notIn, countMax: countMax) {
                report(run.lowerBound, "\(size(of: run)) bytes: \(rule.said)")
            }
        }
        for run in reachable.intersection(waiting, countMax: countMax) {
            report(run.lowerBound, "\(size(of: run)) bytes: in use and waiting to be used again")
        }
    }

    private func size(of run: Range<UInt64>) -> UInt64 { UInt64(run.count) * unitSize }

    private mutating func compareLog() {
        // A contradictory list cannot be released; it has been reported.
        guard saved.pendingConflict == nil else { return }
        var map = saved.map
        map.release(
            previous: previousGeneration,
            held: [superblock.generation..<superblock.generation + 1])
        if let conflict = log.claim(in: &map) {
            report(conflict, "the log names a place that something else uses")
        }
    }

    /// A writer gives a free name to the next page.
    private mutating func compareNames() {
        var runs = saved.freeIDs[...]
        for id in content.pages where findings.count < TreeCheck.findingCountMax {
            runs = runs.drop { $0.end <= id.rawValue }
            if let run = runs.first, id.rawValue >= run.start {
                findings.append(Finding(page: id, "the page exists and its name is marked as free"))
            } else if id.rawValue >= superblock.pageCount {
                findings.append(Finding(page: id, "the page's name was never given out"))
            }
        }
    }
}
