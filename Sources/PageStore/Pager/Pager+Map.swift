/// The one place that steps down the page map: from a node to its children, which are read when
/// they are not in memory.
extension Pager {
    /// A child of a node; nil where there is none.
    ///
    /// - Parameter isKept: whether a child that is read stays in memory below its node.
    func child(of node: MapNode, at index: Int, isKept: Bool) throws(StoreError) -> MapNode? {
        if let child = state.withLock({ _ in node.children[index] }) { return child }
        guard let unread = UnreadNode(below: node, at: index) else { return nil }
        return try child(unread, isKept: isKept)
    }

    /// Reads a node, without the lock; another thread may have read it meanwhile.
    func child(_ unread: UnreadNode, isKept: Bool) throws(StoreError) -> MapNode {
        guard !unread.ids.isEmpty else {
            throw .corrupt(nil, "the map has a node for more pages than there can be")
        }
        let read = try extents.readMapNode(
            unread.address, level: unread.level, firstID: unread.ids.lowerBound)
        guard isKept else { return read }
        return state.withLock { _ in
            if let known = unread.parent.children[unread.index] { return known }
            unread.parent.children[unread.index] = read
            return read
        }
    }

    /// Visits the nodes of a map from the root on, each before those below it.
    ///
    /// - Parameters:
    ///   - visit: returns whether the nodes below are to be visited too.
    ///   - fails: what to do about a node that cannot be read; throws on, or passes over it.
    func walk(
        _ map: PageMap, _ visit: (MapNode) throws(StoreError) -> Bool,
        fails: (UnreadNode, StoreError) throws(StoreError) -> Void = {
            _, error throws(StoreError) in throw error
        }
    ) throws(StoreError) {
        var open = [map.root]
        while let node = open.popLast() {
            guard try visit(node), node.level > 0 else { continue }
            for index in node.entries.indices {
                do throws(StoreError) {
                    if let child = try child(of: node, at: index, isKept: false) {
                        open.append(child)
                    }
                } catch {
                    guard let unread = UnreadNode(below: node, at: index) else { throw error }
                    try fails(unread, error)
                }
            }
        }
    }

    /// The map of the next generation: see ``PageMap/replacing(_:child:copy:dropped:)``.
    func replacing(
        _ changes: [(id: PageID, address: ExtentAddress)], in map: PageMap,
        dropped: inout [ExtentAddress]
    ) throws(StoreError) -> PageMap {
        try map.replacing(
            changes,
            child: { node, index throws(StoreError) in
                try child(of: node, at: index, isKept: true)
            },
            copy: { node in state.withLock { _ in MapNode(copying: node) } }, dropped: &dropped)
    }
}
