/// A commit that is kept for a reader: the generation and commit of a snapshot, taken in one step.
struct SnapshotPin: Sendable {
    let generation: Generation
    let commitNumber: UInt64
    let catalogRoot: PageID?
}

/// The generations that readers hold, of this process and of others.
///
/// Ages are by a clock that is never set: a step of the time of day would make young readers old.
/// All access is under the pager's lock.
struct SnapshotRegistry {
    /// The generations that snapshots of this process show.
    private var pinned: [UInt64: Generation] = [:]
    /// The generations that other processes were last seen to hold, and since when they are.
    private var heldByOthers: [Range<UInt64>: ContinuousClock.Instant] = [:]

    /// Keeps a generation for a reader of one of its commits.
    mutating func pin(_ generation: Generation, _ commit: UInt64, now: ContinuousClock.Instant) {
        if generation.pinCount == 0 {
            generation.pinnedSince = now
            pinned[generation.number] = generation
        }
        generation.lastPinned = now
        generation.pin(commit)
    }

    /// Returns whether that was the last reader of the generation.
    mutating func unpin(_ generation: Generation, _ commit: UInt64) -> Bool {
        generation.unpin(commit)
        if generation.pinCount == 0 { pinned[generation.number] = nil }
        return generation.pinCount == 0
    }

    /// The generations that are still held. Those whose youngest reader is older than the limit
    /// lose their claim; the newest generation is always retained. A generation is the newest for
    /// any time, and gets no young readers afterwards but of commits that it keeps already.
    ///
    /// - Parameter others: what other processes hold now.
    mutating func held(
        newest: Generation, others: [Range<UInt64>], now: ContinuousClock.Instant,
        ageMax: Duration?
    ) -> [Range<UInt64>] {
        for generation in pinned.values
        where generation !== newest && isTooOld(generation.lastPinned, now, ageMax) {
            generation.isRevoked = true
        }
        heldByOthers = Dictionary(
            others.map { ($0, heldByOthers[$0] ?? now) }, uniquingKeysWith: min)
        let own = pinned.values.filter { !$0.isRevoked }.map { $0.number..<$0.number + 1 }
        return own + heldByOthers.filter { !isTooOld($0.value, now, ageMax) }.keys
    }

    private func isTooOld(
        _ since: ContinuousClock.Instant, _ now: ContinuousClock.Instant, _ ageMax: Duration?
    ) -> Bool {
        guard let ageMax else { return false }
        return now - since > ageMax
    }

    /// The bytes of the images that readers of earlier generations keep in memory.
    func imageBytes(besides newest: Generation) -> Int {
        pinned.values.reduce(0) { $0 + ($1 === newest ? 0 : $1.imageBytes) }
    }

    /// The oldest generation that is held, and since when.
    var oldest: (generation: UInt64, since: ContinuousClock.Instant)? {
        var readers = pinned.values.map { ($0.number, $0.pinnedSince) }
        readers += heldByOthers.map { ($0.key.lowerBound, $0.value) }
        return readers.min { $0 < $1 }
    }
}
