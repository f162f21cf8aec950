/// Looking pages up: versions in memory, then the generation's map, the cache, and the file.
extension Pager {
    private enum Found {
        case image(PageBuffer)
        case packed(PackedImage)
        case address(ExtentAddress)
        case unread(UnreadNode)
        case absent
    }

    /// The page as a commit left it.
    func page(
        _ id: PageID, generation: Generation, commit: UInt64,
        expecting prefetchHint: CellPrefetchHint? = nil
    ) throws(StoreError) -> PageBuffer {
        do throws(StoreError) {
            while true {
                switch try find(id, generation, commit, prefetchHint) {
                case .image(let image): return image
                case .packed(let packed):
                    return try packed.unpacked(id, context.geometry.pageSizeInBytes)
                case .address(let address): return try page(id, at: address)
                case .unread(let node): _ = try child(node, isKept: true)
                case .absent:
                    throw StoreError.corrupt(id, "the page does not exist").at(path: context.path)
                }
            }
        } catch {
            throw explained(error, generation)
        }
    }

    /// One look, without a read.
    @inline(__always)
    private func find(
        _ id: PageID, _ generation: Generation, _ commit: UInt64, _ prefetchHint: CellPrefetchHint?
    ) throws(StoreError) -> Found {
        try state.withLock { state throws(StoreError) in
            try checkNotRevoked(generation)
            if let version = generation.version(of: id, upTo: commit) {
                state.cache.lookupCount &+= 1
                switch version.content {
                case .image(let image): return .image(image)
                case .packed(let packed): return .packed(packed)
                case .extent(let address): return .address(address)
                case .freed: return .absent
                }
            }
            var found = generation.map.knownPlace(of: id)
            if found == nil {
                switch generation.map.descent(to: id) {
                case .leaf(let leaf, _): found = leaf.place(of: id)
                case .unread(let node): return .unread(node)
                case .absent: break
                }
            }
            state.cache.lookupCount &+= 1
            guard let found, !found.address.isNone else { return .absent }
            if let image = state.cache.image(of: id, at: found, in: generation.map, prefetchHint) {
                return .image(image)
            }
            return .address(found.address)
        }
    }

    /// The reason why a page or a node of the map cannot be read: the space of a reader that was
    /// given up may have been used again. A reader of another process is not told, but then the
    /// writer has a newer generation.
    func explained(_ error: StoreError, _ generation: Generation) -> StoreError {
        if error.code == .snapshotTooOld { return error }
        do throws(StoreError) {
            try state.withLock { _ throws(StoreError) in try checkNotRevoked(generation) }
        } catch {
            return error
        }
        guard context.options.mode.isReadOnly, [.corrupt, .truncated].contains(error.code),
            let newest = try? SuperblockChoice.read(context.file, sizeInBytes: .max).newest,
            newest.generation > generation.newestWhenRead,
            // One that needs more than there is was refused before, and is no writer's. The size
            // is asked last: it may have grown.
            let size = try? context.file.size(), newest.requiredLength <= size
        else { return error }
        return StoreError(
            .snapshotTooOld, "a reader's state has been given up: \(error.message)",
            page: error.page, byteOffset: error.byteOffset, path: context.path)
    }

    private func checkNotRevoked(_ generation: Generation) throws(StoreError) {
        guard !generation.isRevoked else {
            throw StoreError(
                .snapshotTooOld, "a reader held its state for longer than the store allows",
                path: context.path)
        }
    }

    /// The page as a commit left it, unless it would have to be read.
    func pageInMemory(_ id: PageID, generation: Generation, commit: UInt64) -> PageBuffer? {
        state.withLock { state -> PageBuffer? in
            guard !generation.isRevoked else { return nil }
            if let version = generation.version(of: id, upTo: commit) {
                guard case .image(let image) = version.content else { return nil }
                state.cache.lookupCount &+= 1
                return image
            }
            guard let place = generation.map.placeInMemory(of: id),
                let image = state.cache.image(of: id, at: place, in: generation.map, nil)
            else { return nil }
            state.cache.lookupCount &+= 1
            return image
        }
    }

