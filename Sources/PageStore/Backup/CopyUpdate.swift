/// Bringing an earlier copy of a store up to date: decisions/010.
struct CopyUpdate {
    private let origin: StoreParts
    /// Whether the origin was opened for this update.
    private var isReopened = false

    init(from origin: StoreParts) { self.origin = origin }

    /// Brings a copy up to the newest commit of the store, and writes only the pages that changed
    /// since. Returns how many: see ``Engine/updateCopy(at:files:)``.
    func run(at path: String, _ files: any FileSystem) throws(StoreError) -> Int {
        guard try files.identity(path) != nil else {
            throw StoreError(.notFound, "there is no copy to bring up to date", path: path)
        }
        var options = origin.context.copyOptions
        options.createsFile = false
        let copy = try Engine.open(path: path, options: options, files: files)
        let count: Int
        do throws(StoreError) {
            count = try update(copy.parts)
        } catch {
            // Poisoned, so that closing does not complete the update that failed.
            copy.parts.context.health.poison(error)
            try? copy.close()
            throw error.at(path: path)
        }
        try copy.close()
        // The backup that made the copy may have ended before its name was durable.
        do throws(StoreError) {
            // For a path that is a link, the folder of its target.
            try files.syncDirectory(of: files.target(of: path))
        } catch {
            throw error.at(path: path)
        }
        return count
    }

    /// Updates a copy that is locked. The state to copy is read only now: another update could
    /// have brought the copy to a newer commit than one that was read before.
    private func update(_ copy: StoreParts) throws(StoreError) -> Int {
        var snapshot = try origin.durableSnapshot()
        if copy.pager.commitNumber > snapshot.commitNumber {
            if origin.context.options.mode.follows {
                // Another process may have brought the copy to a commit that this one has not read.
                if !isReopened { return try updateFromFile(copy) }
            } else {
                // Another process may have read a commit that is written, and not shown here yet.
                origin.log.awaitWrite()
                snapshot = try origin.durableSnapshot()
            }
        }
        let superblock = origin.pager.superblock
        try checkOrigin(of: copy, superblock, snapshot.commitNumber)
        return try take(snapshot, of: superblock, into: copy)
    }

    /// Updates a copy from the newest commit of the origin's file. The origin itself stays where it
    /// is: who follows it is to see each step.
    private func updateFromFile(_ copy: StoreParts) throws(StoreError) -> Int {
        let context = origin.context
        try context.checkPathIdentity()
        let newest = try Engine.open(
            path: context.path, options: context.options, files: context.files)
        defer { try? newest.close() }
        var update = CopyUpdate(from: newest.parts)
        update.isReopened = true
        return try update.update(copy)
    }

    private func checkOrigin(
        of copy: StoreParts, _ superblock: Superblock, _ commit: UInt64
    ) throws(StoreError) {
        let (own, shown) = copy.pager.withPublished { ($0.superblock, $0.commitNumber) }
        let mark = superblock.history.mark(of: shown)
        let (code, reason): (StoreError.Code, String)
        if copy.context.uuid != origin.context.uuid {
            (code, reason) = (.invalidArgument, "the file is a copy of another store")
        } else if own.originLineage == 0 || own.originLineage != superblock.lineage {
            (code, reason) = (
                .historyDiffers,
                "the copy was not made of this file, whose history may be another one"
            )
        } else if shown != own.originCommit {
            (code, reason) = (.invalidArgument, "the copy has been changed since it was made")
        } else if shown > commit {
            (code, reason) = (.historyDiffers, "the copy is newer than the store")
        } else if shown > 0, own.originMark == 0 {
            (code, reason) = (
                .historyDiffers, "the copy does not say which history it was made of"
            )
        } else if shown > 0, mark == nil {
            (code, reason) = (
                .historyDiffers,
                "the store has been opened for writing too often since the copy was made to know "
                    + "whether it holds the copy's commits"
            )
        } else if shown > 0, mark != own.originMark {
            (code, reason) = (
                .historyDiffers,
                "the copy holds commits that the store has lost: a crash took them, or its file "
                    + "was put back from an earlier one"
            )
        } else {
            return
        }
        throw StoreError(code, "\(reason); make a new one")
    }

    /// Makes the pages of a snapshot of the origin the copy's own.
    private func take(
        _ snapshot: Snapshot, of superblock: Superblock, into copy: StoreParts
    ) throws(StoreError) -> Int {
        try copy.writer.withState { writer throws(StoreError) in
            try Recovery(copy).prepareWriting(&writer)
            let shown = copy.pager.commitNumber
            guard shown < snapshot.commitNumber else { return 0 }
            let known = Set(try copy.stagedSnapshot(writer).content().pages)
            let pages = try snapshot.content().pages
            let changed = try snapshot.pagesChanged(since: shown)
                .union(Set(pages).subtracting(known))
            let versions = try copy.writePages(changed.sorted(), of: snapshot)
            copy.show(
                snapshot, versions, freed: known.subtracting(pages), pages: pages, &writer)
            copy.pager.withPublished { $0.note(origin: superblock, snapshot.commitNumber) }
            try copy.checkpointer.checkpoint(&writer)
            // The older superblock's log does not lead here: no log has these pages.
            try copy.checkpointer.writeMirrorSuperblock()
            return versions.count
        }
    }
}
