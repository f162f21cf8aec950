/// Writes the log. Commits are *staged* by the writer, and the first of them that is to be finished
/// writes for all that are staged by then: one group, one write.
///
/// One write is in flight at a time: its thread has the tail. A thread that needs
/// both the tail and the writer lock takes the writer lock first.
final class LogWriter: Sendable {
    let context: StoreContext
    let space: FileSpace
    private let pager: Pager
    private let work: BackgroundWork
    let state: Guarded<LogState>
    private let tail: HandoffState<LogTail>

    init(_ context: StoreContext, _ space: FileSpace, _ pager: Pager, _ superblock: Superblock) {
        self.context = context
        self.space = space
        self.pager = pager
        let schedule = context.options.schedule
        work = BackgroundWork(schedule: schedule)
        state = Guarded(LogState(superblock), at: .state, schedule)
        tail = HandoffState(LogTail(superblock.head), schedule)
    }

    var byteCount: UInt64 { state.withLock { $0.byteCount } }
    var durableCommit: UInt64 { state.withLock { $0.durableCommit } }
    /// Whether commits were shown that are not known to be on the medium: relaxed ones, and those
    /// that an opening found in the log.
    var hasUnsyncedCommits: Bool { durableCommit < pager.commitNumber }
    /// Whether commits of an earlier process were found and not written anew since. Only that makes
    /// them durable: where a sync of that process has failed, the system may call bytes clean that
    /// the medium never got, and then every later sync succeeds.
    var hasFoundCommits: Bool { state.withLock { $0.durableCommit < $0.foundCommit } }
    var segments: [LogSegment] { pager.withPublished { $0.segments } }
    var newestGeneration: UInt64 { pager.generationNumber }

    // MARK: Commits

    /// Adds a commit to the next group; the caller has the writer lock.
    func stage(
        _ frames: ByteBuffer, number: UInt64, catalogRoot: PageID?, isDurable: Bool
    ) {
        state.withLock { state in
            state.staged.append(
                frames.view, number: number, catalogRoot: catalogRoot, isDurable: isDurable)
        }
    }

    /// Makes the log hold a commit, durably or not, and shows it to readers. The thread that comes
    /// first writes for all that are staged by then.
    func write(upTo number: UInt64, isDurable: Bool) throws(StoreError) {
        // Most transactions without changes have read what is durable: they wait for nothing.
        if isDurable && durableCommit >= number { return }
        try tail.withState { tail throws(StoreError) in
            let durable = state.withLock { $0.durableCommit }
            let published = pager.commitNumber
            if isDurable ? durable >= number : published >= number { return }
            try context.health.check(context.path)
            if published < number {
                try writeStaged(&tail, isDurable: isDurable)
            } else {
                try sync()
            }
        }
    }

    /// Waits for the write that is in flight, and shows what it has written.
    func awaitWrite() { tail.withState { _ in } }

    /// Writes all that is staged as one group and publishes it, durably too when that is wanted of
    /// one of them.
    private func writeStaged(_ tail: inout LogTail, isDurable: Bool) throws(StoreError) {
        let (staged, durable) = state.withLock { state in
            let staged = state.staged
            state.staged = StagedFrames()
            return (staged, state.durableCommit)
        }
        guard staged.count > 0 else { return }
        let isDurable = isDurable || staged.isDurable
        let group = tail.beginGroup(
            durableCommit: durable,
            capacity: staged.frames.count + 2 * Limits.sectorSizeInBytes)
        group.append(staged.frames.view)
        FrameCodec.appendPad(into: group)
        try wakingOnFailure { () throws(StoreError) in
            try append(group, to: &tail, isDurable: isDurable)
        }
        pager.publish(staged.last, staged.catalogRoot, count: staged.count)
        guard isDurable else { return }
        wake(
            state.withLock { state in
                state.durableCommit = staged.last
                return state.takeWaiting()
            })
    }

    /// Writes a whole group at the log's end and chains the next one to it.
    private func append(
        _ group: ByteBuffer, to tail: inout LogTail, isDurable: Bool
    ) throws(StoreError) {
        let chain = FrameCodec.seal(group, chain: tail.chain)
        let byteOffset = tail.segment.byteOffset + tail.position
        let wasSynced = state.withLock { $0.unsyncedBytes == 0 }
        // The check that follows is for another thread's failed sync, which may have lost what
        // this write made of the file.
        try context.poisoning { () throws(StoreError) in
            // What was written before without waiting must be durable with it.
            if isDurable && wasSynced {
                try context.writeDurably(group.view, at: byteOffset)
            } else {
                try context.file.write(group.view, at: byteOffset)
                if isDurable { try context.sync() }
            }
        }
        tail.chain = chain
        tail.position += UInt64(group.count)
        tail.groupNumber += 1
        state.withLock { state in
            state.byteCount += UInt64(group.count)
            state.unsyncedBytes = isDurable ? 0 : state.unsyncedBytes + UInt64(group.count)
        }
    }

