/// The state that commits share with the thread that writes the log; lent by the log's lock.
///
/// Unchecked for the buffer of staged frames: it is filled under the lock, and taken out whole.
struct LogState: @unchecked Sendable {
    var staged = StagedFrames()
    /// The last commit that is known to be durable.
    var durableCommit: UInt64
    /// The last commit that an opening found in the log.
    var foundCommit: UInt64 = 0
    /// Bytes of log that were written without waiting for them.
    var unsyncedBytes: UInt64 = 0
    var isSyncPlanned = false
    /// Grouped commits that wait for another one's write.
    var waiting: [HandoffLock] = []
    /// Bytes of log since the last checkpoint.
    var byteCount: UInt64 = 0

    init(_ superblock: Superblock) { durableCommit = superblock.commitNumber }

    /// Those that wait for a commit that is durable now.
    mutating func takeWaiting() -> [HandoffLock] {
        defer { waiting = [] }
        return waiting
    }
}

/// Commits that wait for the next write of the log.
struct StagedFrames {
    var frames = ByteBuffer(capacity: 65_536)
    /// The number of the last one.
    var last: UInt64 = 0
    var count: UInt64 = 0
    var catalogRoot: PageID?
    /// Whether one of them is to be durable: then readers see them when they are.
    var isDurable = false

    mutating func append(
        _ bytes: ByteView, number: UInt64, catalogRoot: PageID?, isDurable: Bool
    ) {
        frames.append(bytes)
        last = number
        count += 1
        self.catalogRoot = catalogRoot
        if isDurable { self.isDurable = true }
    }
}

/// The position and the chain hash of the next group; owned by the thread that writes the log.
struct LogTail: ~Copyable {
    var segment: LogSegment
    var position: UInt64 = 0
    var chain: UInt64 = 0
    var groupNumber: UInt64 = 1

    init(_ segment: LogSegment) { self.segment = segment }

    /// The log goes on at the beginning of a segment.
    mutating func start(_ segment: LogSegment, _ uuid: StoreUUID) {
        self.segment = segment
        position = 0
        chain = segment.chainStart(uuid)
    }

    /// A group without content yet.
    func beginGroup(durableCommit: UInt64, capacity: Int = 1024) -> ByteBuffer {
        let group = ByteBuffer(capacity: capacity)
        FrameCodec.appendGroup(
            salt: segment.salt, number: groupNumber, durableCommit: durableCommit, into: group)
        return group
    }
}
