/// The sessions in which a store's commits were made, by which two files of one store tell whether
/// they share a commit: spec/01-file.md, history.
///
/// Commit numbers alone do not tell. A store that lost relaxed commits in a crash, or that was put
/// back from an earlier copy of its file, gives the same numbers to other commits.
package struct History: Hashable, Sendable {
    /// The commits that one writer made, from its opening of the file to its closing.
    package struct Session: Hashable, Sendable {
        /// The last commit before the session.
        package var base: UInt64
        /// Differs from the mark of every other session, as the log's salt in it is random.
        package var mark: UInt64
    }

    /// In the order in which they were; the oldest are dropped.
    package private(set) var sessions: [Session] = []

    package init() {}

    init(_ sessions: [Session]) { self.sessions = sessions }

    /// Begins a session, whose log begins in a segment with this salt.
    mutating func begin(after commit: UInt64, salt: StoreUUID) {
        let buffer = ByteBuffer(capacity: 32)
        buffer.appendUInt64(sessions.last?.mark ?? 0)
        buffer.appendUInt64(commit)
        buffer.appendUInt64(salt.low)
        buffer.appendUInt64(salt.high)
        // Zero says that a mark is not known.
        let mark = max(Checksum.hash(buffer.view, seed: 0), 1)
        // A session without a commit is no commit's.
        if sessions.last?.base == commit { sessions.removeLast() }
        if sessions.count == Limits.sessionCountMax { sessions.removeFirst() }
        sessions.append(Session(base: commit, mark: mark))
    }

    /// The mark of the session in which a commit was made. Nil for one that was made before all
    /// sessions that are known, and for commit 0, which is no transaction's.
    func mark(of commit: UInt64) -> UInt64? { sessions.last { $0.base < commit }?.mark }
}

// MARK: In the superblock

extension History {
    func store(in page: PageBuffer) {
        typealias Layout = SuperblockLayout
        page.setUInt32(UInt32(sessions.count), at: Layout.sessionCount)
        for (index, session) in sessions.enumerated() {
            let start = Layout.sessions + index * Layout.sessionSize
            page.setUInt64(session.base, at: start + Layout.sessionBase)
            page.setUInt64(session.mark, at: start + Layout.sessionMark)
        }
    }

    /// Reads the history of a superblock that begins at a byte of the file.
    init(_ bytes: ByteView, start: UInt64) throws(StoreError) {
        typealias Layout = SuperblockLayout
        let count = Int(bytes.uint32(at: Layout.sessionCount))
        guard count <= Limits.sessionCountMax else {
            throw .corrupt(
                nil, "the superblock has more sessions than fit",
                byteOffset: start + UInt64(Layout.sessionCount))
        }
        var sessions: [Session] = []
        for index in 0..<count {
            let offset = Layout.sessions + index * Layout.sessionSize
            let session = Session(
                base: bytes.uint64(at: offset + Layout.sessionBase),
                mark: bytes.uint64(at: offset + Layout.sessionMark))
            guard session.base >= sessions.last?.base ?? 0,
                session.base <= bytes.uint64(at: Layout.commitNumber)
            else {
                throw .corrupt(
                    nil, "the superblock's sessions are not in order",
                    byteOffset: start + UInt64(offset))
            }
            sessions.append(session)
        }
        self.init(sessions)
    }
}