    /// Makes unsynced commits durable; the caller has the tail.
    private func sync() throws(StoreError) {
        try wakingOnFailure { () throws(StoreError) in try context.sync() }
        let published = pager.commitNumber
        wake(
            state.withLock { state in
                state.unsyncedBytes = 0
                state.durableCommit = published
                return state.takeWaiting()
            })
    }

    /// Commits that wait for others to take them along learn at once that none will.
    private func wakingOnFailure(
        _ write: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try write()
        } catch {
            wake(state.withLock { $0.takeWaiting() })
            throw error
        }
    }

    private func wake(_ waiting: [HandoffLock]) {
        for waiter in waiting { waiter.unlock() }
    }

    /// A relaxed commit becomes durable within the interval, or when many bytes are not.
    func syncSoon() {
        let bytesMax = context.options.relaxedBytesMax
        let (isLarge, isFirst) = state.withLock { state in
            defer { state.isSyncPlanned = true }
            return (state.unsyncedBytes >= bytesMax, !state.isSyncPlanned)
        }
        if isLarge { syncRelaxed() }
        guard isFirst else { return }
        work.begin(after: .milliseconds(context.options.relaxedIntervalInMilliseconds)) {
            [weak self] in
            guard let self else { return }
            state.withLock { $0.isSyncPlanned = false }
            syncRelaxed()
        }
    }

    /// A failure poisons the store, and the next commit reports it.
    private func syncRelaxed() {
        guard !pager.isClosed, state.withLock({ $0.unsyncedBytes > 0 }) else { return }
        try? write(upTo: pager.commitNumber, isDurable: true)
    }

    /// Waits until another commit's write has taken this one along, at most for a while.
    func waitForGroupCommit(_ number: UInt64, _ delay: Duration) {
        let waiter = HandoffLock(isLocked: true, context.options.schedule)
        let isDone = state.withLock { state in
            guard state.durableCommit < number else { return true }
            state.waiting.append(waiter)
            return false
        }
        guard !isDone else { return }
        // Before it is taken apart: a program may give any duration.
        let (seconds, attoseconds) = min(max(delay, .zero), .seconds(3600)).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        waiter.lock(within: .nanoseconds(Int(nanoseconds)))
    }

    // MARK: Segments

    /// Makes sure that a transaction's frames fit the segment in a group of their own, with room
    /// for a LINK after it.
    func reserve(_ byteCount: Int, _ writer: inout WriterState) throws(StoreError) {
        let sector = UInt64(Limits.sectorSizeInBytes)
        let framed = UInt64(byteCount + FrameLayout.groupSize + FrameLayout.size)
        let needed = (framed + sector - 1) / sector * sector
        if writer.reservedLogBytes + needed + FrameCodec.linkReserve > writer.segment.sizeInBytes {
            try rotate(to: allocateSegment(holding: needed), &writer)
        }
        writer.reservedLogBytes += needed
    }

    /// Ends the segment after all that is staged and goes on in another.
    func rotate(to segment: LogSegment, _ writer: inout WriterState) throws(StoreError) {
        try tail.withState { tail throws(StoreError) in
            try context.health.check(context.path)
            try writeStaged(&tail, isDurable: true)
            if state.withLock({ $0.unsyncedBytes > 0 }) { try sync() }
            let durable = state.withLock { $0.durableCommit }
            // In a segment without commits an empty group stands before the LINK: losing the LINK
            // then leaves a log that is not empty, and shows.
            if tail.position == 0 {
                let empty = tail.beginGroup(durableCommit: durable)
                FrameCodec.appendPad(into: empty)
                try append(empty, to: &tail, isDurable: true)
            }
            // A group of its own, so that damage to the last commit before it is told from a tail;
            // and after all that is durable, so that its sector says so.
            let group = tail.beginGroup(durableCommit: durable)
            FrameCodec.appendLink(segment, into: group)
            FrameCodec.appendPad(into: group)
            try append(group, to: &tail, isDurable: true)
            start(segment, &tail, &writer)
        }
    }

    /// Begins the log anew in a segment that no LINK leads to.
    func start(_ segment: LogSegment, _ writer: inout WriterState) {
        tail.withState { start(segment, &$0, &writer) }
    }

    private func start(
        _ segment: LogSegment, _ tail: inout LogTail, _ writer: inout WriterState
    ) {
        tail.start(segment, context.uuid)
        writer.segment = segment
        writer.reservedLogBytes = 0
        pager.withPublished { $0.segments.append(segment) }
    }

    /// A checkpoint has made so many bytes of log needless, and a commit durable.
    func release(_ byteCount: UInt64, durable commit: UInt64) {
        state.withLock { state in
            state.byteCount -= byteCount
            state.durableCommit = max(state.durableCommit, commit)
        }
    }

    /// Adopts the content of a log. Whether its last commits are durable is not known.
    func adopt(_ log: LogContent) {
        state.withLock { state in
            state.byteCount = log.byteCount
            state.foundCommit = log.commitNumber
        }
    }

    /// A checkpoint that was to begin a new log has failed: the log is that which was found.
    func restore(_ segments: [LogSegment]) {
        pager.withPublished { $0.segments = segments }
    }
}
