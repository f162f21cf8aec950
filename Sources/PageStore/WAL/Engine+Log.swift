import Dispatch

/// Commits that wait for the next write of the log; guarded by the engine's lock.
struct StagedCommits {
    var frames = ByteBuffer(capacity: 65_536)
    /// The number of the last one.
    var last: UInt64 = 0
    var count: UInt64 = 0
    var catalogRoot: PageID?
    /// Whether one of them is to be durable: then readers see them when they are.
    var isDurable = false
}

/// Writing the log. One write is in flight at a time: who writes holds `logTurn`.
extension Engine {
    /// Makes the log hold a commit, durably or not, and shows it to readers. The thread that comes
    /// first writes for all that are staged by then.
    func writeLog(upTo number: UInt64, isDurable: Bool) throws(StoreError) {
        logTurn.pass()
        defer { logTurn.open() }
        let (published, durable) = lock.withLock { _ in (state.commitNumber, state.durableCommit) }
        if isDurable ? durable >= number : published >= number { return }
        try checkNotPoisoned()
        if published < number {
            try writeStaged(isDurable: isDurable)
        } else {
            try syncLog()
        }
    }

    /// Writes all that is staged as one group and publishes it, durably too when that is wanted of
    /// one of them; the caller holds `logTurn`.
    private func writeStaged(isDurable: Bool) throws(StoreError) {
        let (staged, durable) = lock.withLock { _ in
            let staged = state.staged
            state.staged = StagedCommits()
            // Others stage behind it while it is written.
            if staged.count > 0 { state.writtenCommit = staged.last }
            return (staged, state.durableCommit)
        }
        guard staged.count > 0 else { return }
        let isDurable = isDurable || staged.isDurable
        let group = ByteBuffer(capacity: staged.frames.count + 2 * Limits.sectorSizeInBytes)
        FrameCodec.appendGroup(
            salt: logTail.segment.salt, number: logTail.groupNumber, durableCommit: durable,
            into: group)
        group.append(staged.frames.view)
        FrameCodec.appendPad(into: group)
        try append(group, isDurable: isDurable)
        let waiting = lock.withLock { _ in
            state.commitNumber = staged.last
            state.catalogRoot = staged.catalogRoot
            state.commits += staged.count
            if isDurable { state.durableCommit = staged.last }
            defer { state.waitingForCompany = [] }
            return isDurable ? state.waitingForCompany : []
        }
        for waiter in waiting { waiter.open() }
    }

    /// Writes a whole group at the log's end and chains what comes next to it.
    private func append(_ group: ByteBuffer, isDurable: Bool) throws(StoreError) {
        let chain = FrameCodec.seal(group, chain: logTail.chain)
        let place = logTail.segment.byteOffset + logTail.position
        let wasSynced = lock.withLock { _ in state.unsyncedLogBytes == 0 }
        do throws(StoreError) {
            // What was written before without waiting must be durable with it.
            if isDurable && wasSynced {
                try file.writeDurably(group.view, at: place)
            } else {
                try file.write(group.view, at: place)
                if isDurable { try file.sync() }
            }
        } catch {
            poison(error)
            throw error
        }
        // Another thread's failed sync may have lost what this write made of the file.
        try checkNotPoisoned()
        logTail.chain = chain
        logTail.position += UInt64(group.count)
        logTail.groupNumber += 1
        lock.withLock { _ in
            state.logBytes += UInt64(group.count)
            state.unsyncedLogBytes = isDurable ? 0 : state.unsyncedLogBytes + UInt64(group.count)
        }
    }

    /// Makes durable what was written without waiting; the caller holds `logTurn`.
    private func syncLog() throws(StoreError) {
        try syncData()
        let waiting = lock.withLock { _ in
            state.unsyncedLogBytes = 0
            state.durableCommit = state.commitNumber
            defer { state.waitingForCompany = [] }
            return state.waitingForCompany
        }
        for waiter in waiting { waiter.open() }
    }

    /// A relaxed commit becomes durable within the interval, or when many bytes are not.
    func syncLogSoon() {
        let (isLarge, isFirst) = lock.withLock { _ in
            defer { state.isSyncPlanned = true }
            return (state.unsyncedLogBytes >= options.relaxedBytesMax, !state.isSyncPlanned)
        }
        if isLarge { syncRelaxed() }
        guard isFirst else { return }
        let delay = DispatchTimeInterval.milliseconds(options.relaxedIntervalInMilliseconds)
        begin(after: delay) { [weak self] in
            guard let self else { return }
            lock.withLock { _ in state.isSyncPlanned = false }
            syncRelaxed()
        }
    }

    /// A failure poisons the store, and the next commit says so.
    private func syncRelaxed() {
        let number: UInt64? = lock.withLock { _ in
            state.isClosed || state.unsyncedLogBytes == 0 ? nil : state.commitNumber
        }
        if let number { try? writeLog(upTo: number, isDurable: true) }
    }

    /// Waits until another commit's write has taken this one along, at most for a while.
    func waitForCompany(_ number: UInt64, _ delay: Duration) {
        let waiter = Gate(isOpen: false, options.schedule)
        let isDone = lock.withLock { _ in
            state.waitingForCompany.append(waiter)
            return state.durableCommit >= number
        }
        guard !isDone else { return }
        let (seconds, attoseconds) = delay.components
        let nanoseconds = min(seconds, 3600) * 1_000_000_000 + attoseconds / 1_000_000_000
        waiter.pass(within: .nanoseconds(Int(nanoseconds)))
    }

