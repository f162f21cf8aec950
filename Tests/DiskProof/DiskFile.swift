import TestSupport

/// The possible content of one file on the medium: its certain bytes, and for each sector the
/// versions written since.
///
/// The rules: a sector of 512 bytes has one of its versions, independent of other sectors; a sync,
/// and the return of a write through `O_DSYNC`, make the newest version certain; sizes change in
/// order, together with truncated bytes; after a failed sync, or a failed write through `O_DSYNC`,
/// the system treats pages as clean that may not be on the medium, so no later sync makes them
/// certain.
struct DiskFile {
    static let sectorSize = 512

    private struct Version {
        var time: Int
        var bytes: [UInt8]
    }

    private struct Step {
        var time: Int
        var size: Int
        var isCut: Bool
    }

    /// The content that programs see while the power is on.
    private(set) var visible: [UInt8] = []
    private var certain: [UInt8] = []
    private var pending: [Int: [Version]] = [:]
    private var steps: [Step] = []
    private var failedSync = -1
    /// The sectors of writes through `O_DSYNC` that failed, and when.
    private var failedWrites: [Int: Int] = [:]

    init() {}

    /// A file that was on the medium before the trace began.
    init(_ bytes: [UInt8]) {
        visible = bytes
        certain = bytes
    }

    var isSettled: Bool { pending.isEmpty && steps.isEmpty }
    /// The times of uncertain writes.
    var times: Set<Int> {
        Set(pending.values.flatMap { $0.map(\.time) }).union(steps.map(\.time))
    }

    // MARK: Calls

