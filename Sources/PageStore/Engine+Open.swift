import Dispatch

/// Opening: the newest valid superblock, the log behind it, and nothing written until the first
/// transaction.
extension Engine {
    /// Opens the store at a path. Creates it when nothing is there, unless for reading only.
    ///
    /// Throws `notAStore`, `newerFormat`, `truncated` or `corrupt` for what the file holds,
    /// `alreadyOpen` and `lockedByOther` for who has it, and what the system reports.
    package static func open(
        path: String, options: Options = Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> Engine {
        precondition(
            PageSizes.isValid(
                pageSizeInBytes: options.pageSizeInBytes,
                unitSizeInBytes: options.unitSizeInBytes),
            "page and unit sizes are powers of two within the limits")
        precondition(
            !options.opensPreviousGeneration || options.isReadOnly,
            "an earlier generation is for reading only")
        let opened = try files.open(path, options.isReadOnly ? .readOnly : .create)
        let file = MeteredFile(opened)
        do throws(StoreError) {
            if options.isReadOnly {
                return try openForReading(path: path, options: options, files: files, file: file)
            }
            try OpenStores.register(file.identity, path: path)
        } catch {
            file.close()
            throw error.at(path: path)
        }
        do throws(StoreError) {
            try lockFile(file, options: options)
            return try openLocked(path: path, options: options, files: files, file: file)
        } catch {
            OpenStores.unregister(file.identity)
            file.close()
            throw error.at(path: path)
        }
    }

    /// Takes the writer's lock, or waits for it for as long as the options say.
    private static func lockFile(
        _ file: MeteredFile, options: Options
    ) throws(StoreError) {
        let end = ContinuousClock.now.advanced(by: options.writerTimeout)
        let pause = DispatchSemaphore(value: 0)
        var pauseInMilliseconds = 1
        while try !file.lockWriter() {
            guard ContinuousClock.now < end else {
                throw StoreError(
                    .lockedByOther,
                    "another process has the store open for writing; open it for reading only, "
                        + "or close it there first")
            }
            // The system can wait for a lock, but not for a while.
            _ = pause.wait(timeout: .now() + .milliseconds(pauseInMilliseconds))
            pauseInMilliseconds = min(pauseInMilliseconds * 2, 20)
        }
    }

    private static func openForReading(
        path: String, options: Options, files: any FileSystem, file: MeteredFile
    ) throws(StoreError) -> Engine {
        let choice = try superblocks(of: file, size: file.size(), options: options)
        let engine = Engine(choice, path: path, options: options, files: files, file: file)
        try engine.readNewest()
        return engine
    }

    private static func openLocked(
        path: String, options: Options, files: any FileSystem, file: MeteredFile
    ) throws(StoreError) -> Engine {
        try checkPlace(of: file, at: path, in: files)
        let size = try file.size()
        if size == 0 {
            return try create(path: path, options: options, files: files, file: file)
        }
        let choice: SuperblockChoice
        do throws(StoreError) {
            choice = try SuperblockChoice.read(file, sizeInBytes: size)
        } catch {
            if try isUnfinishedCreation(file, size: size, options: options) {
                return try create(path: path, options: options, files: files, file: file)
            }
            throw error
        }
        let engine = Engine(choice, path: path, options: options, files: files, file: file)
        engine.state.isOnlySuperblock = choice.other == nil
        // Nobody else writes, so that what is read now stays.
        engine.adopt(try engine.read(choice, isTailOpen: false))
        return engine
    }

    /// What needs more of the file than there is counts only where nothing else opens the store,
    /// and somebody wants to see what is left.
    static func superblocks(
        of file: MeteredFile, size: UInt64, options: Options
    ) throws(StoreError) -> SuperblockChoice {
        do throws(StoreError) {
            return try SuperblockChoice.read(file, sizeInBytes: size)
        } catch {
            guard options.toleratesDamage, error.code == .truncated else { throw error }
            return try SuperblockChoice.read(file, sizeInBytes: .max)
        }
    }

    private convenience init(
        _ choice: SuperblockChoice, path: String, options: Options, files: any FileSystem,
        file: MeteredFile
    ) {
        var options = options
        options.pageSizeInBytes = choice.newest.pageSizeInBytes
        options.unitSizeInBytes = choice.newest.unitSizeInBytes
        self.init(
            path: path, superblock: choice.newest,
            previousGeneration: choice.previousGeneration, options: options, files: files,
            file: file)
    }

    /// The superblock that the store was opened with, or that the last checkpoint wrote.
    package var superblock: Superblock { lock.withLock { _ in state.superblock } }

    private convenience init(
        path: String, superblock: Superblock, previousGeneration: UInt64, options: Options,
        files: any FileSystem, file: MeteredFile
    ) {
        let map = PageMap(pageSizeInBytes: options.pageSizeInBytes)
        let generation = Generation(
            number: superblock.generation, checkpointCommit: superblock.commitNumber, map: map)
        let state = EngineState(
            generation: generation, superblock: superblock,
            previousGeneration: previousGeneration)
        self.init(
            path: path, options: options, uuid: superblock.uuid, file: file, files: files,
            state: state, cache: PageCache(budgetInBytes: options.cacheSizeInBytes),
            writer: WriterState(superblock), logTail: LogTail(segment: superblock.head))
    }

    // MARK: Creation

    /// Whether the file is one whose creation did not finish. The first superblock goes to slot 1
    /// and is durable before slot 0 is written, and only then may a log begin: so slot 0 and the
    /// first log segment are zeros, and the file is no longer than a new store. A store that ever
    /// committed has frames there, and its loss is never taken for this.
    private static func isUnfinishedCreation(
        _ file: MeteredFile, size: UInt64, options: Options
    ) throws(StoreError) -> Bool {
        let block = SuperblockLayout.size
        let segmentSize = max(options.logSegmentSizeInBytes, Limits.walSegmentSizeInBytesMin)
        let newStoreSize = UInt64(
            2 * block + segmentSize + 4 * options.pageSizeInBytes
                + 64 * options.unitSizeInBytes + 4 * Limits.blockSizeInBytes)
        guard size <= newStoreSize else { return false }
        let buffer = ReadBuffer(count: 2 * block + segmentSize)
        let count = try file.read(into: buffer, at: 0)
        let slot = buffer.view.slice(from: 0, count: min(count, block))
        let log = buffer.view.slice(from: min(count, 2 * block), count: max(0, count - 2 * block))
        // Of a first superblock that was torn, the beginning is there or it is not.
        let first = buffer.view.slice(from: min(count, block), count: min(max(0, count - block), 8))
        let magic = SuperblockLayout.magicValue
        let isOurs =
            first.count < 8
            ? first.isZero
            : (0...8).contains { byteCount in
                let kept = byteCount == 8 ? UInt64.max : (1 << (8 * UInt64(byteCount))) - 1
                return first.uint64(at: 0) == magic & kept
            }
        return slot.isZero && isOurs && log.isZero
    }

    /// Writes all but the superblocks, then both superblocks, then the folder's entry.
    static func create(
        path: String, options: Options, files: any FileSystem, file: MeteredFile,
        uuid: StoreUUID? = nil
    ) throws(StoreError) -> Engine {
        let unitSize = UInt64(options.unitSizeInBytes)
        let head = LogSegment(
            byteOffset: 0, sizeInBytes: 0, number: 0, salt: StoreUUID(low: 0, high: 0))
        var superblock = Superblock(
            pageSizeInBytes: options.pageSizeInBytes, unitSizeInBytes: options.unitSizeInBytes,
            generation: 0,
            uuid: uuid ?? StoreUUID(low: files.random(), high: files.random()),
            mapDepth: 1, commitNumber: 0, commitTime: files.now(), pageCount: 1, catalogRoot: 0,
            mapRoot: .none, allocationRoot: .none, head: head, requiredLength: 0)
        superblock.lineage = files.random()
        let engine = Engine(
            path: path, superblock: superblock, previousGeneration: 0, options: options,
            files: files, file: file)
        let blank = ByteBuffer(capacity: 2 * SuperblockLayout.size)
        blank.appendZeros(2 * SuperblockLayout.size)
        try file.write(blank.view, at: 0)
        engine.space.withLock { space in
            let unitCount = UInt64(blank.count) / unitSize
            space.take(0, unitCount)
            space.noteWritten(0, unitCount)
        }
        engine.state.segments = []
        engine.start(try engine.allocateSegment(holding: 0))
        try engine.run(engine.plan(1))
        try engine.writeTwin()
        try engine.syncData()
        try files.syncDirectory(of: path)
        engine.writer.isPrepared = true
        return engine
    }

    /// Writes the newest state once more, as the next generation in the other slot, so that both
    /// superblocks lead to the same log.
    func writeTwin() throws(StoreError) {
        var twin = superblock
        twin.generation += 1
        try writeSuperblock(twin)
        lock.withLock { _ in
            let generation = state.generation
            state.generation = Generation(
                number: twin.generation, checkpointCommit: generation.checkpointCommit,
                map: generation.map)
            state.previousGeneration = state.superblock.generation
            state.previousRequiredLength = state.superblock.requiredLength
            state.superblock = twin
        }
        releaseSpace()
    }

    /// The write part of recovery, before the first transaction: the winning superblock is made
    /// durable, what the log says is checkpointed, and a new log is begun in a segment that
    /// nothing found leads to. A crash anywhere starts again from the same superblock.
    func prepareWriting() throws(StoreError) {
        guard !writer.isPrepared else { return }
        let winner = superblock
        guard winner.featuresReadOnly == 0 else {
            throw StoreError(
                .readOnly, "the file uses features that this program can only read", path: path)
        }
        let segments = state.segments
        // Its creator may have died before it made the file's name durable.
        if winner.generation <= 2 { try syncFolder() }
        try settleSuperblock(winner)
        var saved = try savedSpace(winner.allocationRoot)
        if let conflict = saved.pendingConflict {
            throw StoreError.corrupt(
                nil, "a place that waits to be used again is free, or waits twice",
                byteOffset: conflict * UInt64(options.unitSizeInBytes))
        }
        // First what the saved state lets go, then what the log has taken of it since.
        let held = heldGenerations() + [winner.generation..<winner.generation + 1]
        saved.map.release(previous: state.previousGeneration, held: held)
        if let conflict = claimLog(in: &saved.map) {
            throw StoreError.corrupt(
                nil, "the log names a place that something else uses",
                byteOffset: conflict * UInt64(options.unitSizeInBytes))
        }
        writer.allocationBlocks = saved.blocks
        writer.freeNames = PageNames(ascending: saved.freeNames)
        let map = saved.map
        space.withLock { $0 = map }
        forgetReusedNames()
        // Files of early programs have none.
        if winner.lineage == 0 { lock.withLock { _ in state.superblock.lineage = files.random() } }
        start(try allocateSegment(holding: 0))
        do throws(StoreError) {
            try run(plan(superblock.generation + 3))
        } catch {
            state.segments = segments
            throw error
        }
        try writeTwin()
        writer.isPrepared = true
    }

    private func syncFolder() throws(StoreError) {
        do throws(StoreError) {
            try files.syncDirectory(of: path)
        } catch {
            poison(error)
            throw error
        }
    }

    /// The winner may have been seen without being durable, so it is written again. The only copy
    /// is never written over: it is synchronised, and its content goes to the other slot, as a
    /// generation of its own.
    private func settleSuperblock(_ winner: Superblock) throws(StoreError) {
        guard state.isOnlySuperblock else { return try writeSuperblock(winner) }
        try syncData()
        var twin = winner
        twin.generation += 3
        try writeSuperblock(twin)
        state.superblock = twin
        state.previousGeneration = winner.generation
        state.previousRequiredLength = winner.requiredLength
        state.isOnlySuperblock = false
    }

    /// What the log occupies and names is used, though no checkpoint has saved it as such. Returns
    /// a unit that something else uses already, nil when there is none.
    func claimLog(in space: inout SpaceMap) -> UInt64? {
        let unitSize = UInt64(options.unitSizeInBytes)
        var claimed: [Range<UInt64>] = []
        func claim(_ address: ExtentAddress) {
            claimed.append(address.unit..<(address.unit + UInt64(address.unitCount)))
        }
        let segments = state.segments
        for segment in segments {
            let start = segment.byteOffset / unitSize
            let units = start..<(start + segment.sizeInBytes / unitSize)
            // The state has the head: the log of its generation begins there.
            if segment.number == segments.first?.number {
                space.take(units.lowerBound, UInt64(units.count))
            } else {
                claimed.append(units)
            }
        }
        for (address, _) in state.generation.replaced { claim(address) }
        state.generation.versions.visit { version in
            if case .extent(let address) = version.content { claim(address) }
        }
        for units in claimed {
            for unit in units where space.isUsed(unit) { return unit }
            space.take(units.lowerBound, UInt64(units.count))
        }
        return nil
    }

    /// Page names that the log took or freed since the allocation state was saved.
    private func forgetReusedNames() {
        var free = writer.freeNames
        var used: [PageID] = []
        let known = superblock.pageCount
        if writer.nextPageID > known {
            free.insert(PageNames.Run(start: known, count: writer.nextPageID - known))
        }
        for (id, version) in state.generation.versions.newest {
            if case .freed = version.content { free.insert(id) } else { used.append(id) }
        }
        writer.freeNames = free.subtracting(used.sorted())
    }
}

/// The two copies of the superblock as they were found.
struct SuperblockChoice {
    var newest: Superblock
    var other: Superblock?
    /// The generation of the other copy; the newest itself when that copy is invalid, so that all
    /// that pends is free: the log may lie there, when the copy was the newest one.
    var previousGeneration: UInt64

