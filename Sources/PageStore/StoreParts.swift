/// The owners of an ``Engine``'s state: each has its own state and its own lock, and none knows the
/// engine.
final class StoreParts: Sendable {
    let context: StoreContext
    let space: FileSpace
    let pager: Pager
    let log: LogWriter
    let checkpointer: Checkpointer
    /// The writer lock: one transaction at a time, ended on whatever thread.
    let writer: HandoffState<WriterState>

    /// The parts of a store of which a superblock is known, and nothing else yet.
    init(_ context: StoreContext, _ superblock: Superblock, previousGeneration: UInt64) {
        self.context = context
        space = FileSpace(context)
        pager = Pager(context, superblock, previousGeneration: previousGeneration)
        log = LogWriter(context, space, pager, superblock)
        writer = HandoffState(WriterState(superblock), context.options.schedule)
        checkpointer = Checkpointer(context, space, pager, log, writer)
    }

    /// The parts of the store that a file holds.
    convenience init(
        _ choice: SuperblockChoice, path: String, options: StoreOptions, files: any FileSystem,
        _ opened: OpenFile
    ) {
        let context = StoreContext(
            path: path, opened, files: files, uuid: choice.newest.uuid,
            geometry: Geometry(choice.newest), options: options)
        self.init(context, choice.newest, previousGeneration: choice.previousGeneration)
    }

    func snapshot() throws(StoreError) -> Snapshot {
        try context.checkProcess()
        return Snapshot(pager, try pager.pinNewest())
    }

    /// The state that the next transaction builds on: all staged commits.
    func stagedSnapshot(_ writer: borrowing WriterState) throws(StoreError) -> Snapshot {
        Snapshot(pager, try pager.pin(writer.stagedCommit, writer.stagedRoot))
    }

    /// Publishes the state that was read from the file. Returns the generation published before
    /// when no snapshot uses it any more.
    @discardableResult
    func adopt(_ found: FileState, _ writer: inout WriterState) -> Generation? {
        let left = pager.adopt(found)
        if let content = found.log {
            log.adopt(content)
            writer.adopt(content)
        }
        return left
    }

    /// The commits from here on are those of this opening of the file, for the superblock that is
    /// written next.
    func beginSession(_ writer: borrowing WriterState) {
        let salt = writer.segment.salt
        pager.withPublished { $0.superblock.history.begin(after: $0.commitNumber, salt: salt) }
    }

    /// Makes the newest state of every page part of the map and the log short. Waits for a
    /// checkpoint that runs already, then runs another, beside which transactions go on.
    ///
    /// - Parameter change: changes the plan before it is run.
    func checkpointNow(
        _ change: (inout CheckpointPlan) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        guard !context.options.mode.isReadOnly else { throw context.readOnlyError() }
        try context.checkProcess()
        try context.checkPathIdentity()
        var begun: CheckpointPlan?
        while begun == nil {
            checkpointer.awaitEnd()
            begun = try writer.withState { writer throws(StoreError) in
                try checkUsable()
                try Recovery(self).prepareWriting(&writer)
                return try checkpointer.begin(&writer)
            }
        }
        guard var plan = begun else { return }
        do throws(StoreError) {
            try change(&plan)
        } catch {
            checkpointer.end()
            throw error
        }
        try checkpointer.run(plan)
    }

    /// Writes commits that an opening found in the log anew, so that no crash takes them.
    func secureFoundCommits(_ writer: inout WriterState) throws(StoreError) {
        guard log.hasFoundCommits else { return }
        // A file that this program may not write is left as it was found.
        guard pager.superblock.featuresReadOnly == 0 else { return try context.sync() }
        try Recovery(self).prepareWriting(&writer)
    }

    /// Throws unless the store may be written.
    func checkUsable() throws(StoreError) {
        try pager.checkOpen()
        try context.health.checkBeforeWriting(context.path)
    }
}

extension StoreContext {
    func readOnlyError() -> StoreError {
        StoreError(.readOnly, "the store was opened for reading only", path: path)
    }
}
