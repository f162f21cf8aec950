/// A generation as it was read from the file, and what its log says since.
struct FileState {
    var superblock: Superblock
    /// The generation in the other superblock.
    var previousGeneration: UInt64
    var generation: Generation
    /// Nil behind an earlier generation: its log leads to the newest commit.
    var log: LogContent?
    /// What was passed over because the options ask for it.
    var damage: [StoreError] = []
}

/// Reading what the file says now: once when it is opened for writing, and again and again beside a
/// writer of another process. The steps are those of spec/03-wal.md, locks.
extension Engine {
    /// A reader tries again when the writer was faster; it is so only by chance.
    private static let attemptCountMax = 1000

    /// Moves a store that was opened for reading on to the newest commit that another process has
    /// written. Snapshots that are held stay what they are. Returns whether there was one.
    @discardableResult
    package func advance() throws(StoreError) -> Bool {
        let before = try moveOn()
        return before.commit != lock.withLock { _ in state.commitNumber }
    }

    /// The same; returns what was shown before.
    func moveOn() throws(StoreError) -> (generation: UInt64, commit: UInt64) {
        let isFixed = !options.isReadOnly || options.opensPreviousGeneration
        guard !isFixed else { return lock.withLock { _ in shown } }
        try checkProcess()
        turn.pass()
        defer { turn.open() }
        let before = try lock.withLock { _ throws(StoreError) in
            try checkOpen()
            return shown
        }
        do throws(StoreError) {
            try checkPlace()
            try readNewest()
        } catch {
            throw error.at(path: path)
        }
        return before
    }

    /// Under the lock: the newest generation and commit that snapshots can have.
    var shown: (generation: UInt64, commit: UInt64) {
        (state.generation.number, state.commitNumber)
    }

    /// Shows the newest commit of the file, pinned by its generation's lock.
    func readNewest() throws(StoreError) {
        for _ in 0..<Self.attemptCountMax {
            let choice = try readSuperblocks()
            guard choice.newest.uuid == uuid else {
                throw .corrupt(nil, "the file has become another store", byteOffset: 0)
            }
            if try readNewest(choice) { return }
        }
        throw StoreError(
            .snapshotTooOld, "checkpoints followed each other faster than they could be read")
    }

    private func readSuperblocks() throws(StoreError) -> SuperblockChoice {
        // The size first: a generation that comes between is seen by the check at the end.
        let size = try file.size()
        return try Self.superblocks(of: file, size: size, options: options)
    }

    /// One try. False when the writer published another generation meanwhile: it may not have seen
    /// the lock, and the log may have gone on where the generation's readers need not be able to
    /// follow.
    private func readNewest(_ choice: SuperblockChoice) throws(StoreError) -> Bool {
        let superblock = options.opensPreviousGeneration ? try choice.previous() : choice.newest
        let isNew = try lockGeneration(superblock.generation)
        func giveUp() throws(StoreError) {
            if isNew { try file.unlockReader(of: superblock.generation) }
        }
        let found: FileState
        do throws(StoreError) {
            // Asked before the log is read: a writer that comes later does not go on with it.
            let isTailOpen = try file.isLockedByWriter()
            found =
                try isNew
                ? read(choice, isTailOpen: isTailOpen) : readOn(choice, isTailOpen: isTailOpen)
        } catch {
            let hasMoved = try hasMoved(from: choice)
            try giveUp()
            guard hasMoved else { throw error }
            return false
        }
        guard try !hasMoved(from: choice) else {
            try giveUp()
            return false
        }
        if isNew { found.generation.newestWhenRead = choice.newest.generation }
        adopt(found)
        return true
    }

    private func hasMoved(from choice: SuperblockChoice) throws(StoreError) -> Bool {
        try readSuperblocks().newest.generation != choice.newest.generation
    }

    /// False when the generation is locked already, because it is the one that is shown.
    private func lockGeneration(_ number: UInt64) throws(StoreError) -> Bool {
        let isShown = lock.withLock { _ in state.isRead && state.generation.number == number }
        guard !isShown else { return false }
        _ = try file.lockReader(of: number)
        return true
    }

    // MARK: Reading