    static func read(
        _ file: MeteredFile, sizeInBytes: UInt64
    ) throws(StoreError) -> SuperblockChoice {
        var valid: [Superblock] = []
        var failures: [StoreError] = []
        for slot in 0..<2 {
            do throws(StoreError) {
                valid.append(try read(file, slot: slot, sizeInBytes: sizeInBytes))
            } catch {
                if error.code == .io || error.code == .permissionDenied { throw error }
                failures.append(error)
            }
        }
        // Which copy is the newer one, only a program of its version knows.
        if let newer = failures.first(where: { $0.code == .newerFormat }) { throw newer }
        if valid.count == 2, valid[0].uuid != valid[1].uuid {
            throw .corrupt(nil, "the two superblocks belong to different stores", byteOffset: 0)
        }
        guard let newest = valid.max(by: { $0.generation < $1.generation }) else {
            let order: [StoreError.Code] = [.truncated, .corrupt, .notAStore]
            for code in order {
                if let failure = failures.first(where: { $0.code == code }) { throw failure }
            }
            throw StoreError(.notAStore, "the file has no superblock", byteOffset: 0)
        }
        let other = valid.first { $0.generation != newest.generation }
        // Of a copy that cannot be read nothing is needed any more.
        let previous = other?.generation ?? newest.generation
        return SuperblockChoice(newest: newest, other: other, previousGeneration: previous)
    }