    /// Where the image of a page lies; nil when it is not in memory. Counted neither as a lookup
    /// nor as a use.
    func imageAddress(of id: PageID, generation: Generation, commit: UInt64) -> ImageAddress? {
        state.withLock { state in
            if let version = generation.version(of: id, upTo: commit) {
                guard case .image(let image) = version.content else { return nil }
                return ImageAddress(image)
            }
            guard let place = generation.map.placeInMemory(of: id) else { return nil }
            return state.cache.imageAddress(at: place.address, place.hint)
        }
    }

    // MARK: The file

    /// The bytes of the extent that holds a page as a commit left it. Counted neither as a lookup
    /// nor as a use; the size of a page for one that is only in the log.
    func storedSize(
        of id: PageID, generation: Generation, commit: UInt64
    ) throws(StoreError) -> Int {
        let geometry = context.geometry
        while true {
            let found: Found = try state.withLock { _ throws(StoreError) in
                try checkNotRevoked(generation)
                switch generation.version(of: id, upTo: commit)?.content {
                case .image(let image): return .image(image)
                case .packed(let bytes): return .packed(bytes)
                case .extent(let address): return .address(address)
                case .freed: return .absent
                case nil: break
                }
                switch generation.map.descent(to: id) {
                case .leaf(let leaf, _):
                    let address = leaf.place(of: id).address
                    return address.isNone ? .absent : .address(address)
                case .unread(let node): return .unread(node)
                case .absent: return .absent
                }
            }
            switch found {
            case .image, .packed: return geometry.pageSizeInBytes
            case .address(let address):
                return Int(geometry.bytes(ofUnits: UInt64(address.unitCount)))
            case .unread(let node):
                do throws(StoreError) {
                    _ = try child(node, isKept: true)
                } catch {
                    throw explained(error, generation)
                }
            case .absent: throw .corrupt(id, "the page does not exist")
            }
        }
    }

    /// The page that an extent holds, from the cache or the file.
    func page(_ id: PageID, at address: ExtentAddress) throws(StoreError) -> PageBuffer {
        let cached: PageBuffer? = state.withLock { state in
            state.isClosed ? nil : state.cache.image(at: address)
        }
        if let cached, cached.id == id { return cached }
        let image = try extents.readPage(id, at: address)
        let pageSize = context.geometry.pageSizeInBytes
        let readAheadEnd = state.withLock { state in
            state.pagesRead &+= 1
            state.cache.insert(image, at: address)
            return state.readAheadEnd(pageSizeInBytes: pageSize)
        }
        if let readAheadEnd { context.file.willRead(to: readAheadEnd) }
        return image
    }
}

extension PagerState {
    /// More than an opening and a lookup read.
    private static var pagesReadMin: UInt64 { 16 }

    /// Where the file ends, when it fits into the cache and a small part of it was read page by
    /// page; once. The rest will be read too then, and is read faster at once.
    fileprivate mutating func readAheadEnd(pageSizeInBytes: Int) -> UInt64? {
        let end = published.superblock.requiredLength
        guard !didRequestReadAhead, pagesRead >= Self.pagesReadMin,
            end <= UInt64(cache.budgetInBytes),
            pagesRead * UInt64(64 * pageSizeInBytes) >= end
        else { return nil }
        didRequestReadAhead = true
        return end
    }
}

extension PageMap {
    /// The map's entry for a page as far as the map is in memory.
    @inline(__always)
    fileprivate func placeInMemory(of id: PageID) -> MapPlace? {
        if let place = knownPlace(of: id) { return place }
        guard case .leaf(let leaf, _) = descent(to: id) else { return nil }
        return leaf.place(of: id)
    }
}

extension PageCache {
    /// The image that the map names, sought first where the map's leaf says that it was.
    @inline(__always)
    fileprivate mutating func image(
        of id: PageID, at place: MapPlace, in map: PageMap, _ prefetchHint: CellPrefetchHint?
    ) -> PageBuffer? {
        if let image = image(at: place.address, place.hint, prefetchHint) {
            return image.id == id ? image : nil
        }
        guard let image = image(at: place.address) else { return nil }
        if case .leaf(let leaf, let index) = map.descent(to: id) {
            leaf.cacheHints[index] = hint(for: place.address)
        }
        return image.id == id ? image : nil
    }
}
