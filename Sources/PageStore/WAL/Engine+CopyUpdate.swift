/// Bringing an earlier copy of a store up to date: decisions/010.
extension Engine {
    /// Brings a copy that ``copy(to:)`` made up to the newest commit of this store, and writes only
    /// the pages that changed since. Returns how many. Transactions go on meanwhile.
    ///
    /// Whatever happens on the way, the copy shows the commit that it showed or the new one. Throws
    /// `notFound` without a copy, and `invalidArgument` for a file that is none of this store, that
    /// somebody has changed, or that knows later commits: then only a new copy helps.
    @discardableResult
    package func updateCopy(
        at path: String, files copyFiles: (any FileSystem)? = nil
    ) throws(StoreError) -> Int {
        let files = copyFiles ?? self.files
        guard try files.identity(path) != nil else {
            throw StoreError(.notFound, "there is no copy to bring up to date", path: path)
        }
        let origin = superblock
        let snapshot = try snapshot()
        let copy = try Engine.open(path: path, options: copyOptions, files: files)
        let count: Int
        do throws(StoreError) {
            try copy.checkOrigin(origin, uuid, snapshot.commitNumber)
            count = try copy.take(snapshot, of: origin)
        } catch {
            // What was begun is not to be completed by closing.
            copy.poison(error)
            try? copy.close()
            throw error.at(path: path)
        }
        try copy.close()
        return count
    }

    private func checkOrigin(
        _ origin: Superblock, _ originUUID: StoreUUID, _ commit: UInt64
    ) throws(StoreError) {
        let own = superblock
        let shown = lock.withLock { _ in state.commitNumber }
        let reason: String? =
            if uuid != originUUID {
                "the file is a copy of another store"
            } else if own.originLineage == 0 || own.originLineage != origin.lineage {
                "the copy was not made of this file, whose history may be another one"
            } else if shown != own.originCommit {
                "the copy has been changed since it was made"
            } else if shown > commit {
                "the copy is newer than the store"
            } else {
                nil
            }
        if let reason { throw StoreError(.invalidArgument, "\(reason); make a new one") }
    }

    /// Makes the pages of a snapshot of the origin this copy's own.
    private func take(_ snapshot: Snapshot, of origin: Superblock) throws(StoreError) -> Int {
        turn.pass()
        defer { turn.open() }
        try prepareWriting()
        let shown = lock.withLock { _ in state.commitNumber }
        guard shown < snapshot.commitNumber else { return 0 }
        let known = Set(try stagedSnapshot().content().pages)
        let pages = try snapshot.content().pages
        let changed = try snapshot.pagesChanged(since: shown).union(Set(pages).subtracting(known))
        let versions = try write(changed.sorted(), of: snapshot)
        let gone = known.subtracting(pages)
        lock.withLock { _ in
            let shown = state.generation.shown(besides: [])
            for (id, address) in versions {
                state.generation.append(
                    PageVersion(commit: snapshot.commitNumber, content: .extent(address)), of: id,
                    keeping: shown)
            }
            for id in gone {
                state.generation.append(
                    PageVersion(commit: snapshot.commitNumber, content: .freed), of: id,
                    keeping: shown)
            }
            state.commitNumber = snapshot.commitNumber
            state.catalogRoot = snapshot.catalogRoot
            writer.stagedCommit = snapshot.commitNumber
            writer.stagedRoot = snapshot.catalogRoot
        }
        takeNames(of: pages)
        note(origin: origin, snapshot.commitNumber)
        try checkpoint()
        // The older superblock's log does not lead here: no log has these pages.
        try writeTwin()
        return versions.count
    }

    private func write(
        _ ids: [PageID], of snapshot: Snapshot
    ) throws(StoreError) -> [(PageID, ExtentAddress)] {
        var output = ExtentWriter(engine: self, isRecent: false)
        do throws(StoreError) {
            var versions: [(PageID, ExtentAddress)] = []
            for id in ids {
                let page = try snapshot.page(id)
                // The cache may let go of it, and its bytes are only lent.
                defer { withExtendedLifetime(page) {} }
                let address = try output.append(
                    page.view, id: id.rawValue, kind: .page, generation: newestGeneration,
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

    /// All names between these pages are free.
    func takeNames(of pages: [PageID]) {
        var gaps: [PageNames.Run] = []
        var next: UInt64 = 1
        for id in pages {
            gaps.append(PageNames.Run(start: next, count: id.rawValue - next))
            next = id.rawValue + 1
        }
        writer.nextPageID = next
        writer.freeNames = PageNames(ascending: gaps)
    }
}

extension Snapshot {
    /// The pages whose version here was made behind a commit, and perhaps some more. Map nodes that
    /// are older are not looked below, and of the others' pages the headers alone are read.
    func pagesChanged(since commit: UInt64) throws(StoreError) -> Set<PageID> {
        var changed: Set<PageID> = []
        for (id, address) in try pagesBelowNodes(since: commit) {
            if try engine.madeCommit(of: address) > commit { changed.insert(id) }
        }
        engine.lock.withLock { _ in
            for id in generation.versions.ids {
                guard let version = generation.version(of: id, upTo: commitNumber) else { continue }
                if case .freed = version.content {
                    changed.remove(id)
                } else if version.commit > commit {
                    changed.insert(id)
                }
            }
        }
        return changed
    }

    private func pagesBelowNodes(
        since commit: UInt64
    ) throws(StoreError) -> [(PageID, ExtentAddress)] {
        try engine.lock.withLock { _ throws(StoreError) in
            var found: [(PageID, ExtentAddress)] = []
            var open = [generation.map.root]
            while let node = open.popLast() {
                if !node.address.isNone, try engine.madeCommit(of: node.address) <= commit {
                    continue
                }
                for index in node.entries.indices {
                    let address = node.entries[index]
                    if node.level == 0 {
                        guard !address.isNone else { continue }
                        found.append((PageID(node.firstID + UInt64(index)), address))
                    } else if let child = try child(of: node, at: index, address) {
                        open.append(child)
                    }
                }
            }
            return found
        }
    }
}

extension Engine {
    /// The commit that an extent says made it; the highest number when its header cannot be
    /// believed.
    fileprivate func madeCommit(of address: ExtentAddress) throws(StoreError) -> UInt64 {
        let buffer = ReadBuffer(count: ExtentLayout.size)
        let place = address.unit * UInt64(options.unitSizeInBytes)
        guard try file.read(into: buffer, at: place) == buffer.count,
            buffer.view.uint64(at: ExtentLayout.hash) == address.hash
        else { return .max }
        return buffer.view.uint64(at: ExtentLayout.commit)
    }
}