    /// The checkpoint before the newest one.
    func previous() throws(StoreError) -> Superblock {
        guard let other else {
            throw .corrupt(nil, "the other superblock cannot be read", byteOffset: 0)
        }
        return other
    }

    private static func read(
        _ file: MeteredFile, slot: Int, sizeInBytes: UInt64
    ) throws(StoreError) -> Superblock {
        let buffer = ReadBuffer(count: SuperblockLayout.size)
        let start = UInt64(slot * SuperblockLayout.size)
        let count = try file.read(into: buffer, at: start)
        let bytes = buffer.view.slice(from: 0, count: count)
        guard count >= 8,
            bytes.uint64(at: SuperblockLayout.magic) == SuperblockLayout.magicValue
        else {
            throw StoreError(
                .notAStore, "the file does not begin as a Trellis store", byteOffset: start)
        }
        let superblock = try Superblock.decode(bytes, slot: slot)
        guard superblock.requiredLength <= sizeInBytes else {
            throw truncated(superblock, sizeInBytes: sizeInBytes)
        }
        return superblock
    }

    static func truncated(_ superblock: Superblock, sizeInBytes: UInt64) -> StoreError {
        StoreError(
            .truncated,
            "the file has \(sizeInBytes) bytes and needs \(superblock.requiredLength)",
            byteOffset: sizeInBytes)
    }
}
