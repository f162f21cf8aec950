/// A backup beside running transactions: a file that is a store of its own.
struct StoreCopy {
    private let origin: StoreParts
    /// Where the copy goes.
    private let files: any FileSystem

    init(of origin: StoreParts, _ files: any FileSystem) {
        self.origin = origin
        self.files = files
    }

    /// Writes the newest commit into a new file, page after page, as a store of its own with the
    /// same identity. Transactions go on meanwhile; the copy is of the moment when it began.
    ///
    /// Throws `invalidArgument` when there is a file at the path already, before anything is
    /// written. The path names a file only when the copy is whole and durable. Before that its name
    /// contains the store's UUID, so that what has the name was left by an interrupted copy of this
    /// store, and is replaced.
    func write(to path: String) throws(StoreError) {
        guard try files.identity(path) == nil else { throw UnfinishedFile.existing(path) }
        let snapshot = try origin.durableSnapshot()
        let context = origin.context
        var unfinished = try UnfinishedFile(
            of: path, by: context.uuid, beside: context.file.identity,
            like: context.file.access(), in: files)
        do throws(StoreError) {
            let copy = try write(snapshot, to: unfinished.path, unfinished.opened)
            // Its lock is held until it has its name: no other backup takes it for an unfinished
            // one.
            try unfinished.publish()
            try copy.close()
        } catch {
            unfinished.discard()
            throw error.at(path: path)
        }
    }

    /// Writes a whole and durable copy, and leaves it open.
    private func write(
        _ snapshot: Snapshot, to path: String, _ opened: OpenFile
    ) throws(StoreError) -> Engine {
        let parts = try Creation.create(
            path: path, options: origin.context.copyOptions, files: files, opened,
            uuid: origin.context.uuid)
        let copy = Engine(parts, Following(parts))
        let originSuperblock = origin.pager.superblock
        try parts.writer.withState { writer throws(StoreError) in
            try fill(parts, &writer, from: snapshot, of: originSuperblock)
        }
        return copy
    }

    /// Takes all pages of a snapshot over under their ids. The store is new, and this thread's.
    private func fill(
        _ copy: StoreParts, _ writer: inout WriterState, from snapshot: Snapshot,
        of superblock: Superblock
    ) throws(StoreError) {
        let pages = try snapshot.content().pages
        let versions = try copy.writePages(pages, of: snapshot)
        copy.show(snapshot, versions, freed: [], pages: pages, &writer)
        copy.pager.withPublished { $0.note(origin: superblock, snapshot.commitNumber) }
        try copy.checkpointer.checkpoint(&writer)
        try copy.checkpointer.writeMirrorSuperblock()
    }
}

extension StoreContext {
    /// The options that a copy is written with.
    var copyOptions: StoreOptions {
        var options = options
        options.mode = .writing
        options.checkpointsInBackground = false
        options.cacheSizeInBytes = 1 << 20
        return options
    }
}

extension PublishedState {
    /// Says in the next superblock which store this is a copy of, and as of when. The pages are the
    /// origin's, and with them the features that they use.
    mutating func note(origin: Superblock, _ commit: UInt64) {
        superblock.featuresCompatible = origin.featuresCompatible
        superblock.featuresReadOnly = origin.featuresReadOnly
        superblock.originLineage = origin.lineage
        superblock.originCommit = commit
        superblock.originMark = origin.history.mark(of: commit) ?? 0
    }
}

extension StoreParts {
    /// The newest commit, made durable: a crash of the store must not lose a commit that its copy
    /// has.
    func durableSnapshot() throws(StoreError) -> Snapshot {
        try context.checkProcess()
        if !context.options.mode.isReadOnly, log.hasFoundCommits {
            // A running transaction has written them anew: no thread waits for one of its own.
            try writer.withState { writer throws(StoreError) in
                try checkUsable()
                try secureFoundCommits(&writer)
            }
        }
        let snapshot = try snapshot()
        if context.options.mode.isReadOnly {
            // Unsynced writes of another process are in the system's cache: a sync through any
            // descriptor makes them durable, unless a sync has failed before.
            try context.file.sync()
        } else {
            try log.write(upTo: snapshot.commitNumber, isDurable: true)
        }
        return snapshot
    }

    /// Writes pages of another store's snapshot to extents of this one.
    func writePages(
        _ ids: [PageID], of snapshot: Snapshot
    ) throws(StoreError) -> [(PageID, ExtentAddress)] {
        var output = ExtentWriter(context, space, isRecent: false)
        do throws(StoreError) {
            let generation = pager.generationNumber
            var versions: [(PageID, ExtentAddress)] = []
            for id in ids {
                let page = try snapshot.page(id)
                // The cache may evict it, and its bytes are only lent.
                defer { withExtendedLifetime(page) {} }
                let address = try output.append(
                    page.view, id: id.rawValue, kind: .page, generation: generation,
                    commit: snapshot.commitNumber)
                versions.append((id, address))
            }
            try output.flush()
            return versions
        } catch {
            output.abandon()
            throw error
        }
    }

    /// Makes another store's snapshot this one's newest commit, for the next checkpoint to store:
    /// no log has it.
    ///
    /// - Parameter pages: all pages of the snapshot.
    func show(
        _ snapshot: Snapshot, _ versions: [(PageID, ExtentAddress)], freed: Set<PageID>,
        pages: [PageID], _ writer: inout WriterState
    ) {
        let commit = snapshot.commitNumber
        let root = snapshot.catalogRoot
        pager.withPublished { published in
            published.append(
                versions.map { ($0.0, PageVersion.Content.extent($0.1)) }, commit: commit)
            published.append(freed.map { ($0, PageVersion.Content.freed) }, commit: commit)
            published.commitNumber = commit
            published.catalogRoot = root
        }
        writer.stagedCommit = commit
        writer.stagedRoot = root
        writer.takeIDs(of: pages)
    }
}
