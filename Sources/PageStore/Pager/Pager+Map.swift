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
        let sizeInBytesMax = max(context.options.cacheSizeInBytes, Self.nodeBytesMin)
        return state.withLock { state in
            if let known = unread.parent.children[unread.index] { return known }
            // A file of a few megabytes can have gigabytes of nodes. The way down that is being
            // read is far shorter than the limit.
            state.nodeBytes += read.sizeInBytes
            if state.nodeBytes > sizeInBytesMax {
                state.published.generation.map.dropChildren()
                state.nodeBytes = read.sizeInBytes
            }
            unread.parent.children[unread.index] = read
            return read
        }
    }

    /// The memory that nodes of the map may always use.
    private static let nodeBytesMin = 32 << 20

    /// Visits the nodes of a map from the root on, each before those below it. One way down is in
    /// memory at a time: nodes compress well where few of their entries are set.
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
        var open: [(node: MapNode, next: Int)] = []
        if try visit(map.root) { open.append((map.root, 0)) }
        while let (node, next) = open.popLast() {
            let rest = next..<node.entries.count
            guard node.level > 0, let index = rest.first(where: { !node.entries[$0].isNone })
            else { continue }
            open.append((node, index + 1))
            var found: MapNode?
            do throws(StoreError) {
                found = try child(of: node, at: index, isKept: false)
            } catch {
                guard let unread = UnreadNode(below: node, at: index) else { throw error }
                try fails(unread, error)
            }
            if let child = found, try visit(child) { open.append((child, 0)) }
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
