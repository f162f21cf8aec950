/// A backup beside running transactions: a file that is a store of its own.
struct StoreCopy {
    /// Of a file's name, by most file systems.
    private static let nameSizeInBytesMax = 255

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
    /// Throws `invalidArgument` when there is a file at the path already. The path names a file
    /// only when the copy is whole and durable. Before that its name contains the store's UUID, so
    /// that what has the name was left by an interrupted copy of this store, and is replaced.
    func write(to path: String) throws(StoreError) {
        let snapshot = try origin.durableSnapshot()
        guard try files.identity(path) == nil else { throw Self.existing(path) }
        let unfinished = Self.unfinishedPath(path, origin.context.uuid)
        guard try files.identity(unfinished) != origin.context.file.identity else {
            throw StoreError(
                .invalidArgument,
                "an unfinished copy of that name would be replaced, and it is this store",
                path: unfinished)
        }
        let opened = try claim(unfinished)
        var name = unfinished
        do throws(StoreError) {
            let copy = try write(snapshot, to: unfinished, opened)
            // Its lock is held until it has its name: no other backup takes it for an unfinished
            // one.
            guard try files.identity(unfinished) == opened.file.identity else {
                throw StoreError(.fileReplaced, "another file took the name of the unfinished copy")
            }
            try files.rename(unfinished, to: path)
            name = path
            try files.syncDirectory(of: path)
            try copy.close()
        } catch {
            // Only the name that is its own: the other one may be another backup's by now.
            if let found = try? files.identity(name), found == opened.file.identity {
                try? files.unlink(name)
            }
            opened.close()
            throw error.at(path: path)
        }
    }

    /// The path of a copy that has no name yet. A name that the suffix would make longer than file
    /// systems take loses its end.
    private static func unfinishedPath(_ path: String, _ uuid: StoreUUID) -> String {
        let suffix = ".\(uuid).part"
        var name = Substring(path)
        if let end = path.lastIndex(of: "/") { name = path[path.index(after: end)...] }
        let folder = path[..<name.startIndex]
        while name.utf8.count + suffix.utf8.count > nameSizeInBytesMax { name.removeLast() }
        return folder + name + suffix
    }

    private static func existing(_ path: String) -> StoreError {
        StoreError(.invalidArgument, "there is a file of that name already", path: path)
    }

    /// An empty file for a copy, which no other backup writes: a new one, or one that a backup left
    /// when its process ended.
    private func claim(_ path: String, isAnew: Bool = false) throws(StoreError) -> OpenFile {
        guard try !files.isLink(path) else {
            throw StoreError(
                .invalidArgument,
                "a link has the name of the unfinished copy; remove it, or choose another name for "
                    + "the copy", path: path)
        }
        let opened: OpenFile
        do throws(StoreError) {
            opened = try OpenFile(path, .create, in: files)
        } catch {
            guard error.code == .fileReplaced else { throw error }
            throw Self.ended(path)
        }
        do throws(StoreError) {
            guard try opened.file.lockWriter() else {
                throw StoreError(.lockedByOther, "another process makes a backup there")
            }
            // It was another one's until that had its name.
            guard try files.identity(path) == opened.file.identity else {
                throw Self.ended(path)
            }
            // A file system that gives a new file two names has no use for the question.
            if !isAnew, try opened.file.nameCount() > 1 { return try claimAnew(path, opened) }
            try opened.file.truncate(to: 0)
            return opened
        } catch {
            opened.close()
            throw error.at(path: path)
        }
    }

    private static func ended(_ path: String) -> StoreError {
        StoreError(.lockedByOther, "another backup there has just ended", path: path)
    }

    /// A backup that ended before it removed this name has left it to a finished copy, which may
    /// be elsewhere by now: only the name goes.
    private func claimAnew(_ path: String, _ opened: OpenFile) throws(StoreError) -> OpenFile {
        try files.unlink(path)
        opened.close()
        return try claim(path, isAnew: true)
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
