/// Writing pages, the map above them, and the space that is freed with the old ones.
extension Checkpointer {
    /// Stores each page that changed since the last checkpoint and the map above them.
    func storePages(
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
                    commit: version.commit, below: plan.moves.pages[id])
                changes.append((id: id, address: address))
                images.append((image: image, address: address))
            case .packed(let packed):
                // There are too many of them for the cache.
                let image = try packed.unpacked(id, context.geometry.pageSizeInBytes)
                defer { withExtendedLifetime(image) {} }
                let address = try output.append(
                    image.view, id: id.rawValue, kind: .page, generation: plan.number,
                    commit: version.commit)
                changes.append((id: id, address: address))
            case .extent(let address):
                changes.append((id: id, address: address))
            case .freed:
                changes.append((id: id, address: .none))
            }
        }
        // Vacuum stores pages in an order of its own.
        changes.sort { $0.id < $1.id }
        var dropped = plan.replacedExtents
        let map = try pager.replacing(changes, in: plan.base.map, dropped: &dropped)
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
            let page = PageBuffer(id: PageID(0), count: context.geometry.pageSizeInBytes)
            for index in node.entries.indices {
                node.entries[index].store(in: page, at: index * ExtentAddress.size)
            }
            node.address = try output.append(
                page.view, id: node.storedID, kind: .map, generation: plan.number,
                commit: plan.commitNumber, below: plan.moves.nodes[node.storedID])
        }
    }

    /// Replaced extents and the old log, each with the generations whose readers can need it.
    func dyingSpace(
        _ dropped: [ExtentAddress], _ plan: CheckpointPlan
    ) throws(StoreError) -> [PendingSpace] {
        var dying = try dyingExtents(dropped, plan)
        for segment in plan.oldSegments {
            let units = context.geometry.units(
                from: segment.byteOffset, count: segment.sizeInBytes)
            dying.append(
                PendingSpace(
                    unit: units.lowerBound, unitCount: UInt64(units.count), born: segment.born,
                    died: plan.number))
        }
        return dying
    }

    /// Extents that the checkpoint's own generation does not need any more.
    func dyingExtents(
        _ dropped: [ExtentAddress], _ plan: CheckpointPlan
    ) throws(StoreError) -> [PendingSpace] {
        let newest = plan.base.number
        let oldest = pager.heldGenerations().map(\.lowerBound).min() ?? newest
        // Until the superblock is written a reader may still come to the generation in the other
        // one, and to no earlier one.
        let previous = min(newest, pager.withPublished { $0.previousGeneration })
        var dying: [PendingSpace] = []
        for address in dropped {
            // Without a reader of an older generation only these two can need the extent; else its
            // own header says since when it has been there, or every reader counts.
            let born = oldest < newest ? try birth(of: address) : previous
            dying.append(PendingSpace(address, born: born, died: plan.number))
        }
        return dying
    }

    private func birth(of address: ExtentAddress) throws(StoreError) -> UInt64 {
        try pager.extents.origin(of: address)?.generation ?? 0
    }

    /// Rests after some work for as long as the work took: commits that go on beside it find the
    /// disk free half of the time. Not when they would soon have to wait for it.
    private func rest(_ pace: inout CheckpointPace) {
        guard let worked = pace.workedSinceRest() else { return }
        let hardLimit = context.options.logBytesMax * UInt64(context.options.hardLimitFactor)
        let isUrgent = state.withLock { $0.isAwaited } || log.byteCount >= hardLimit / 2
        if !isUrgent { pace.rest(for: worked) }
    }
}
