extension Snapshot {
    /// The pages of this commit, and the extents that its map and its log name.
    func content() throws(StoreError) -> StoreContent {
        var content = try readMap()
        var pages = Set(content.pages)
        for (id, version) in versions() {
            if case .freed = version.content { pages.remove(id) } else { pages.insert(id) }
        }
        content.pages = pages.sorted()
        addLoggedPlaces(&content.places)
        return content
    }

    /// The extents that the map and the log of this commit name, in no order.
    func places() throws(StoreError) -> [StoreContent.Place] {
        var places = try readMap().places
        addLoggedPlaces(&places)
        return places
    }

    private func addLoggedPlaces(_ places: inout [StoreContent.Place]) {
        for (id, version) in versions() {
            if case .extent(let address) = version.content {
                places.append(StoreContent.Place(address, .page(id)))
            }
        }
        places.removeAll { $0.unitCount == 0 }
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
    /// are older are not looked below. A page counts as older only where its hash holds, so that
    /// each such page of the other nodes is read.
    func pagesChanged(since commit: UInt64) throws(StoreError) -> Set<PageID> {
        try explaining([generation]) { () throws(StoreError) in
            try pagesMade(after: commit)
        }
    }

    private func pagesMade(after commit: UInt64) throws(StoreError) -> Set<PageID> {
        var found: [(id: PageID, address: ExtentAddress)] = []
        var limit = MapLimit(pager.context)
        try pager.walk(generation.map) { node throws(StoreError) in
            if !node.address.isNone,
                try isMade(node.address, node.storedID, .map, upTo: commit)
            {
                return false
            }
            node.visitPages { found.append(($0, $1)) }
            try limit.check(found.count)
            return true
        }
        var changed: Set<PageID> = []
        for (id, address) in found
        where try !isMade(address, id.rawValue, .page, upTo: commit) {
            changed.insert(id)
        }
        noteVersions(since: commit, in: &changed)
        return changed
    }

    /// The pages that an earlier snapshot of the store does not have alike, and perhaps some more.
    /// Costs a comparison of the map nodes that the two do not share, and reading pages that lie
    /// elsewhere: the headers alone of those of which the earlier log knows the commit.
    func pagesChanged(since earlier: Snapshot) throws(StoreError) -> Set<PageID> {
        var changed: Set<PageID> = []
        var limit = MapLimit(pager.context)
        var count = 0
        try explaining([generation, earlier.generation]) { () throws(StoreError) in
            try visitDifferences(
                of: generation.map.root, from: earlier.generation.map.root
            ) { id, address throws(StoreError) in
                count += 1
                try limit.check(count)
                if try !earlier.hasMade(id, address) { changed.insert(id) }
            }
        }
        noteVersions(since: earlier.commitNumber, in: &changed)
        return changed
    }

    /// Calls the body for the pages of a node that another node of its level, or one below it, does
    /// not have in the same place.
    private func visitDifferences(
        of node: MapNode, from earlier: MapNode?,
        _ body: (PageID, ExtentAddress) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard node !== earlier else { return }
        for index in node.entries.indices where !node.entries[index].isNone {
            let address = node.entries[index]
            let isLevel = earlier?.level == node.level
            if isLevel, earlier?.entries[index] == address { continue }
            guard node.level > 0 else {
                try body(PageID(node.firstID + UInt64(index)), address)
                continue
            }
            guard let child = try pager.child(of: node, at: index, isKept: false) else { continue }
            var other: MapNode?
            if let earlier, isLevel {
                other = try pager.child(of: earlier, at: index, isKept: false)
            } else if index == 0 {
                // The map had fewer levels.
                other = earlier
            }
            try visitDifferences(of: child, from: other, body)
        }
    }

    /// Whether a page that lies in a place of a later map was made by this commit or one before it.
    private func hasMade(_ id: PageID, _ address: ExtentAddress) throws(StoreError) -> Bool {
        guard let origin = try pager.extents.origin(of: address), origin.commit <= commitNumber
        else { return false }
        // A checkpoint has moved it from the log. That header and log agree by chance is out of the
        // question; without the log the header is not enough.
        let known = pager.state.withLock { _ in
            generation.version(of: id, upTo: commitNumber)?.commit
        }
        if known == origin.commit { return true }
        return try pager.extents.checkedCommit(of: address, id: id.rawValue, kind: .page)
            <= commitNumber
    }

    private func noteVersions(since commit: UInt64, in changed: inout Set<PageID>) {
        for (id, version) in versions() {
            if case .freed = version.content {
                changed.remove(id)
            } else if version.commit > commit {
                changed.insert(id)
            }
        }
    }

    /// Whether a commit or one before it made an extent. The hash is checked where the header says
    /// so: an older extent is passed over, and nothing else would find it damaged.
    private func isMade(
        _ address: ExtentAddress, _ id: UInt64, _ kind: ExtentKind, upTo commit: UInt64
    ) throws(StoreError) -> Bool {
        guard let origin = try pager.extents.origin(of: address), origin.commit <= commit else {
            return false
        }
        return try pager.extents.checkedCommit(of: address, id: id, kind: kind) <= commit
    }

    private func readMap() throws(StoreError) -> StoreContent {
        var pages: [PageID] = []
        var places: [StoreContent.Place] = []
        // The nodes on the way to the next leaf, whose pages are below all of them.
        var nodes: [(address: ExtentAddress, storedID: UInt64)] = []
        var limit = MapLimit(pager.context)
        try explaining([generation]) { () throws(StoreError) in
            try pager.walk(generation.map) { node throws(StoreError) in
                // Of the root alone no node above says where it lies.
                if !node.address.isNone { nodes.append((node.address, node.storedID)) }
                guard node.level == 0 else { return true }
                var first: (page: PageID, address: ExtentAddress)?
                node.visitPages { id, address in
                    pages.append(id)
                    places.append(StoreContent.Place(address, .page(id)))
                    if first == nil { first = (id, address) }
                }
                try limit.check(pages.count)
                for (address, id) in nodes {
                    places.append(StoreContent.Place(address, .node(id, above: first)))
                }
                nodes = []
                return true
            }
        }
        // Of a map that someone else wrote: nodes without a leaf.
        places += nodes.map { StoreContent.Place($0.address, .node($0.storedID, above: nil)) }
        return StoreContent(
            pages: pages, places: places,
            unitSizeInBytes: pager.context.geometry.unitSizeInBytes)
    }

    /// Reads maps; says of a node that cannot be read whether its reader was given up.
    private func explaining<Result>(
        _ generations: [Generation], _ read: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try read()
        } catch {
            throw generations.reduce(error) { pager.explained($0, $1) }
        }
    }
}

extension StoreContent.Place {
    init(_ address: ExtentAddress, _ holder: StoreContent.Holder) {
        self.init(unit: address.unit, unitCount: UInt64(address.unitCount), holder: holder)
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
