extension Snapshot {
    /// The pages of this commit, and the extents that its map and its log name.
    func content() throws(StoreError) -> StoreContent {
        try engine.lock.withLock { _ throws(StoreError) in
            var content = try readMap()
            var pages = Set(content.pages)
            for id in generation.versions.ids {
                switch generation.version(of: id, upTo: commitNumber)?.content {
                case .image: pages.insert(id)
                case .extent(let address):
                    pages.insert(id)
                    content.places.append(place(address, id))
                case .freed: pages.remove(id)
                case nil: break
                }
            }
            content.pages = pages.sorted()
            content.places.removeAll { $0.unitCount == 0 }
            return content
        }
    }

    /// The pages of the checkpoint that this commit builds on, and where they and their map lie.
    func mapContent() throws(StoreError) -> StoreContent {
        try engine.lock.withLock { _ throws(StoreError) in
            var content = try readMap()
            content.pages.sort()
            return content
        }
    }

    /// The pages that map and log name, past what of the map cannot be read; those that the log
    /// frees; and the ids of which the rest says nothing.
    func namedPages() -> (
        named: [PageID: SalvagedPages.Source.Content], freed: Set<PageID>,
        unknown: [Range<UInt64>]
    ) {
        engine.lock.withLock { _ in
            var named: [PageID: SalvagedPages.Source.Content] = [:]
            var freed: Set<PageID> = []
            var unknown: [Range<UInt64>] = []
            let root = generation.map.root
            if root.address.isNone, !engine.state.superblock.mapRoot.isNone {
                unknown.append(0..<Limits.pageCountMax)
            }
            var open = [root]
            while let node = open.popLast() {
                let span = PageMap.span(level: node.level, fanout: node.entries.count)
                for index in node.entries.indices where !node.entries[index].isNone {
                    let address = node.entries[index]
                    let first = node.firstID + UInt64(index) * span
                    if node.level == 0 {
                        named[PageID(first)] = .extent(address)
                    } else if let child = try? child(of: node, at: index, address) {
                        open.append(child)
                    } else {
                        unknown.append(first..<(first + span))
                    }
                }
            }
            for id in generation.versions.ids {
                switch generation.version(of: id, upTo: commitNumber)?.content {
                case .image(let image): named[id] = .image(image)
                case .extent(let address): named[id] = .extent(address)
                case .freed:
                    named[id] = nil
                    freed.insert(id)
                case nil: break
                }
            }
            return (named, freed, unknown)
        }
    }

    /// Under the lock.
    private func readMap() throws(StoreError) -> StoreContent {
        var pages: [PageID] = []
        var places: [StoreContent.Place] = []
        var open = [generation.map.root]
        if !open[0].address.isNone { places.append(place(open[0].address, nil)) }
        while let node = open.popLast() {
            for index in node.entries.indices {
                let address = node.entries[index]
                if node.level == 0 {
                    guard !address.isNone else { continue }
                    pages.append(PageID(node.firstID + UInt64(index)))
                    places.append(place(address, PageID(node.firstID + UInt64(index))))
                } else if let child = try child(of: node, at: index, address) {
                    places.append(place(address, nil))
                    open.append(child)
                }
            }
        }
        return StoreContent(
            pages: pages, places: places, unitSizeInBytes: engine.options.unitSizeInBytes)
    }

    private func place(_ address: ExtentAddress, _ page: PageID?) -> StoreContent.Place {
        StoreContent.Place(
            unit: address.unit, unitCount: UInt64(address.unitCount), page: page)
    }

    func child(
        of node: MapNode, at index: Int, _ address: ExtentAddress
    ) throws(StoreError) -> MapNode? {
        if let child = node.children[index] { return child }
        guard !address.isNone else { return nil }
        let span = PageMap.span(level: node.level, fanout: node.entries.count)
        return try engine.loadMapNode(
            address, level: node.level - 1, firstID: node.firstID + UInt64(index) * span)
    }
}