    // MARK: Segments

    /// Makes sure that a transaction's frames fit the segment in a group of their own, with room
    /// for a LINK behind it; the caller holds the turn.
    func reserveLog(_ byteCount: UInt64) throws(StoreError) {
        let sector = UInt64(Limits.sectorSizeInBytes)
        let framed = byteCount + UInt64(FrameLayout.groupSize + FrameLayout.size)
        let needed = (framed + sector - 1) / sector * sector
        if writer.reservedLogBytes + needed + FrameCodec.linkReserve > writer.segmentSizeInBytes {
            try rotate(to: allocateSegment(holding: needed))
        }
        writer.reservedLogBytes += needed
    }

    /// Ends the segment behind all that is staged and goes on in another; the caller holds the
    /// turn.
    func rotate(to segment: LogSegment) throws(StoreError) {
        logTurn.pass()
        defer { logTurn.open() }
        try checkNotPoisoned()
        try writeStaged(isDurable: true)
        if lock.withLock({ _ in state.unsyncedLogBytes > 0 }) { try syncLog() }
        // In a segment without commits an empty group stands before the LINK: losing the LINK then
        // leaves a log that is not empty, and shows.
        if logTail.position == 0 {
            let empty = beginGroup()
            FrameCodec.appendPad(into: empty)
            try append(empty, isDurable: true)
        }
        // A group of its own, so that damage to the last commit before it is told from a tail; and
        // behind all that is durable, so that its sector says so.
        let group = beginGroup()
        FrameCodec.appendLink(segment, into: group)
        FrameCodec.appendPad(into: group)
        try append(group, isDurable: true)
        start(segment)
    }

    /// A group without content yet; the caller holds `logTurn`.
    private func beginGroup() -> ByteBuffer {
        let group = ByteBuffer(capacity: 1024)
        FrameCodec.appendGroup(
            salt: logTail.segment.salt, number: logTail.groupNumber,
            durableCommit: lock.withLock { _ in state.durableCommit }, into: group)
        return group
    }

    /// The log goes on at the beginning of a segment.
    func start(_ segment: LogSegment) {
        logTail.segment = segment
        logTail.position = 0
        logTail.chain = segment.chainStart(uuid)
        writer.reservedLogBytes = 0
        writer.segmentSizeInBytes = segment.sizeInBytes
        lock.withLock { _ in state.segments.append(segment) }
    }

    /// Takes space for a segment whose blocks exist, so that writing into it cannot lack space.
    func allocateSegment(holding byteCount: UInt64) throws(StoreError) -> LogSegment {
        let block = UInt64(Limits.blockSizeInBytes)
        let wanted = byteCount + FrameCodec.linkReserve + block
        let usual = UInt64(
            max(options.logSegmentSizeInBytes, Limits.walSegmentSizeInBytesMin))
        // Each segment costs three waits for the disk, so the log doubles while commits fill it;
        // the zeros of what they leave are no more than what they wrote.
        let logBytes = lock.withLock { _ in state.logBytes }
        let shared = byteCount > 0 ? min(logBytes, options.logBytesMax / 8) : 0
        func rounded(_ size: UInt64) -> UInt64 { (size + block - 1) / block * block }
        let least = rounded(max(usual, wanted))
        do throws(StoreError) {
            return try segment(max(least, rounded(shared)))
        } catch {
            // A disk that is nearly full may have room for the commit itself.
            guard error.code == .diskFull, shared > least else {
                throw failedBeforeCommit(error)
            }
            do throws(StoreError) {
                return try segment(least)
            } catch {
                throw failedBeforeCommit(error)
            }
        }
    }

    private func segment(_ size: UInt64) throws(StoreError) -> LogSegment {
        let unitSize = UInt64(options.unitSizeInBytes)
        let alignment = max(1, Limits.blockSizeInBytes / options.unitSizeInBytes)
        let unit = space.withLock {
            $0.allocate(Int(size / unitSize), alignment: alignment, isRecent: true)
        }
        do throws(StoreError) {
            try zeroFill(unit, size / unitSize)
        } catch {
            space.withLock { $0.free(unit, size / unitSize) }
            throw error
        }
        return LogSegment(
            byteOffset: unit * unitSize, sizeInBytes: size,
            number: lastSegmentNumber + 1,
            salt: StoreUUID(low: files.random(), high: files.random()),
            born: newestGeneration)
    }

    /// Where blocks were never written they are written now; elsewhere the new salt makes what an
    /// earlier owner left harmless.
    private func zeroFill(_ unit: UInt64, _ unitCount: UInt64) throws(StoreError) {
        let parts = space.withLock { $0.unwrittenParts(unit, unitCount) }
        guard !parts.isEmpty else { return }
        let unitSize = UInt64(options.unitSizeInBytes)
        let zeros = ByteBuffer(capacity: 1 << 17)
        zeros.appendZeros(1 << 17)
        for part in parts {
            var position = part.lowerBound * unitSize
            let end = part.upperBound * unitSize
            while position < end {
                let count = min(UInt64(zeros.count), end - position)
                try file.write(zeros.view.slice(from: 0, count: Int(count)), at: position)
                position += count
            }
        }
        try syncData()
        space.withLock { $0.noteWritten(unit, unitCount) }
    }

    private var lastSegmentNumber: UInt64 {
        lock.withLock { _ in state.segments.last?.number ?? 0 }
    }
}
