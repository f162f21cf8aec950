/// What a checkpoint stores: the store as it was between two transactions.
struct CheckpointPlan {
    /// The generation that the checkpoint makes.
    let number: UInt64
    /// The generation whose map it starts from.
    let base: Generation
    /// The last commit that it covers.
    let commitNumber: UInt64
    let catalogRoot: PageID?
    let pageCount: UInt64
    let freeNames: [PageNames.Run]
    /// The newest version of each page that changed since the last checkpoint, in the order in
    /// which they are stored.
    var versions: [(id: PageID, version: PageVersion)]
    let replacedExtents: [ExtentAddress]
    /// Where the log goes on.
    let head: LogSegment
    /// The log that the checkpoint makes needless.
    let oldSegments: [LogSegment]
    let oldLogBytes: UInt64
    /// Pages that are stored once more because they lie high, and where each lies now.
    var moves: [PageID: UInt64] = [:]
    /// Whether it leaves the disk and the processor to commits in between.
    var rests = false
}

/// Checkpoint: the newest image of every page becomes part of the map, and the log starts anew.
/// The steps are those of spec/03-wal.md, in its order. One runs at a time; it begins between two
/// transactions, and after that transactions go on beside it.
extension Engine {
    /// A checkpoint from beginning to end; the caller holds the turn, and none is running.
    func checkpoint() throws(StoreError) {
        if let plan = try beginCheckpoint() { try run(plan) }
    }

    /// Step 1, between two transactions: the caller holds the turn. Nil when one runs already.
    func beginCheckpoint() throws(StoreError) -> CheckpointPlan? {
        guard lock.withLock({ _ in !state.isCheckpointing }) else { return nil }
        try rotate(to: allocateSegment(holding: 0))
        return plan(newestGeneration + 1)
    }

    /// Takes down what the store is now. The log goes on in the segment that was started last.
    func plan(_ number: UInt64) -> CheckpointPlan {
        checkpointGate.pass()
        space.withLock { $0.settle() }
        return lock.withLock { _ in
            state.isCheckpointing = true
            state.plannedCommit = state.commitNumber
            let generation = state.generation
            let head = logTail.segment
            return CheckpointPlan(
                number: number, base: generation, commitNumber: state.commitNumber,
                catalogRoot: state.catalogRoot, pageCount: writer.nextPageID,
                freeNames: writer.freeNames.runs,
                versions: generation.versions.newest.sorted { $0.id < $1.id },
                replacedExtents: generation.replaced.map(\.address), head: head,
                oldSegments: state.segments.filter { $0.number < head.number },
                oldLogBytes: state.logBytes)
        }
    }

    /// Steps 2 to 6, on any thread.
    func run(_ plan: CheckpointPlan) throws(StoreError) {
        defer { endCheckpoint() }
        var output = ExtentWriter(engine: self, isRecent: false)
        let stored: StoredPages
        var dying: [PendingSpace]
        let saved: (root: ExtentAddress, blocks: [ExtentAddress], state: SavedSpace)
        do throws(StoreError) {
            stored = try storePages(plan, with: &output)
            dying = try dyingSpace(stored.dropped, plan)
            saved = try storeSpace(plan, &dying, with: &output)
        } catch {
            output.abandon()
            throw failedBeforeCommit(error)
        }
        try syncData()
        let superblock = superblock(of: plan, map: stored.map, saved.root, saved.state)
        try writeSuperblock(superblock)
        writer.allocationBlocks = saved.blocks
        publish(plan, stored, superblock)
        release(dying, saved.state.zoneAddresses)
    }

    func endCheckpoint() {
        lock.withLock { _ in
            state.isCheckpointing = false
            state.plannedCommit = nil
            state.isCheckpointAwaited = false
        }
        checkpointGate.open()
    }

    /// What a checkpoint has stored, and nobody sees yet.
    private struct StoredPages {
        var map: PageMap
        /// Whoever reads these pages next finds them, though the log's images are let go.
        var images: [(image: PageBuffer, address: ExtentAddress)]
        /// What only older generations need.
        var dropped: [ExtentAddress]
    }

    /// Stores each page that changed since the last checkpoint and the map above them.
    private func storePages(
        _ plan: CheckpointPlan, with output: inout ExtentWriter
    ) throws(StoreError) -> StoredPages {
        var images: [(image: PageBuffer, address: ExtentAddress)] = []
        var changes: [(id: PageID, address: ExtentAddress)] = []
        var pace = CheckpointPace()
        for (id, version) in plan.versions {
            if plan.rests { rest(&pace) }
            switch version.content {
            case .image(let image):
                let address = try output.append(
                    image.view, id: id.rawValue, kind: .page, generation: plan.number,
                    commit: version.commit, below: plan.moves[id])
                changes.append((id: id, address: address))
                images.append((image: image, address: address))
            case .extent(let address):
                changes.append((id: id, address: address))
            case .freed:
                changes.append((id: id, address: .none))
            }
        }
        // Vacuum stores pages in an order of its own.
        changes.sort { $0.id < $1.id }
        var dropped = plan.replacedExtents
        let map = try lock.withLock { _ throws(StoreError) in
            try plan.base.map.replacing(changes, load: loadMapNode, dropped: &dropped)
        }
        try storeMap(map, plan, with: &output)
        return StoredPages(map: map, images: images, dropped: dropped)
    }

