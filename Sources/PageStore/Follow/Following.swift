/// Keeps a store that was opened for reading at the newest commit that another process has
/// written. The steps are those of spec/03-wal.md, locks.
final class Following: Sendable {
    /// How far the file has been read.
    private struct State {
        /// Whether the file's content has been read.
        var isRead = false
        /// How far its log has been read.
        var log: LogContent?
        /// The history that the newest superblock had.
        var history = History()
    }

    /// A reader tries again when the writer was faster; it is so only by chance.
    private static let attemptCountMax = 1000

    private let parts: StoreParts
    /// Changed by the thread that has the writer lock.
    private let state = Guarded(State())
    /// Notifies observers; nil until there is one.
    private let follower = Guarded<Follower?>(nil)

    init(_ parts: StoreParts) { self.parts = parts }

    private var context: StoreContext { parts.context }

    /// The newest generation and commit that snapshots can have.
    private var shown: (generation: UInt64, commit: UInt64) {
        parts.pager.withPublished { ($0.generation.number, $0.commitNumber) }
    }

    /// Advances to the newest commit of the file. Snapshots that are held do not change. Returns
    /// whether there was another commit, or the same one in another generation.
    func moveOn() throws(StoreError) -> (isNewCommit: Bool, isNewGeneration: Bool) {
        guard context.options.mode.follows else { return (false, false) }
        try context.checkProcess()
        do throws(StoreError) {
            return try parts.writer.withState { writer throws(StoreError) in
                try parts.pager.checkOpen()
                let before = shown
                try context.checkPathIdentity()
                try readNewest(&writer)
                let now = shown
                return (now.commit != before.commit, now.generation != before.generation)
            }
        } catch {
            throw error.at(path: context.path)
        }
    }

    /// Shows the newest commit of the file, pinned by its generation's lock.
    func readNewest() throws(StoreError) {
        try parts.writer.withState { writer throws(StoreError) in try readNewest(&writer) }
    }

    private func readNewest(_ writer: inout WriterState) throws(StoreError) {
        for _ in 0..<Self.attemptCountMax {
            let choice = try SuperblockChoice.read(context.file, context.options.mode)
            guard choice.newest.uuid == context.uuid else {
                throw .corrupt(nil, "the file has become another store", byteOffset: 0)
            }
            if try readNewest(choice, &writer) { return }
        }
        throw StoreError(
            .snapshotTooOld, "checkpoints followed each other faster than they could be read")
    }

    /// One try. False when the writer published another generation meanwhile: it may not have seen
    /// the lock, and the log may have gone on where the generation's readers need not be able to
    /// follow. Unless it succeeds, it leaves no lock that it took.
    private func readNewest(
        _ choice: SuperblockChoice, _ writer: inout WriterState
    ) throws(StoreError) -> Bool {
        let superblock: Superblock
        do throws(StoreError) {
            superblock = try choice.shown(context.options.mode)
        } catch {
            // The other one may have been read while it was written.
            guard try hasMoved(from: choice) else { throw error }
            return false
        }
        let isNew = try lockGeneration(superblock.generation)
        var isAdopted = false
        defer {
            // It ends with the file at the latest.
            if isNew, !isAdopted { try? context.file.unlockReader(of: superblock.generation) }
        }
        let found: FileState
        do throws(StoreError) {
            // Asked before the log is read: a writer that comes later does not go on with it.
            // Where that cannot be told, one may be writing: its next segment is no damage.
            let isTailOpen = try context.file.isLockedByWriter() ?? true
            let reader = StoreReader(context, parts.pager)
            found =
                try isNew
                ? reader.read(choice, isTailOpen: isTailOpen)
                : reader.readOn(
                    choice, from: state.withLock { $0.log }, isTailOpen: isTailOpen)
        } catch {
            guard try hasMoved(from: choice) else { throw error }
            return false
        }
        guard try !hasMoved(from: choice) else { return false }
        try checkHistory(choice.newest, found)
        if isNew { found.generation.newestWhenRead = choice.newest.generation }
        adopt(found, choice.newest.history, &writer)
        isAdopted = true
        return true
    }

    /// Whether the superblocks are others. The two were not read at one moment: both may have been
    /// written between, and the earlier one may be older than the one before the newest.
    private func hasMoved(from choice: SuperblockChoice) throws(StoreError) -> Bool {
        let now = try SuperblockChoice.read(context.file, context.options.mode)
        return now.newest.generation != choice.newest.generation
            || now.previousGeneration != choice.previousGeneration
    }

    /// False when the generation is locked already, because it is the one that is shown.
    private func lockGeneration(_ number: UInt64) throws(StoreError) -> Bool {
        if state.withLock({ $0.isRead }), shown.generation == number { return false }
        _ = try context.file.lockReader(of: number)
        return true
    }

    /// A file that was put back from an earlier copy, while it was being read, gives the same
    /// numbers to other commits: comparing two of them would miss changes.
    private func checkHistory(_ newest: Superblock, _ found: FileState) throws(StoreError) {
        let (isRead, known) = state.withLock { ($0.isRead, $0.history) }
        guard isRead else { return }
        let commit = shown.commit
        let (before, now) = (known.mark(of: commit), newest.history.mark(of: commit))
        let isOther = if let before, let now { before != now } else { false }
        guard isOther || (found.log?.commitNumber ?? found.superblock.commitNumber) < commit else {
            return
        }
        throw StoreError(
            .fileReplaced,
            "the file no longer has commit \(commit), which was read from it: it was put back from "
                + "an earlier copy")
    }

    private func adopt(
        _ found: FileState, _ history: History, _ writer: inout WriterState
    ) {
        let left = parts.adopt(found, &writer)
        let log = found.log?.withoutPages()
        let wasRead = state.withLock { state in
            defer { state = State(isRead: true, log: log, history: history) }
            return state.isRead
        }
        if wasRead, let left { parts.pager.unlockReader(of: left) }
    }

    // MARK: Observers

    /// Calls back after each step with the number of the newest commit: see
    /// ``Engine/follow(_:)``.
    func follow(_ observer: @escaping Follower.Observer) -> UInt64? {
        guard context.options.mode.follows else { return nil }
        let (current, isNew) = follower.withLock { follower in
            if let known = follower, !known.isEnded { return (known, false) }
            let current = Follower(self, context.options.schedule)
            follower = current
            return (current, true)
        }
        let number = current.add(observer)
        if isNew { current.start(context.file) }
        return number
    }

    func unfollow(_ number: UInt64) { follower.withLock { $0 }?.remove(number) }

    /// Ends the calls of every observer: the store is closed.
    func end() {
        let current = follower.withLock { follower in
            defer { follower = nil }
            return follower
        }
        current?.end(StoreError(.closed, "the store has been closed", path: context.path))
    }

    /// The numbers of newest commits as other processes make them.
    var externalCommits: AsyncThrowingStream<UInt64, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let last = Guarded(shown.commit)
            let number = follow { news in
                switch news {
                case .success(let commit):
                    let isNew = last.withLock { last in
                        defer { last = commit }
                        return commit > last
                    }
                    if isNew { continuation.yield(commit) }
                case .failure(let error):
                    continuation.finish(throwing: error.code == .closed ? nil : error)
                }
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
        }
    }

    /// One step for the follower: the newest commit if it or where it lies is new.
    func step() throws(StoreError) -> UInt64? {
        let (isNewCommit, isNewGeneration) = try moveOn()
        return isNewCommit || isNewGeneration ? shown.commit : nil
    }
}
