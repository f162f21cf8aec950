import Primitives

/// The write part of recovery, before the first transaction: spec/03-wal.md, recovery.
struct Recovery {
    /// The usual upper limit of an opening's first segment: many programs commit little before they
    /// close the file, and its zeros would be most of what they write.
    private static let firstSegmentSizeInBytes = 24 << 10

    private let parts: StoreParts

    init(_ parts: StoreParts) { self.parts = parts }

    private var context: StoreContext { parts.context }

    /// The winning superblock is written again, the log is checkpointed, and a new log is begun in
    /// a segment that nothing found leads to. A crash starts again from the winner, from the other
    /// superblock or from the new one: all reach the same commits.
    func prepareWriting(_ writer: inout WriterState) throws(StoreError) {
        guard !writer.isPrepared else { return }
        let winner = parts.pager.superblock
        guard winner.featuresReadOnly == 0 else {
            throw StoreError(
                .readOnly, "the file uses features that this program can only read",
                path: context.path)
        }
        // Of generations that recovery writes, and of those that a checkpoint does.
        guard winner.generation + 16 <= Limits.numberMax else { throw context.numbersUsedUp() }
        // Its creator may have died before it made the file's name durable.
        if winner.generation <= 2 { try syncFolder() }
        try settleSuperblock(winner, &writer)
        try takeSpace(of: winner, &writer)
        let (segments, history) = (parts.log.segments, parts.pager.superblock.history)
        // The checkpoint synchronises the file before its superblock names the segment.
        let segment = try parts.log.allocateSegment(
            holding: 0,
            usualSizeInBytes: min(
                context.options.logSegmentSizeInBytes, Self.firstSegmentSizeInBytes),
            isSyncedLater: true)
        parts.log.start(segment, &writer)
        // Files of early programs have no lineage.
        if winner.lineage == 0 {
            let lineage = context.files.random()
            parts.pager.withPublished { $0.superblock.lineage = lineage }
        }
        parts.beginSession(writer)
        do throws(StoreError) {
            let number = parts.pager.superblock.generation + 3
            try parts.checkpointer.run(parts.checkpointer.plan(number, writer))
        } catch {
            parts.log.restore(segments)
            parts.pager.withPublished {
                $0.superblock.history = history
                $0.superblock.lineage = winner.lineage
            }
            throw error
        }
        try parts.checkpointer.writeMirrorSuperblock()
        writer.isPrepared = true
    }

    private func syncFolder() throws(StoreError) {
        try context.poisoning { () throws(StoreError) in
            try context.files.syncDirectory(of: context.files.target(of: context.path))
        }
    }

    /// The winner may have been seen without being durable, so it is written again, and awaited:
    /// recovery writes over space that only the superblock before it needs, which a power cut would
    /// bring back. The only copy is never written over: it is synchronised, and its content goes to
    /// the other slot, as a generation of its own.
    private func settleSuperblock(
        _ winner: Superblock, _ writer: inout WriterState
    ) throws(StoreError) {
        guard writer.isOnlySuperblock else { return try context.writeSuperblock(winner) }
        try context.sync()
        var copy = winner
        copy.generation += 3
        try context.writeSuperblock(copy)
        parts.pager.withPublished { $0.advance(to: copy) }
        writer.isOnlySuperblock = false
    }

    /// Which parts of the file are taken: those that the winner saved, less those that may be
    /// released by now, and those that the log has taken since.
    private func takeSpace(
        of winner: Superblock, _ writer: inout WriterState
    ) throws(StoreError) {
        var saved = try AllocationReader(context).read(winner)
        if let conflict = saved.pendingConflict {
            throw StoreError.corrupt(
                nil, "a place that waits to be used again is free, or waits twice",
                byteOffset: context.geometry.byteOffset(ofUnit: conflict))
        }
        let held =
            parts.pager.heldGenerations() + [winner.generation..<winner.generation + 1]
        let previous = parts.pager.withPublished { $0.previousGeneration }
        let claim = LogClaim(parts)
        saved.map.release(previous: previous, held: held, reused: claim.units)
        if let conflict = claim.claim(in: &saved.map) {
            throw StoreError.corrupt(
                nil, "the log names a place that something else uses",
                byteOffset: context.geometry.byteOffset(ofUnit: conflict))
        }
        let (map, blocks) = (saved.map, saved.blocks)
        parts.checkpointer.state.withLock { $0.allocationBlocks = blocks }
        parts.space.withSpace { $0 = map }
        writer.freeIDs = freeIDs(saved.freeIDs, writer)
    }

    /// The ids that were saved as free, without those that the log took since, and with those that
    /// it freed.
    private func freeIDs(
        _ saved: [FreePageIDs.Run], _ writer: borrowing WriterState
    ) -> FreePageIDs {
        var free = FreePageIDs(ascending: saved)
        var used: [PageID] = []
        let known = parts.pager.superblock.pageCount
        if writer.nextPageID > known {
            free.insert(FreePageIDs.Run(start: known, count: writer.nextPageID - known))
        }
        for (id, version) in parts.pager.newestVersions {
            guard case .freed = version.content else {
                used.append(id)
                continue
            }
            // What the log says to be freed may never have been a page.
            if id.rawValue < writer.nextPageID { free.insert(id) }
        }
        return free.subtracting(used.sorted())
    }
}

/// Space that the log occupies or names: used, though no checkpoint has saved it as such.
struct LogClaim {
    private let geometry: Geometry
    private let segments: [LogSegment]
    private let extents: [ExtentAddress]

    init(_ parts: StoreParts) {
        self.init(parts.context.geometry, parts.log.segments, parts.pager.loggedExtents)
    }

    init(_ geometry: Geometry, _ segments: [LogSegment], _ extents: [ExtentAddress]) {
        self.geometry = geometry
        self.segments = segments
        self.extents = extents
    }

    private func units(of segment: LogSegment) -> Range<UInt64> {
        geometry.units(from: segment.byteOffset, count: segment.sizeInBytes)
    }

    /// What was taken since the state was saved. The state has the head: the log of its generation
    /// begins there.
    private var claimed: [Range<UInt64>] {
        segments.dropFirst().map(units(of:))
            + extents.map { $0.unit..<($0.unit + UInt64($0.unitCount)) }
    }

    /// The units that were taken since the state was saved.
    var units: SparseBitMap {
        var units = SparseBitMap()
        for run in claimed { units.insert(run.lowerBound, UInt64(run.count)) }
        return units
    }

    /// Returns a unit that something else uses already, nil when there is none.
    func claim(in space: inout SpaceMap) -> UInt64? {
        if let head = segments.first.map(units(of:)) {
            space.take(head.lowerBound, UInt64(head.count))
        }
        for units in claimed {
            if let used = space.firstUsed(in: units) { return used }
            space.take(units.lowerBound, UInt64(units.count))
        }
        return nil
    }
}
