extension Snapshot {
    /// The pages of this commit, and the extents that its map and its log name.
    func content() throws(StoreError) -> StoreContent {
        try engine.lock.withLock { _ throws(StoreError) in
            var content = try readMap()
            var pages = Set(content.pages)
            for id in generation.versions.keys {
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

    /// Under the lock.
    private func readMap() throws(StoreError) -> StoreContent {
        var pages: [PageID] = []
        var places: [StoreContent.Place] = []
        var open = [generation.map.root]
        if !open[0].address.isNone { places.append(place(open[0].address, nil)) }
        while let node = open.popLast() {
            for (index, address) in node.entries.enumerated() {
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

    private func child(
        of node: MapNode, at index: Int, _ address: ExtentAddress
    ) throws(StoreError) -> MapNode? {
        if let child = node.children[index] { return child }
        guard !address.isNone else { return nil }
        let span = PageMap.span(level: node.level, fanout: node.entries.count)
        return try engine.loadMapNode(
            address, level: node.level - 1, firstID: node.firstID + UInt64(index) * span)
    }
}
