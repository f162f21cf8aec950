/// The front door of a store's file: snapshots for readers, one transaction at a time for the
/// writer.
///
/// It has no state of its own. Behind it stand the owners of ``StoreParts``, of which none knows
/// the engine.
package final class Engine: Sendable {
    package typealias Options = StoreOptions

    let parts: StoreParts
    private let following: Following

    init(_ parts: StoreParts, _ following: Following) {
        self.parts = parts
        self.following = following
    }

    // Snapshots and transactions may outlive the engine: the file is closed with the last of them.
    deinit { following.end() }

    package var path: String { parts.context.path }
    package var options: Options { parts.context.options }
    package var fileIdentity: FileIdentity { parts.context.file.identity }
    /// See ``FileSystem/programIdentity()``.
    package var programIdentity: UInt64 { parts.context.files.programIdentity() }
    /// See ``FileSystem/now()``.
    package func now() -> UInt64 { parts.context.files.now() }
    package var uuid: StoreUUID { parts.context.uuid }
    /// The superblock that the store was opened with, or that the last checkpoint wrote.
    package var superblock: Superblock { parts.pager.superblock }
    /// Damage that a tolerant opening skipped.
    package var damage: [StoreError] { parts.pager.withPublished { $0.damage } }
    package var statistics: StoreStatistics { parts.statistics }
    /// The bytes that are left on the file system; nil where it cannot tell.
    package var freeBytesOnDisk: UInt64? { parts.context.files.freeBytes(at: path) }

    // MARK: Opening and closing

    /// Opens the store at a path. Creates it when there is none, unless for reading only.
    ///
    /// Throws `notAStore`, `newerFormat`, `truncated` or `corrupt` for the file's content,
    /// `alreadyOpen` and `lockedByOther` for another opening, and the system's errors.
    package static func open(
        path: String, options: Options = Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> Engine {
        precondition(
            PageSizes.isValid(
                pageSizeInBytes: options.pageSizeInBytes,
                unitSizeInBytes: options.unitSizeInBytes),
            "page and unit sizes are powers of two within the limits")
        let (parts, following) = try Opening(path: path, options: options, files: files).run()
        return Engine(parts, following)
    }

    /// A store that lives as long as this object.
    package static func inMemory(options: Options = Options()) throws(StoreError) -> Engine {
        try open(path: "memory", options: options, files: MemoryFileSystem())
    }

    /// Removes a store's file, whatever is in it. Nothing is done where there is none.
    ///
    /// Throws `alreadyOpen` and `lockedByOther` while this process or another one may write it.
    package static func erase(path: String, files: any FileSystem) throws(StoreError) {
        do throws(StoreError) {
            guard try files.identity(path) != nil else { return }
            let opened = try OpenFile(path, .readWrite, in: files)
            defer { opened.close() }
            guard try opened.file.lockWriter() else {
                throw StoreError(.lockedByOther, "another process has the store open for writing")
            }
            try PathIdentity.check(opened.file, at: path, in: files)
            let target = try files.target(of: path)
            try files.unlink(target)
            try files.syncDirectory(of: target)
        } catch {
            throw error.at(path: path)
        }
    }

    /// Stores what the log holds and closes the file. Snapshots that are still held must not be
    /// read any more.
    ///
    /// Throws what the system reports, and `commitUncertain` where relaxed commits are not known to
    /// be on the medium. The file is closed all the same.
    ///
    /// - Parameters:
    ///   - makesCheckpoint: false leaves commits, which must be durable, in the log.
    ///   - leavesUnwritten: whether a file that this opening has not written stays as it is, byte
    ///     for byte: for one whose content was not shown to the program.
    package func close(
        makesCheckpoint: Bool = true, leavesUnwritten: Bool = false
    ) throws(StoreError) {
        guard parts.context.isOwnProcess else {
            // A child that was forked writes nothing to its parent's store, and the threads that
            // might hold the writer lock are not in it.
            release()
            return
        }
        try parts.writer.withState { writer throws(StoreError) in
            parts.checkpointer.awaitEnd()
            guard !parts.pager.isClosed else { return }
            defer {
                // Where the store is poisoned, a thread may still be about to write to the log, and
                // the next writer must not write there before it.
                if !options.mode.isReadOnly { parts.log.awaitWrite() }
                release()
            }
            guard !options.mode.isReadOnly else { return }
            do throws(StoreError) {
                guard parts.log.hasUnsyncedCommits || !parts.context.health.isPoisoned else {
                    return
                }
                try parts.context.health.check(path)
                if leavesUnwritten, !writer.isPrepared { return }
                try storeLog(&writer, makesCheckpoint: makesCheckpoint)
            } catch {
                throw parts.log.hasUnsyncedCommits ? unsyncedError(error) : error
            }
        }
    }

    private func unsyncedError(_ cause: StoreError) -> StoreError {
        var error = cause.at(path: path)
        error.code = .commitUncertain
        error.message =
            "commits after \(parts.log.durableCommit) are not known to be on the medium: those "
            + "that were not waited for may be lost. \(cause.message)"
        return error
    }

    private func storeLog(
        _ writer: inout WriterState, makesCheckpoint: Bool
    ) throws(StoreError) {
        let stored = parts.pager.generation.checkpointCommit
        guard writer.isPrepared else {
            // Readers may have seen the unsynced commits of a dead writer: they must survive.
            return try parts.secureFoundCommits(&writer)
        }
        // Commits first that are not durable, or wait for their thread to write them: the log has
        // room for them, and a checkpoint needs more.
        if parts.log.durableCommit < writer.stagedCommit {
            try parts.log.write(upTo: writer.stagedCommit, isDurable: true)
        }
        // Also a commit that changed no page, such as one of the catalog's root alone.
        if makesCheckpoint, writer.stagedCommit > stored {
            try parts.checkpointer.checkpoint(&writer)
        }
    }

    private func release() {
        following.end()
        parts.pager.close()
        parts.context.close()
    }

    // MARK: Transactions and readers

    /// Begins the one write transaction; waits for the one before to end.
    package func beginWrite() throws(StoreError) -> WriteTransaction {
        guard !options.mode.isReadOnly else { throw parts.context.readOnlyError() }
        try parts.context.checkProcess()
        parts.checkpointer.waitAtHardLimit()
        var writer = parts.writer.take()
        let base: Snapshot
        do throws(StoreError) {
            try parts.checkUsable()
            try Recovery(parts).prepareWriting(&writer)
            if parts.checkpointer.takeMissedLook() {
                parts.checkpointer.startWhenDue(&writer)
                // It may have run to its end here, and failed.
                try parts.checkUsable()
            }
            base = try parts.stagedSnapshot(writer)
        } catch {
            parts.writer.release(writer)
            throw error.at(path: path)
        }
        return WriteTransaction(parts, base: base, writer)
    }

    /// The newest commit, pinned: its state does not change.
    package func snapshot() throws(StoreError) -> Snapshot { try parts.snapshot() }

    /// Makes the newest state of every page part of the map and the log short. Waits for a
    /// checkpoint that runs already, then runs another, beside which transactions go on.
    package func checkpointNow() throws(StoreError) { try parts.checkpointNow() }

    /// Makes durable what was committed since the opening without waiting for it. Without such
    /// commits it returns at once.
    ///
    /// Throws `commitUncertain` when a crash may take them.
    package func secureRelaxedCommits() throws(StoreError) {
        try parts.context.checkProcess()
        // Until this opening writes there are only commits that it found, which are no promise of
        // its own.
        guard !options.mode.isReadOnly, !parts.log.hasFoundCommits else { return }
        try Commit(parts).finish(parts.pager.commitNumber, .durable)
    }

    // MARK: Copies

    /// Writes the newest commit into a new file, as a store of its own with the same identity.
    /// Transactions go on meanwhile; the copy is of the moment when it began.
    ///
    /// Throws `invalidArgument` when there is a file at the path already; `alreadyOpen` or
    /// `lockedByOther` while another copy goes there. The path names a file only when the copy is
    /// whole and durable.
    package func copy(to path: String, files: (any FileSystem)? = nil) throws(StoreError) {
        try StoreCopy(of: parts, files ?? parts.context.files).write(to: path)
    }

    /// Brings a copy that ``copy(to:)`` made up to the newest commit of this store, and writes only
    /// the pages that changed since. Returns how many. Transactions go on meanwhile. A store that
    /// was opened for reading copies what it shows, or the file's newest commit if the copy is
    /// newer than that.
    ///
    /// Whatever happens on the way, the copy shows the commit that it showed or the new one. Throws
    /// `notFound` without a copy, `invalidArgument` for a file that is none of this store or that
    /// has been changed, and `historyDiffers` for one that shows commits which this store has not,
    /// or cannot tell: then only a new copy helps.
    @discardableResult
    package func updateCopy(
        at path: String, files: (any FileSystem)? = nil
    ) throws(StoreError) -> Int {
        try CopyUpdate(from: parts).run(at: path, files ?? parts.context.files)
    }

    /// Moves pages from the file's end to gaps before it, about as many bytes as the budget says,
    /// and gives the end back to the system as far as no reader needs it. Returns the bytes moved:
    /// zero when there is nothing to gain.
    package func vacuum(byteBudget: Int) throws(StoreError) -> Int {
        try Vacuum(parts).run(byteBudget: byteBudget)
    }

    // MARK: Other processes

    /// Advances a store that was opened for reading to the newest commit of another process.
    /// Snapshots that are held do not change. Returns whether there was one.
    @discardableResult
    package func advance() throws(StoreError) -> Bool { try following.moveOn().isNewCommit }

    /// Lets a store that was opened for reading follow the commits of other processes, and calls
    /// back after each step with the number of the newest commit, and once with the reason why it
    /// cannot be followed any more: `closed` when it was closed. Calls come one after the other; a
    /// number comes again when a checkpoint has moved the same state to another generation.
    ///
    /// Returns the token that ends the calls; nil for a store that no other process changes: one
    /// that was opened for writing, or at an earlier generation.
    package func follow(
        _ observer: @escaping @Sendable (Result<UInt64, StoreError>) -> Void
    ) -> UInt64? {
        following.follow(observer)
    }

    /// Ends the calls of one ``follow(_:)``.
    package func unfollow(_ number: UInt64) { following.unfollow(number) }

    /// The newest commit numbers of other processes. A slow consumer misses some, never the last.
    /// Throws a `StoreError` when the store cannot be followed any more.
    package var externalCommits: AsyncThrowingStream<UInt64, any Error> {
        following.externalCommits
    }

    // MARK: For tools

    /// The bytes of the file that the newest checkpoint has left free, and those that the next ones
    /// make free where no reader needs them: they are used before the file grows.
    package func freeBytesInFile() throws(StoreError) -> UInt64 {
        let map = try AllocationReader(parts.context).read(parts.pager.superblock).map
        let units = map.pending.reduce(map.freeUnits) { $0 + $1.unitCount }
        return parts.context.geometry.bytes(ofUnits: units)
    }

    /// The log's frames in order.
    package func logFrames() throws(StoreError) -> [LogFrame] {
        var frames: [LogFrame] = []
        if let error = try readLogFrames({ frames.append($0) }) { throw error }
        return frames
    }

    /// Lends the log's frames up to the first damage; returns that damage.
    package func readLogFrames(
        _ body: @escaping (LogFrame) -> Void
    ) throws(StoreError) -> StoreError? {
        try StoreReader(parts.context, parts.pager).readFrames(body)
    }
}