    /// A generation from its superblock on.
    func read(
        _ choice: SuperblockChoice, isTailOpen: Bool
    ) throws(StoreError) -> FileState {
        let superblock = options.opensPreviousGeneration ? try choice.previous() : choice.newest
        var damage: [StoreError] = []
        let map = try tolerating(&damage) { () throws(StoreError) in try loadMap(superblock) }
        let generation = Generation(
            number: superblock.generation, checkpointCommit: superblock.commitNumber,
            map: map ?? PageMap(pageSizeInBytes: options.pageSizeInBytes))
        if options.toleratesDamage {
            let size = try file.size()
            if superblock.requiredLength > size {
                damage.append(SuperblockChoice.truncated(superblock, sizeInBytes: size))
            }
        }
        var found = FileState(
            superblock: superblock, previousGeneration: choice.previousGeneration,
            generation: generation)
        if !options.opensPreviousGeneration {
            var reader = LogReader(
                engine: self, generation: generation, content: LogContent(superblock),
                isTailOpen: isTailOpen)
            _ = try tolerating(&damage) { () throws(StoreError) in try reader.read() }
            // Behind damage that is passed over: what was committed before it.
            found.log = reader.content
        }
        found.damage = damage
        return found
    }

    /// The generation that is shown, and what its log has got since.
    private func readOn(
        _ choice: SuperblockChoice, isTailOpen: Bool
    ) throws(StoreError) -> FileState {
        let generation = lock.withLock { _ in state.generation }
        var found = FileState(
            superblock: choice.newest, previousGeneration: choice.previousGeneration,
            generation: generation)
        guard let known = logTail.read else { return found }
        var reader = LogReader(
            engine: self, generation: generation, content: known, isTailOpen: isTailOpen)
        found.log = try reader.read()
        return found
    }

    private func loadMap(_ superblock: Superblock) throws(StoreError) -> PageMap {
        let empty = PageMap(pageSizeInBytes: options.pageSizeInBytes)
        guard !superblock.mapRoot.isNone else { return empty }
        return PageMap(
            root: try loadMapNode(
                superblock.mapRoot, level: superblock.mapDepth - 1, firstID: 0),
            fanout: empty.fanout)
    }

    /// Runs a part of reading. What it throws is noted and passed over when the options ask so.
    private func tolerating<Result>(
        _ damage: inout [StoreError], _ part: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        do throws(StoreError) {
            return try part()
        } catch {
            guard options.isReadOnly && options.toleratesDamage else { throw error }
            damage.append(error)
            return nil
        }
    }

    /// Shows what was read to new snapshots.
    func adopt(_ found: FileState) {
        let left: Generation? = lock.withLock { _ in
            let shown = state.isRead ? state.generation : found.generation
            state.generation = found.generation
            state.superblock = found.superblock
            state.previousGeneration = found.previousGeneration
            state.isRead = true
            state.damage = found.damage
            if let log = found.log {
                note(log)
            } else {
                state.commitNumber = found.superblock.commitNumber
                state.catalogRoot = found.superblock.root
            }
            // A snapshot that still shows it gives the lock back when it ends.
            return shown !== found.generation && shown.pinCount == 0 ? shown : nil
        }
        logTail.read = found.log?.withoutPages()
        if let left, options.isReadOnly { unlock(left) }
    }

    /// Under the lock: what a log says, in memory.
    private func note(_ log: LogContent) {
        let generation = state.generation
        for address in log.replacedExtents {
            generation.noteReplaced(address, commit: log.commitNumber)
        }
        let shown = generation.shown(besides: shownCommits)
        for (id, version) in log.pages {
            generation.append(
                PageVersion(commit: log.commitNumber, content: version), of: id, keeping: shown)
        }
        state.commitNumber = log.commitNumber
        state.durableCommit = log.commitNumber
        state.catalogRoot = log.root
        state.logBytes = log.byteCount
        state.segments = log.segments
        writer.stagedCommit = state.commitNumber
        writer.stagedRoot = state.catalogRoot
        writer.nextPageID = log.pageCount
    }

    /// No snapshot of this store shows a generation any more: its space may be used again.
    func unlock(_ generation: Generation) {
        // The lock ends with the file at the latest.
        try? file.unlockReader(of: generation.number)
    }

    // MARK: For tools

    /// The log's frames in order, for tools.
    package func logFrames() throws(StoreError) -> [LogFrame] {
        let (frames, error) = try readableLogFrames()
        if let error { throw error }
        return frames
    }

    /// The log's frames up to the first damage, and what that is.
    package func readableLogFrames() throws(StoreError) -> ([LogFrame], StoreError?) {
        let (superblock, generation, commit) = lock.withLock { _ in
            (state.superblock, state.generation, state.commitNumber)
        }
        // What another process has added since is nobody's snapshot.
        let isTailOpen = options.isReadOnly ? try file.isLockedByWriter() : false
        var reader = LogReader(
            engine: self, generation: generation, content: LogContent(superblock),
            isTailOpen: isTailOpen, commitMax: isTailOpen ? commit : .max, collectsFrames: true)
        do throws(StoreError) {
            _ = try reader.read()
            return (reader.frames, nil)
        } catch {
            return (reader.frames, error)
        }
    }
}
