/// Reads extents from the file and checks their content.
struct ExtentReader: Sendable {
    private let context: StoreContext

    init(_ context: StoreContext) { self.context = context }

    private var geometry: Geometry { context.geometry }

    /// Reads an extent and checks its hash, kind and id.
    func read(
        _ address: ExtentAddress, id: UInt64, kind: ExtentKind
    ) throws(StoreError) -> PageBuffer {
        try readWithHeader(address, id: id, kind: kind).page
    }

    /// The commit that made an extent, whose hash is checked: unlike ``origin(of:)`` at the cost of
    /// reading all of it.
    func checkedCommit(
        of address: ExtentAddress, id: UInt64, kind: ExtentKind
    ) throws(StoreError) -> UInt64 {
        try readWithHeader(address, id: id, kind: kind).commit
    }

    private func readWithHeader(
        _ address: ExtentAddress, id: UInt64, kind: ExtentKind
    ) throws(StoreError) -> (page: PageBuffer, commit: UInt64) {
        let byteOffset = geometry.byteOffset(of: address)
        let page = kind == .page ? PageID(id) : nil
        guard address.unit < UInt64(1) << 46, address.unitCount > 0,
            byteOffset >= 2 * UInt64(Limits.blockSizeInBytes),
            address.unitCount * geometry.unitSizeInBytes
                <= Limits.chunkSizeInBytesMax + ExtentLayout.size + geometry.unitSizeInBytes
        else {
            throw StoreError.corrupt(page, "an entry names an impossible place")
                .at(path: context.path)
        }
        let buffer = ReadBuffer(count: address.unitCount * geometry.unitSizeInBytes)
        let count: Int
        do throws(StoreError) {
            count = try context.file.read(into: buffer, at: byteOffset)
        } catch {
            var located = error
            located.page = page?.rawValue
            throw located.at(path: context.path)
        }
        guard count == buffer.count else {
            throw StoreError(
                .truncated, "the file ends inside an extent", page: page?.rawValue,
                byteOffset: byteOffset + UInt64(count), path: context.path)
        }
        do throws(StoreError) {
            let page = try ExtentCodec.decode(
                buffer.view, address: address, id: id, kind: kind,
                unitSizeInBytes: geometry.unitSizeInBytes, uuid: context.uuid)
            return (page, buffer.view.uint64(at: ExtentLayout.commit))
        } catch {
            throw error.at(path: context.path)
        }
    }

    /// Reads a logical page and checks its structure.
    func readPage(_ id: PageID, at address: ExtentAddress) throws(StoreError) -> PageBuffer {
        let image = try read(address, id: id.rawValue, kind: .page)
        // All pages but chunks have the store's page size.
        guard
            image.count == geometry.pageSizeInBytes || image[0] == PageKind.blobChunk.rawValue
        else { throw StoreError.corrupt(id, "a page has another size").at(path: context.path) }
        do throws(StoreError) {
            try PageCheck.validate(image)
        } catch {
            var located = error
            located.byteOffset = geometry.byteOffset(of: address)
            throw located.at(path: context.path)
        }
        return image
    }

    func readMapNode(
        _ address: ExtentAddress, level: Int, firstID: UInt64
    ) throws(StoreError) -> MapNode {
        let image = try read(
            address, id: MapNode.storedID(level: level, firstID: firstID), kind: .map)
        guard image.count == geometry.pageSizeInBytes else {
            throw StoreError.corrupt(
                nil, "a map page has another size", byteOffset: geometry.byteOffset(of: address)
            ).at(path: context.path)
        }
        let node = MapNode(level: level, firstID: firstID, fanout: geometry.mapFanout)
        node.address = address
        for index in 0..<geometry.mapFanout {
            let address = ExtentAddress(image.view, at: index * ExtentAddress.size)
            // A file may have many nodes of few entries, and the node begins without any.
            if !address.isNone { node.entries[index] = address }
        }
        // Zero names no page, whatever the file says.
        if level == 0, firstID == 0 { node.entries[0] = .none }
        return node
    }

    /// The map that a superblock leads to, of which the root alone is read.
    func readMap(_ superblock: Superblock) throws(StoreError) -> PageMap {
        let empty = PageMap(pageSizeInBytes: geometry.pageSizeInBytes)
        guard !superblock.mapRoot.isNone else { return empty }
        let root = try readMapNode(
            superblock.mapRoot, level: superblock.mapDepth - 1, firstID: 0)
        return PageMap(root: root, fanout: empty.fanout)
    }

    /// The generation and commit that an extent's header says made it; nil when the header is not
    /// the one that the address names, and tells nothing. Neither is checked: the hash is that of
    /// the whole extent.
    func origin(
        of address: ExtentAddress
    ) throws(StoreError) -> (generation: UInt64, commit: UInt64)? {
        let buffer = ReadBuffer(count: ExtentLayout.size)
        let byteOffset = geometry.byteOffset(of: address)
        guard try context.file.read(into: buffer, at: byteOffset) == buffer.count,
            buffer.view.uint64(at: ExtentLayout.hash) == address.hash
        else { return nil }
        return (
            buffer.view.uint64(at: ExtentLayout.generation),
            buffer.view.uint64(at: ExtentLayout.commit)
        )
    }
}
