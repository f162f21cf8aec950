extension Snapshot {
    /// The pages of this commit, and the extents that its map and its log name.
    func content() throws(StoreError) -> StoreContent {
        var content = try readMap()
        var pages = Set(content.pages)
        for (id, version) in versions() {
            switch version.content {
            case .image, .packed: pages.insert(id)
            case .extent(let address):
                pages.insert(id)
                content.places.append(place(address, id))
            case .freed: pages.remove(id)
            }
        }
        content.pages = pages.sorted()
        content.places.removeAll { $0.unitCount == 0 }
        return content
    }

    /// The pages of the checkpoint that this commit builds on, and where they and their map lie.
    func mapContent() throws(StoreError) -> StoreContent {
        var content = try readMap()
        content.pages.sort()
        return content
    }

    /// The newest version up to this commit of each page that was committed since the checkpoint.
    func versions() -> [(id: PageID, version: PageVersion)] {
        pager.state.withLock { _ in
            generation.versions.ids.compactMap { id in
                generation.version(of: id, upTo: commitNumber).map { (id: id, version: $0) }
            }
        }
    }

    /// The pages that map and log name, without the unreadable parts of the map; those that the log
    /// frees; and the ID ranges of unreadable parts.
    func namedPages() -> (
        named: [PageID: SalvagedPages.Source.Content], freed: Set<PageID>,
        unknown: [Range<UInt64>]
    ) {
        var named: [PageID: SalvagedPages.Source.Content] = [:]
        var freed: Set<PageID> = []
        var unknown: [Range<UInt64>] = []
        if generation.map.root.address.isNone, !pager.superblock.mapRoot.isNone {
            unknown.append(0..<Limits.pageCountMax)
        }
        // Each node that cannot be read is passed over. A map of more pages than there can be is
        // not believed.
        var limit = MapLimit(pager.context)
        do throws(StoreError) {
            try pager.walk(
                generation.map,
                { node throws(StoreError) in
                    node.visitPages { id, address in named[id] = .extent(address) }
                    try limit.check(named.count)
                    return true
                }, fails: { node, _ in unknown.append(node.ids) })
        } catch {
            named = [:]
            unknown = [0..<Limits.pageCountMax]
        }
        for (id, version) in versions() {
            switch version.content {
            case .image(let image): named[id] = .image(image)
            case .packed(let packed): named[id] = .packed(packed)
            case .extent(let address): named[id] = .extent(address)
            case .freed:
                named[id] = nil
                freed.insert(id)
            }
        }
        return (named, freed, unknown)
    }

    /// The pages whose version here was made after a commit, and perhaps some more. Map nodes that
    /// are older are not looked below, and of the others' pages the headers alone are read.
    func pagesChanged(since commit: UInt64) throws(StoreError) -> Set<PageID> {
        var found: [(PageID, ExtentAddress)] = []
        try pager.walk(generation.map) { node throws(StoreError) in
            if !node.address.isNone, try isOlder(node.address, than: commit) { return false }
            node.visitPages { found.append(($0, $1)) }
            return true
        }
        var changed: Set<PageID> = []
        for (id, address) in found where try !isOlder(address, than: commit) {
            changed.insert(id)
        }
        for (id, version) in versions() {
            if case .freed = version.content {
                changed.remove(id)
            } else if version.commit > commit {
                changed.insert(id)
            }
        }
        return changed
    }

    /// Whether an extent says that a commit or one before it made it. One whose header cannot be
    /// believed is new.
    private func isOlder(
        _ address: ExtentAddress, than commit: UInt64
    ) throws(StoreError) -> Bool {
        guard let origin = try pager.extents.origin(of: address) else { return false }
        return origin.commit <= commit
    }

    private func readMap() throws(StoreError) -> StoreContent {
        var pages: [PageID] = []
        var places: [StoreContent.Place] = []
        var limit = MapLimit(pager.context)
        try pager.walk(generation.map) { node throws(StoreError) in
            // Of the root alone no node above says where it lies.
            if !node.address.isNone { places.append(place(node.address, nil)) }
            node.visitPages { id, address in
                pages.append(id)
                places.append(place(address, id))
            }
            try limit.check(pages.count)
            return true
        }
        return StoreContent(
            pages: pages, places: places,
            unitSizeInBytes: pager.context.geometry.unitSizeInBytes)
    }

    private func place(_ address: ExtentAddress, _ page: PageID?) -> StoreContent.Place {
        StoreContent.Place(
            unit: address.unit, unitCount: UInt64(address.unitCount), page: page)
    }
}

/// How many pages a map can name: each has an extent of its own.
private struct MapLimit {
    /// Up to here the file is not asked how large it is.
    private static let countMin = 1 << 16

    private let context: StoreContext
    private var countMax = countMin

    init(_ context: StoreContext) { self.context = context }

    mutating func check(_ count: Int) throws(StoreError) {
        guard count > countMax else { return }
        // It grows while a writer is at work.
        countMax = max(Int(clamping: try context.extentCountMax()), Self.countMin)
        guard count <= countMax else {
            throw StoreError.corrupt(nil, "the map names more pages than the file has room for")
                .at(path: context.path)
        }
    }
}

extension MapNode {
    /// The pages that a leaf names; none of a node above.
    fileprivate func visitPages(_ body: (PageID, ExtentAddress) -> Void) {
        guard level == 0 else { return }
        for index in entries.indices where !entries[index].isNone {
            body(PageID(firstID + UInt64(index)), entries[index])
        }
    }
}
