/// The size of a tree: its entries, its pages, and their bytes.
package struct TreeSize: Sendable {
    package var entryCount = 0
    /// Levels from the root to the leaves, both counted.
    package var height = 0
    package var pages = PageSizeSum()
    /// Bytes of nodes that entries could use, and that they use.
    package var roomInBytes = 0
    package var usedInBytes = 0
    /// Values that lie in pages of their own.
    package var blobCount = 0

    package var fill: Double {
        roomInBytes == 0 ? 0 : Double(usedInBytes) / Double(roomInBytes)
    }
}

/// Pages, the bytes of their images, and those of the extents that hold them.
package struct PageSizeSum: Sendable {
    package var count = 0
    package var rawBytes: UInt64 = 0
    package var storedBytes: UInt64 = 0

    /// Bytes of images for one byte of the file.
    package var compression: Double {
        storedBytes == 0 ? 1 : Double(rawBytes) / Double(storedBytes)
    }

    mutating func add(_ page: PageBuffer, _ place: PagePlace) {
        count += 1
        rawBytes += UInt64(page.count)
        storedBytes += UInt64(place.sizeInBytes)
    }
}

/// How the bytes of a file are used, as one snapshot of a store opened for reading shows.
package struct StoreSize: Sendable {
    /// By tree, in the order in which they were asked for.
    package var trees: [TreeSize] = []
    /// Pages of large values by kind: runs, lists and chunks.
    package var overflow = PageSizeSum()
    package var lists = PageSizeSum()
    package var chunks = PageSizeSum()
    /// Bytes that are not needed any more and wait for the next checkpoints.
    package var pendingBytes: UInt64 = 0
    package var freeBytes: UInt64 = 0
    package var logSegmentBytes: UInt64 = 0
    /// Names of pages that are free to be used again.
    package var freePageIDCount: UInt64 = 0

    /// Reads every page once.
    package static func measure(
        _ snapshot: Snapshot, trees: [TreeID]
    ) throws(StoreError) -> StoreSize {
        var size = StoreSize()
        var places: [PageID: PagePlace] = [:]
        for place in try snapshot.pagePlaces() { places[place.page] = place }
        for tree in trees { size.trees.append(try measure(tree, snapshot, places)) }
        for (id, place) in places.sorted(by: { $0.key < $1.key }) {
            let page = try snapshot.page(id)
            switch PageKind(rawValue: page[0]) {
            case .overflow: size.overflow.add(page, place)
            case .blobList: size.lists.add(page, place)
            case .blobChunk: size.chunks.add(page, place)
            case .treeLeaf, .treeBranch, nil: break
            }
        }
        try size.measureSpace(snapshot.pager)
        return size
    }

    private static func measure(
        _ tree: TreeID, _ snapshot: Snapshot, _ places: [PageID: PagePlace]
    ) throws(StoreError) -> TreeSize {
        var size = TreeSize()
        let root = try snapshot.rootNode(of: tree)
        size.height = root.level + 1
        var open = [root]
        while let node = open.popLast() {
            let page = node.page
            size.pages.add(
                page,
                places[page.id]
                    ?? PagePlace(page: page.id, byteOffset: nil, sizeInBytes: page.count))
            size.roomInBytes += page.count - NodeLayout.fences
            size.usedInBytes += page.count - NodeLayout.fences - node.freeSize
            guard !node.isLeaf else {
                size.entryCount += node.slotCount
                for index in 0..<node.slotCount where node.isOverflowValue(index) {
                    size.blobCount += 1
                }
                continue
            }
            // Levels fall by one from node to child, so that no walk goes round in a circle.
            for index in -1..<node.slotCount {
                let child = try node.checkedNode(snapshot.page(node.child(index)))
                try node.checkFences(of: child, at: index)
                open.append(child)
            }
        }
        return size
    }

    private mutating func measureSpace(_ pager: Pager) throws(StoreError) {
        let geometry = pager.context.geometry
        let saved = try AllocationReader(pager.context).read(pager.superblock)
        for pending in saved.map.pending {
            pendingBytes += geometry.bytes(ofUnits: pending.unitCount)
        }
        freeBytes = geometry.bytes(ofUnits: saved.map.freeUnits)
        freePageIDCount = saved.freeIDs.reduce(0) { $0 + $1.count }
        logSegmentBytes = pager.withPublished { published in
            published.segments.reduce(0) { $0 + $1.sizeInBytes }
        }
    }
}
