import Primitives

/// The one transaction that changes the store. It edits private copies; nothing of it can be seen
/// before ``commit()``, and nothing of it remains after ``rollback()``.
///
/// One thread at a time; it may end on another thread than it began on.
package final class WriteTransaction: PageEditor {
    private let parts: StoreParts
    /// The writer lock, while the transaction has it.
    private var writer: WriterState?
    /// The snapshot from which the transaction began; released when it ends, so that it pins
    /// nothing.
    private var base: Snapshot?
    private let baseCommit: UInt64
    private let baseRoot: PageID?
    private var dirty = IntegerMap<PageBuffer>()
    /// The images that private copies were made from, while deltas against them may be logged.
    private var bases = IntegerMap<PageBuffer>()
    /// How the log will hold private copies that are not being changed.
    private var drafts = DeltaDrafts()
    /// The private copies in the order in which they were made. A page that was freed and made
    /// again is in it twice.
    private var order: [PageID] = []
    /// Pages that were written already: chunks, and copies that memory had no room for.
    private var written: [PageID: ExtentAddress] = [:]
    /// Private copies that will hardly change any more, and are written out before others.
    private var filled: Set<PageID> = []
    private var freed: Set<PageID> = []
    private var allocated: Set<PageID> = []
    /// Of chunks that were written, as far as each is more than a page; those that were freed again
    /// count too.
    private var chunkBytes = 0
    private var root: PageID?

    init(_ parts: StoreParts, base: Snapshot, _ writer: consuming WriterState) {
        self.parts = parts
        self.writer = consume writer
        self.base = base
        self.baseCommit = base.commitNumber
        self.baseRoot = base.catalogRoot
        self.root = base.catalogRoot
        super.init(pageSizeInBytes: base.pageSizeInBytes)
    }

    deinit { rollback() }

    package override var catalogRoot: PageID? {
        get { root }
        set { root = newValue }
    }

    /// The store as the transaction found it.
    package var before: Snapshot {
        get throws(StoreError) {
            guard let base else { throw StoreError(.closed, "the transaction has ended") }
            return base
        }
    }

    /// The number that committing will give.
    package var nextCommitNumber: UInt64 { baseCommit + 1 }

    /// The size of the pages that the transaction has changed or made, and of the chunks of large
    /// values that it has written.
    package var changedBytes: Int { (dirty.count + written.count) * pageSizeInBytes + chunkBytes }

    /// How many of the store's pages the transaction has freed.
    package var freedPageCount: Int { freed.count }

    /// Whether a checkpoint holds all that the transaction builds on.
    package var followsCheckpoint: Bool {
        parts.pager.generation.checkpointCommit == baseCommit
    }

    package override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        if let page = dirty[id] { return page }
        if let address = written[id] { return try parts.pager.page(id, at: address) }
        if freed.contains(id) { throw .corrupt(id, "the page was freed") }
        return try before.page(id)
    }

    package override func editablePage(_ id: PageID) throws(StoreError) -> PageBuffer {
        drafts.remove(id)
        if let page = dirty[id] { return page }
        guard id.rawValue != 0 else { throw .corrupt(id, "the page does not exist") }
        let original = try page(id)
        let copy = PageBuffer(copying: original)
        if let address = written.removeValue(forKey: id) {
            precondition(original[0] != PageKind.blobChunk.rawValue, "a chunk is written once")
            parts.space.free(address)
        } else {
            noteBase(original)
        }
        dirty[id] = copy
        order.append(id)
        reportMemory()
        return copy
    }

    /// A transaction that goes out of line logs no images, so it keeps no bases.
    private func noteBase(_ original: PageBuffer) {
        if isLarge { forgetBases() } else { bases[original.id] = original }
    }

    private func forgetBases() {
        guard !bases.isEmpty else { return }
        bases = IntegerMap<PageBuffer>()
        drafts.removeAll()
    }

    package override func finishEditing(_ page: PageBuffer) {
        // Without its version before it goes into the log as a whole, or not at all.
        guard let base = bases[page.id] else { return }
        drafts.add(page, from: base)
        // Other holders of the page must request it before they change it: the draft is the frame
        // that the log will have.
        epoch += 1
    }

    package override func allocatePage(_ kind: PageKind) throws(StoreError) -> PageBuffer {
        let page = PageBuffer(id: try newPageID(), count: pageSizeInBytes)
        page[0] = kind.rawValue
        dirty[page.id] = page
        order.append(page.id)
        reportMemory()
        return page
    }

    package override func allocateChunk(_ bytes: ByteView) throws(StoreError) -> PageID {
        precondition(
            bytes.count > 0 && bytes.count <= Limits.chunkSizeInBytesMax,
            "an out-of-line page has up to 1 MiB")
        let id = try newPageID()
        written[id] = try outOfLine.write(bytes, id: id)
        chunkBytes += max(0, bytes.count - pageSizeInBytes)
        return id
    }

    // MARK: Memory

    package override var editEpoch: Int { epoch }
    private var epoch = 0

    /// The bytes of private copies that the engine knows of, and the most that there were.
    private var reportedBytes = 0
    private var reportedBytesMax = 0

    /// The cache gives way to private copies, a MiB or so at a time.
    private func reportMemory() {
        let bytes = dirty.count * pageSizeInBytes
        guard bytes >= reportedBytes + Self.reportBytesMin else { return }
        report(bytes)
    }

    private static let reportBytesMin = 1 << 20

    private func report(_ bytes: Int) {
        guard bytes != reportedBytes else { return }
        reportedBytes = bytes
        reportedBytesMax = max(reportedBytesMax, bytes)
        parts.pager.noteDirtyBytes(bytes)
    }

    package override var bulkBytesMin: Int { parts.context.options.bulkBytesMin }

    package override func writeOut(_ pages: [PageBuffer]) throws(StoreError) {
        // ``makeRoom()`` may have written some of them already, for other work of the transaction.
        let left = pages.filter { dirty[$0.id] != nil }
        for (id, address) in try outOfLine.write(left) {
            dirty[id] = nil
            written[id] = address
        }
        order.removeAll { dirty[$0] == nil }
    }

    override func noteFilled(_ id: PageID) { filled.insert(id) }

    /// How many filled pages are written in one run. Their memory serves the next ones, which a
    /// load of records would take fresh from the system otherwise.
    private static let filledCountMin = 64

    /// Writes filled pages out when the transaction is large, and the older half of all private
    /// copies when they are more than memory should hold. They are read back when they are needed.
    package override func makeRoom() throws(StoreError) {
        if filled.count >= Self.filledCountMin, isLarge { try writeFilled() }
        guard dirty.count * pageSizeInBytes > parts.context.options.dirtyBytesMax else { return }
        forgetBases()
        var rest: [PageID] = []
        var images: [PageBuffer] = []
        var known: Set<PageID> = []
        for id in order {
            guard let page = dirty[id], known.insert(id).inserted else { continue }
            // Branches are few, and every descent needs them.
            if images.count < dirty.count / 2, page[0] != PageKind.treeBranch.rawValue {
                images.append(page)
            } else {
                rest.append(id)
            }
        }
        for (id, address) in try outOfLine.write(images) {
            dirty[id] = nil
            written[id] = address
        }
        order = rest
        epoch += 1
        report(dirty.count * pageSizeInBytes)
    }

    /// Whether the commit will name pages in their places instead of logging them.
    private var isLarge: Bool {
        (dirty.count + written.count) * pageSizeInBytes >= parts.context.options.outOfLineBytesMin
    }

    private func writeFilled() throws(StoreError) {
        forgetBases()
        let pages = filled.sorted().compactMap { dirty[$0] }
        filled = []
        for (id, address) in try outOfLine.write(pages, isKept: false) {
            dirty[id] = nil
            written[id] = address
        }
        order.removeAll { dirty[$0] == nil }
        epoch += 1
        report(dirty.count * pageSizeInBytes)
    }

    package override func freePage(_ id: PageID) throws(StoreError) {
        dirty[id] = nil
        bases[id] = nil
        filled.remove(id)
        drafts.remove(id)
        if let address = written.removeValue(forKey: id) { parts.space.free(address) }
        if allocated.remove(id) != nil {
            writer?.freeIDs.insert(id)
        } else {
            freed.insert(id)
        }
    }

    private var outOfLine: OutOfLineWriter { OutOfLineWriter(parts, commit: baseCommit + 1) }

    private func newPageID() throws(StoreError) -> PageID {
        guard let id = try writer?.takePageID(parts.context) else {
            preconditionFailure("a transaction that ended allocates nothing")
        }
        allocated.insert(id)
        return id
    }

    /// Whether committing would change anything.
    package var hasChanges: Bool {
        !dirty.isEmpty || !written.isEmpty || !freed.isEmpty || root != baseRoot
    }

    /// Makes the transaction durable and visible. Returns its commit number; a transaction
    /// without changes returns the number of the commit that it saw and writes nothing.
    ///
    /// When it throws, nothing of the transaction remains in the store, except after an I/O error
    /// while the log was written: then the outcome is unknown until the store is opened anew.
    @discardableResult
    package func commit(_ durability: Durability = .durable) throws(StoreError) -> UInt64 {
        let commit = Commit(parts)
        let (number, _) = try end(durability, pinsCommit: false)
        try commit.finish(number, durability)
        return number
    }

    /// Ends the transaction so that the next may begin, which builds on it. From now on it may
    /// become visible and durable at any time; it is both when ``StagedCommit/finish()`` has
    /// returned.
    package func stage(_ durability: Durability = .durable) throws(StoreError) -> StagedCommit {
        let (_, pin) = try end(durability, pinsCommit: true)
        guard let pin else { preconditionFailure("a staged commit was pinned") }
        return StagedCommit(parts, pin, durability)
    }

    /// Hands the changes to the log and the writer lock to the next transaction. Returns the
    /// commit's number, and the commit pinned when that is asked for.
    private func end(
        _ durability: Durability, pinsCommit: Bool
    ) throws(StoreError) -> (number: UInt64, pin: SnapshotPin?) {
        precondition(writer != nil, "a transaction ends once")
        guard hasChanges else {
            let pin = pinsCommit ? try before.pin : nil
            if let pin { parts.pager.pinAgain(pin) }
            rollback()
            return (baseCommit, pin)
        }
        let change = CommitContent(
            images: dirty.values.sorted { $0.id < $1.id }
                .map { LoggedImage(image: $0, base: bases[$0.id]) },
            extents: written.sorted { $0.key < $1.key }.map { (id: $0.key, address: $0.value) },
            drafts: drafts, freed: freed.sorted(), catalogRoot: root, durability: durability)
        guard var writer = writer.take() else { preconditionFailure("a transaction ends once") }
        do throws(StoreError) {
            let staged = try Commit(parts).stage(change, &writer, pinsCommit: pinsCommit)
            drop()
            parts.writer.release(writer)
            return staged
        } catch {
            self.writer = consume writer
            rollback()
            if error.isForLackOfSpace { parts.checkpointer.noteLackOfSpace() }
            throw error
        }
    }

    /// Forgets every change. May be called again.
    package func rollback() {
        guard var writer = writer.take() else { return }
        for address in written.values { parts.space.free(address) }
        // As runs, which one ID after the other in no order would not be.
        for id in allocated.sorted(by: >) { writer.freeIDs.insert(id) }
        drop()
        parts.writer.release(writer)
    }

    private func drop() {
        base = nil
        dirty = IntegerMap<PageBuffer>()
        bases = IntegerMap<PageBuffer>()
        drafts.removeAll()
        written = [:]
        order = []
        filled = []
        freed = []
        allocated = []
        report(0)
        parts.pager.returnMemory(freed: reportedBytesMax)
    }
}