    private func storeMap(
        _ map: PageMap, _ plan: CheckpointPlan, with output: inout ExtentWriter
    ) throws(StoreError) {
        for node in map.unwritten() {
            for index in node.children.indices {
                guard let child = node.children[index], !child.isEmpty else { continue }
                node.entries[index] = child.address
            }
            guard !node.isEmpty else { continue }
            let page = PageBuffer(id: PageID(0), count: options.pageSizeInBytes)
            for index in node.entries.indices {
                node.entries[index].store(in: page, at: index * ExtentAddress.size)
            }
            node.address = try output.append(
                page.view, id: node.storedID, kind: .map, generation: plan.number,
                commit: plan.commitNumber)
        }
    }

    /// Replaced extents and the old log, each with the generations whose readers can need it.
    private func dyingSpace(
        _ dropped: [ExtentAddress], _ plan: CheckpointPlan
    ) throws(StoreError) -> [PendingSpace] {
        var dying = try dyingExtents(dropped, plan)
        let unitSize = UInt64(options.unitSizeInBytes)
        for segment in plan.oldSegments {
            dying.append(
                PendingSpace(
                    unit: segment.byteOffset / unitSize, unitCount: segment.sizeInBytes / unitSize,
                    born: segment.born, died: plan.number))
        }
        return dying
    }

    /// Extents that the checkpoint's own generation does not need any more.
    func dyingExtents(
        _ dropped: [ExtentAddress], _ plan: CheckpointPlan
    ) throws(StoreError) -> [PendingSpace] {
        let newest = plan.base.number
        let oldest = heldGenerations().map(\.lowerBound).min() ?? newest
        var dying: [PendingSpace] = []
        for address in dropped {
            // Without a reader of an older generation only the newest can need the extent; else
            // its own header says since when it has been there.
            let born = oldest < newest ? try birth(of: address) : newest
            dying.append(PendingSpace(address, born: born, died: plan.number))
        }
        return dying
    }

    private func birth(of address: ExtentAddress) throws(StoreError) -> UInt64 {
        let buffer = ReadBuffer(count: ExtentLayout.size)
        let place = address.unit * UInt64(options.unitSizeInBytes)
        guard try file.read(into: buffer, at: place) == buffer.count else { return 0 }
        let bytes = buffer.view
        // A header that is not the entry's tells nothing: then every reader counts.
        guard bytes.uint64(at: ExtentLayout.hash) == address.hash else { return 0 }
        return bytes.uint64(at: ExtentLayout.generation)
    }

    private func superblock(
        of plan: CheckpointPlan, map: PageMap, _ allocation: ExtentAddress, _ saved: SavedSpace
    ) -> Superblock {
        var superblock = superblock
        superblock.generation = plan.number
        superblock.mapDepth = map.depth
        superblock.commitNumber = plan.commitNumber
        superblock.commitTime = files.now()
        superblock.pageCount = plan.pageCount
        superblock.catalogRoot = plan.catalogRoot?.rawValue ?? 0
        superblock.mapRoot = map.root.address
        superblock.allocationRoot = allocation
        superblock.head = plan.head
        superblock.requiredLength = saved.usedEnd * UInt64(options.unitSizeInBytes)
        return superblock
    }

    func syncData() throws(StoreError) {
        do throws(StoreError) {
            try file.sync()
        } catch {
            poison(error)
            throw error
        }
        try checkNotPoisoned()
    }

    func writeSuperblock(_ superblock: Superblock) throws(StoreError) {
        let encoded = superblock.encoded()
        do throws(StoreError) {
            try file.writeDurably(encoded.view, at: superblock.byteOffset)
        } catch {
            poison(error)
            throw error
        }
        try checkNotPoisoned()
    }

    private func publish(
        _ plan: CheckpointPlan, _ stored: StoredPages, _ superblock: Superblock
    ) {
        let freedBytes = lock.withLock { cache in
            let imageBytes = state.generation.imageBytes
            state.generation = Generation(
                number: plan.number, checkpointCommit: plan.commitNumber, map: stored.map,
                after: state.generation)
            state.logBytes -= plan.oldLogBytes
            state.checkpointRetryLogBytes = 0
            state.previousGeneration = state.superblock.generation
            state.previousRequiredLength = state.superblock.requiredLength
            state.superblock = superblock
            state.segments.removeAll { $0.number < plan.head.number }
            state.checkpoints += 1
            state.durableCommit = max(state.durableCommit, plan.commitNumber)
            // Images are the cache's from now on, and not before: as long as they count as versions
            // too, others would go for them that are asked for all the time. Those that they
            // replace are seldom asked for again.
            for address in stored.dropped { cache.remove(address) }
            reserveMemory(&cache)
            for (image, address) in stored.images {
                cache.insert(image, at: address, passesHeld: false)
            }
            return imageBytes - state.generation.imageBytes
        }
        returnMemory(freed: freedBytes)
    }

    /// The new generation is durable: what died with it pends, what nobody needs is free, and the
    /// file ends where neither superblock needs more.
    private func release(_ dying: [PendingSpace], _ zoneAddresses: [ExtentAddress]) {
        space.withLock { space in
            space.retire(dying)
            space.zoneAddresses = zoneAddresses
        }
        releaseSpace()
        truncateTail()
    }

    /// Gives the file's end back to the system when it is worth it.
    private func truncateTail() {
        let needed = lock.withLock { _ in
            max(state.superblock.requiredLength, state.previousRequiredLength)
        }
        guard let size = try? file.size() else { return }
        do throws(StoreError) {
            // Under the lock, so that nobody takes space that is being cut off.
            try space.withLock { space throws(StoreError) in
                let unitSize = UInt64(options.unitSizeInBytes)
                let end = max(needed, space.usedEnd * unitSize)
                guard size > end, size - end >= max(options.tailBytesMin, size / 8) else { return }
                _ = space.trim()
                try file.truncate(to: end)
            }
        } catch {
            poison(error)
        }
    }
}