    /// A write that may or may not be on the medium.
    mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int, time: Int) {
        guard !bytes.isEmpty else { return }
        let end = offset + bytes.count
        if end > visible.count {
            visible.append(contentsOf: repeatElement(0, count: end - visible.count))
            steps.append(Step(time: time, size: end, isCut: false))
        }
        visible.replaceSubrange(offset..<end, with: bytes)
        for sector in Self.sectors(offset, bytes.count) { note(sector, time) }
    }

    private static func sectors(_ offset: Int, _ count: Int) -> ClosedRange<Int> {
        offset / sectorSize...(offset + count - 1) / sectorSize
    }

    /// A write through `O_DSYNC` has returned: its bytes are on the medium, with the metadata
    /// needed to read them.
    mutating func settle(_ count: Int, at offset: Int) {
        guard count > 0 else { return }
        let end = offset + count
        if steps.contains(where: { $0.isCut && end > $0.size }) {
            settleSize()
        } else if end > certain.count {
            grow(to: end)
            steps.removeAll { $0.size <= certain.count }
        }
        for sector in Self.sectors(offset, count) { settle(sector) }
    }

    mutating func truncate(to size: Int, time: Int) {
        guard size != visible.count else { return }
        let isCut = size < visible.count
        steps.append(Step(time: time, size: size, isCut: isCut))
        guard isCut else {
            return visible.append(contentsOf: repeatElement(0, count: size - visible.count))
        }
        visible.removeLast(visible.count - size)
        if size % Self.sectorSize != 0 { note(size / Self.sectorSize, time) }
    }

    mutating func sync() {
        settleSize()
        for (sector, versions) in pending {
            let failure = max(failedSync, failedWrites[sector] ?? -1)
            if (versions.last?.time ?? -1) > failure { settle(sector) }
        }
    }

    /// A sync that failed before this moment.
    mutating func failSync(time: Int) { failedSync = time }

    /// A write through `O_DSYNC` that programs see has failed to reach the medium.
    mutating func failWrite(_ count: Int, at offset: Int, time: Int) {
        guard count > 0 else { return }
        for sector in Self.sectors(offset, count) { failedWrites[sector] = time }
    }

    private mutating func note(_ sector: Int, _ time: Int) {
        pending[sector, default: []].append(Version(time: time, bytes: seen(sector)))
    }

    private func seen(_ sector: Int) -> [UInt8] {
        let start = sector * Self.sectorSize
        guard start < visible.count else { return [] }
        return Array(visible[start..<min(start + Self.sectorSize, visible.count)])
    }

    private mutating func settle(_ sector: Int) {
        pending[sector] = nil
        let start = sector * Self.sectorSize
        let bytes = seen(sector).prefix(max(0, certain.count - start))
        certain.replaceSubrange(start..<start + bytes.count, with: bytes)
    }

    private mutating func settleSize() {
        for step in steps where step.isCut {
            if step.size < certain.count { certain.removeLast(certain.count - step.size) }
            // Bytes written beyond the new size before the truncation are gone.
            for sector in pending.keys where sector * Self.sectorSize >= step.size {
                pending[sector]?.removeAll { $0.time < step.time }
                if pending[sector]?.isEmpty == true { pending[sector] = nil }
            }
        }
        steps = []
        if visible.count > certain.count { grow(to: visible.count) }
    }

    private mutating func grow(to size: Int) {
        certain.append(contentsOf: repeatElement(0, count: size - certain.count))
    }

    // MARK: Cuts

    /// The part of the uncertain changes that a cut keeps.
    enum Choice {
        /// Nothing, or all.
        case none, all
        /// The changes before a time, and none after it.
        case before(Int)
        /// All changes but those of one time, or only those.
        case without(Int)
        case only(Int)
        /// Each sector independently: this many of 8 keep a change, some of them an older one.
        case sectors(Int)
        /// The changes before a time, and of those at that time the sectors up to one.
        case torn(Int, firstLost: Int)
        /// The changes before a time, and of those at that time any sectors.
        case scattered(Int)
    }

    func bytes(_ choice: Choice, _ random: inout SeededRandom) -> [UInt8] {
        switch choice {
        case .none: return certain
        case .all: return visible
        default: break
        }
        if isSettled { return certain }
        let kept = stepCount(choice, &random)
        let size = kept == 0 ? certain.count : steps[kept - 1].size
        var bytes = certain
        cut(&bytes, kept)
        let room = size - bytes.count
        if room > 0 { bytes.append(contentsOf: repeatElement(0, count: room)) }
        // In a fixed order: the same seed makes the same image.
        for sector in pending.keys.sorted() {
            let possible = pending[sector, default: []].filter { isPossible($0, sector, kept) }
            guard let version = pick(possible, sector, choice, &random) else { continue }
            let start = sector * Self.sectorSize
            let part = version.bytes.prefix(max(0, size - start))
            if start + part.count <= bytes.count {
                bytes.replaceSubrange(start..<start + part.count, with: part)
            }
        }
        if bytes.count > size { bytes.removeLast(bytes.count - size) }
        return bytes
    }

    /// How many changes of the size the medium has.
    private func stepCount(_ choice: Choice, _ random: inout SeededRandom) -> Int {
        switch choice {
        case .none: 0
        case .all: steps.count
        case .before(let time): steps.count { $0.time < time }
        case .without(let time):
            steps.contains { $0.time == time } ? steps.count { $0.time < time } : steps.count
        // Sizes change in order: this one implies those before it.
        case .only(let time): random.below(2) == 0 ? steps.count { $0.time <= time } : 0
        case .sectors: random.below(3) == 0 ? random.below(steps.count + 1) : steps.count
        case .torn(let time, _), .scattered(let time):
            steps.count { $0.time < time || ($0.time == time && random.below(2) == 0) }
        }
    }

    /// Removes the bytes that the first size changes truncated.
    private func cut(_ bytes: inout [UInt8], _ kept: Int) {
        for step in steps.prefix(kept) where step.isCut && step.size < bytes.count {
            bytes.removeLast(bytes.count - step.size)
        }
    }

    /// Truncated bytes are absent after the truncation, and bytes written later are absent before
    /// it.
    private func isPossible(_ version: Version, _ sector: Int, _ kept: Int) -> Bool {
        let start = sector * Self.sectorSize
        for (index, step) in steps.enumerated() where step.isCut && step.size <= start {
            if index < kept ? version.time < step.time : version.time >= step.time { return false }
        }
        return true
    }

    private func pick(
        _ versions: [Version], _ sector: Int, _ choice: Choice, _ random: inout SeededRandom
    ) -> Version? {
        switch choice {
        case .none: return nil
        case .all: return versions.last
        case .before(let time): return versions.last { $0.time < time }
        case .without(let time): return versions.last { $0.time != time }
        case .only(let time): return versions.last { $0.time == time }
        case .sectors(let share):
            guard !versions.isEmpty, random.below(8) < share else { return nil }
            return random.below(4) == 0 ? versions[random.below(versions.count)] : versions.last
        case .torn(let time, let firstLost):
            return versions.last { $0.time < time || ($0.time == time && sector < firstLost) }
        case .scattered(let time):
            let isKept = random.below(2) == 0
            return versions.last { $0.time < time || ($0.time == time && isKept) }
        }
    }
}
