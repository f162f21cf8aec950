extension Snapshot {
    /// The pages of this commit, and the extents that its map names.
    func content() throws(StoreError) -> StoreContent {
        try engine.lock.withLock { _ throws(StoreError) in
            var pages: Set<PageID> = []
            var places: [StoreContent.Place] = []
            var open = [generation.map.root]
            while let node = open.popLast() {
                for (index, address) in node.entries.enumerated() {
                    if node.level == 0 {
                        guard !address.isNone else { continue }
                        pages.insert(PageID(node.firstID + UInt64(index)))
                        places.append(place(address, PageID(node.firstID + UInt64(index))))
                    } else if let child = try child(of: node, at: index, address) {
                        places.append(place(address, nil))
                        open.append(child)
                    }
                }
            }
            for id in generation.versions.keys {
                switch generation.version(of: id, upTo: commitNumber)?.content {
                case .image: pages.insert(id)
                case .extent(let address):
                    pages.insert(id)
                    places.append(place(address, id))
                case .freed: pages.remove(id)
                case nil: break
                }
            }
            return StoreContent(
                pages: pages.sorted(), places: places.filter { $0.unitCount > 0 },
                unitSizeInBytes: engine.options.unitSizeInBytes)
        }
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
