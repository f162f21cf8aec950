/// Changes of the newest state: commits, checkpoints, and the writes of another process.
extension Pager {
    /// Adds the versions that a staged commit makes, for readers who come after it. Returns the
    /// commit pinned when that is asked for, so that no later one can replace a version of it.
    func stage(_ content: CommitContent, number: UInt64, pinsCommit: Bool) -> SnapshotPin? {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.published.append(content, number: number)
            state.published.stagedCommits.append(number)
            state.reserveMemory()
            return pinsCommit ? state.pin(number, content.catalogRoot, now) : nil
        }
    }

    /// The chains that deltas against the newest versions of the pages would extend.
    func chains(of images: [LoggedImage]) -> [DeltaChain] {
        state.withLock { state in
            images.map { state.published.generation.chain(of: $0.image.id) }
        }
    }

    /// Shows readers a commit whose group the log has.
    func publish(_ commit: UInt64, _ root: PageID?, count: UInt64) {
        state.withLock { state in
            state.published.commitNumber = commit
            state.published.catalogRoot = root
            state.published.commits += count
            state.published.stagedCommits.removeAll { $0 <= commit }
        }
    }

    /// Keeps images of pages that were written to their extents.
    func cache(_ images: [(image: PageBuffer, address: ExtentAddress)]) {
        state.withLock { state in
            for (image, address) in images { state.cache.insert(image, at: address) }
        }
    }

    // MARK: Checkpoints

    /// The state that a checkpoint beginning now stores.
    func beginCheckpoint() -> (
        base: Generation, commitNumber: UInt64, catalogRoot: PageID?,
        versions: [(id: PageID, version: PageVersion)], replaced: [ExtentAddress]
    ) {
        state.withLock { state in
            let generation = state.published.generation
            state.published.plannedCommit = state.published.commitNumber
            return (
                generation, state.published.commitNumber, state.published.catalogRoot,
                generation.versions.newest, generation.replaced.map(\.address)
            )
        }
    }

    func endCheckpoint() { withPublished { $0.plannedCommit = nil } }

    /// Shows the generation that a checkpoint has made durable.
    func publish(
        _ superblock: Superblock, _ map: PageMap, covering commit: UInt64,
        images: [(image: PageBuffer, address: ExtentAddress)], dropped: [ExtentAddress]
    ) {
        let freedBytes = state.withLock { state in
            let last = state.published.generation
            let next = Generation(
                number: superblock.generation, checkpointCommit: commit, map: map, after: last)
            state.published.generation = next
            state.published.advance(to: superblock)
            state.published.segments.removeAll { $0.number < superblock.head.number }
            state.published.checkpoints += 1
            let lastBytes = last.imageBytes
            last.retire(covering: commit)
            // Images enter the cache now, and not before: as long as they count as versions too,
            // they would evict pages in use. The extents that they replace are seldom read again.
            for address in dropped { state.cache.remove(address) }
            state.reserveMemory()
            for (image, address) in images {
                state.cache.insert(image, at: address, sparesHeld: false)
            }
            return lastBytes - next.imageBytes - last.imageBytes
        }
        returnMemory(freed: freedBytes)
    }

    /// Shows the newest state once more, as the generation of a superblock that repeats it.
    func publishMirror(_ superblock: Superblock) {
        withPublished { published in
            let last = published.generation
            published.generation = Generation(
                number: superblock.generation, checkpointCommit: last.checkpointCommit,
                map: last.map)
            published.advance(to: superblock)
        }
    }

    // MARK: Limits

    /// The bytes of page images that no checkpoint has stored, without those that no reader can
    /// see any more: these are looked for once the others reach a limit.
    func hasImageBytes(_ limit: UInt64) -> Bool {
        withPublished { published in
            guard UInt64(published.generation.imageBytes) >= limit else { return false }
            published.generation.trim(
                keeping: published.generation.shown(besides: published.visibleCommits))
            // With a margin: a limit that pruning barely meets would be exceeded again at once.
            return UInt64(published.generation.imageBytes) >= limit / 4 * 3
        }
    }

    /// The units written out of line since the last checkpoint, and the length that it needs.
    var outOfLine: (unitCount: UInt64, requiredLength: UInt64) {
        withPublished { ($0.generation.extentUnits, $0.superblock.requiredLength) }
    }
}

extension PublishedState {
    fileprivate mutating func append(_ content: CommitContent, number: UInt64) {
        let shown = generation.shown(besides: visibleCommits)
        for logged in content.images {
            generation.append(
                PageVersion(
                    commit: number, content: .image(logged.image), chain: logged.chain),
                of: logged.image.id, keeping: shown)
        }
        for extent in content.extents {
            generation.append(
                PageVersion(commit: number, content: .extent(extent.address)), of: extent.id,
                keeping: shown)
        }
        for id in content.freed {
            generation.append(PageVersion(commit: number, content: .freed), of: id, keeping: shown)
        }
    }

    /// Adds versions that the log of another process says, or that a copy takes over.
    mutating func append(
        _ pages: some Sequence<(PageID, PageVersion.Content)>, commit: UInt64
    ) {
        let shown = generation.shown(besides: visibleCommits)
        for (id, content) in pages {
            generation.append(
                PageVersion(commit: commit, content: content), of: id, keeping: shown)
        }
    }
}

/// Adopting the state that recovery or following has read from the file.
extension Pager {
    /// Publishes the state that was read from the file. Returns the generation published before
    /// when no snapshot uses it any more; else the last of them releases its lock.
    func adopt(_ found: FileState) -> Generation? {
        state.withLock { state in
            let last = state.published.generation
            state.published.adopt(found)
            state.reserveMemory()
            return last !== found.generation && last.pinCount == 0 ? last : nil
        }
    }

    /// The newest version of each page since the checkpoint.
    var newestVersions: [(id: PageID, version: PageVersion)] {
        withPublished { $0.generation.versions.newest }
    }

    /// The out-of-line extents that the log names, those that it replaced included.
    var loggedExtents: [ExtentAddress] {
        withPublished { published in
            var found = published.generation.replaced.map(\.address)
            published.generation.versions.visit { version in
                if case .extent(let address) = version.content { found.append(address) }
            }
            return found
        }
    }
}

extension PublishedState {
    fileprivate mutating func adopt(_ found: FileState) {
        generation = found.generation
        superblock = found.superblock
        previousGeneration = found.previousGeneration
        damage = found.damage
        guard let log = found.log else {
            commitNumber = found.superblock.commitNumber
            catalogRoot = found.superblock.root
            return
        }
        for address in log.replacedExtents {
            generation.noteReplaced(address, commit: log.commitNumber)
        }
        append(log.pages.lazy.map { ($0.key, $0.value) }, commit: log.commitNumber)
        commitNumber = log.commitNumber
        catalogRoot = log.root
        segments = log.segments
    }
}
