/// Checkpoint: the newest image of every page becomes part of the map, and the log starts anew.
/// The steps are those of spec/03-wal.md, in its order.
extension Engine {
    /// A checkpoint between transactions; the caller holds the turn.
    func checkpoint() throws(StoreError) {
        let segment = try allocateSegment(holding: 0)
        try link(to: segment)
        try storeGeneration(state.generation.number + 1)
        lock.withLock { _ in state.checkpoints += 1 }
    }

    /// Steps 2 to 6 for a generation whose log begins with the current segment.
    func storeGeneration(_ number: UInt64) throws(StoreError) {
        let spaceBefore = writer.space
        let blocksBefore = writer.allocationBlocks
        var output = ExtentWriter(engine: self)
        let superblock: Superblock
        let stored: (map: PageMap, images: [(PageBuffer, ExtentAddress)])
        do throws(StoreError) {
            stored = try storePages(number, with: &output)
            retireLog(died: number)
            let allocation = try storeSpace(number, with: &output)
            try output.flush()
            superblock = newSuperblock(number, map: stored.map, allocation: allocation)
        } catch {
            writer.space = spaceBefore
            writer.allocationBlocks = blocksBefore
            throw failedBeforeCommit(error)
        }
        try syncData()
        try writeSuperblock(superblock)
        publish(stored.map, images: stored.images, superblock: superblock)
    }

    /// Stores each page that changed since the last checkpoint and the map above them.
    private func storePages(
        _ number: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) -> (map: PageMap, images: [(PageBuffer, ExtentAddress)]) {
        let generation = state.generation
        var changes: [(id: PageID, address: ExtentAddress)] = []
        var images: [(PageBuffer, ExtentAddress)] = []
        for (id, versions) in generation.versions.sorted(by: { $0.key < $1.key }) {
            guard let newest = versions.last else { continue }
            switch newest.content {
            case .image(let image):
                let address = try output.append(
                    image.view, id: id.rawValue, kind: .page, generation: number,
                    commit: newest.commit)
                changes.append((id: id, address: address))
                images.append((image, address))
            case .extent(let address):
                changes.append((id: id, address: address))
            case .freed:
                changes.append((id: id, address: .none))
            }
        }
        var dropped = generation.replacedExtents
        let map = try lock.withLock { _ throws(StoreError) in
            try generation.map.replacing(changes, load: loadMapNode, dropped: &dropped)
        }
        try storeMap(map, generation: number, with: &output)
        try retire(dropped, died: number)
        return (map, images)
    }

    private func storeMap(
        _ map: PageMap, generation: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) {
        for node in map.unwritten() {
            for (index, child) in node.children.enumerated() {
                if let child, !child.isEmpty { node.entries[index] = child.address }
            }
            guard !node.isEmpty else { continue }
            let page = PageBuffer(id: PageID(0), count: options.pageSizeInBytes)
            for (index, entry) in node.entries.enumerated() {
                entry.store(in: page, at: index * ExtentAddress.size)
            }
            node.address = try output.append(
                page.view, id: node.storedID, kind: .map, generation: generation,
                commit: state.commitNumber)
        }
    }

    /// Keeps replaced extents for the readers that can see them and for no others.
    private func retire(_ dropped: [ExtentAddress], died: UInt64) throws(StoreError) {
        let newest = state.generation.number
        let oldest = lock.withLock { _ in state.pins.keys.min() ?? newest }
        for address in dropped {
            // Without a reader of an older generation only the newest can need the extent; else
            // its own header says since when it has been there.
            let born = oldest < newest ? try birth(of: address) : newest
            writer.space.retire(address, born: born, died: died)
        }
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

    /// The segments before the new head die with this generation.
    private func retireLog(died: UInt64) {
        let unitSize = UInt64(options.unitSizeInBytes)
        for segment in writer.segments where segment.number != writer.log.segment.number {
            writer.space.retire(
                PendingSpace(
                    unit: segment.byteOffset / unitSize, unitCount: segment.sizeInBytes / unitSize,
                    born: segment.born, died: died))
        }
    }

    func newSuperblock(
        _ number: UInt64, map: PageMap, allocation: ExtentAddress
    ) -> Superblock {
        var superblock = writer.superblock
        superblock.generation = number
        superblock.mapDepth = map.depth
        superblock.commitNumber = state.commitNumber
        superblock.commitTime = files.now()
        superblock.pageCount = writer.nextPageID
        superblock.catalogRoot = state.catalogRoot?.rawValue ?? 0
        superblock.mapRoot = map.root.address
        superblock.allocationRoot = allocation
        superblock.head = writer.log.segment
        superblock.requiredLength =
            writer.space.usedEnd * UInt64(options.unitSizeInBytes)
        return superblock
    }

    func syncData() throws(StoreError) {
        do throws(StoreError) {
            try file.sync()
        } catch {
            poison(error)
            throw error
        }
    }

    func writeSuperblock(_ superblock: Superblock) throws(StoreError) {
        let encoded = superblock.encoded()
        do throws(StoreError) {
            try file.writeDurably(encoded.view, at: superblock.byteOffset)
        } catch {
            poison(error)
            throw error
        }
    }

    private func publish(
        _ map: PageMap, images: [(PageBuffer, ExtentAddress)], superblock: Superblock
    ) {
        let pinned: [UInt64] = lock.withLock { _ in
            for (image, address) in images { state.cache.insert(image, at: address) }
            state.generation = Generation(
                number: superblock.generation, checkpointCommit: superblock.commitNumber,
                map: map)
            state.logBytes = 0
            writer.checkpointRetryLogBytes = 0
            return Array(state.pins.keys)
        }
        writer.previousGeneration = writer.superblock.generation
        writer.superblock = superblock
        writer.segments = [writer.log.segment]
        writer.space.release(previous: writer.previousGeneration, pinned: pinned)
    }
}
