/// Looking pages up: versions in memory, then the generation's map, then the file.
extension Engine {
    private enum Found {
        case image(PageBuffer)
        case address(ExtentAddress)
        case nothing
    }

    /// The page as a commit left it.
    func page(
        _ id: PageID, generation: Generation, commit: UInt64,
        expecting forecast: EntryForecast? = nil
    ) throws(StoreError) -> PageBuffer {
        do throws(StoreError) {
            return try knownPage(id, generation: generation, commit: commit, forecast)
        } catch {
            throw explained(error, generation)
        }
    }

    /// What a reader of another process cannot read may be gone rather than damaged: then the
    /// writer's generation is another one.
    private func explained(_ error: StoreError, _ generation: Generation) -> StoreError {
        guard options.isReadOnly, [.corrupt, .truncated].contains(error.code),
            let newest = try? SuperblockChoice.read(file, sizeInBytes: .max).newest,
            newest.generation > generation.newestWhenRead,
            // One that needs more than there is was refused before, and is no writer's. The size
            // is asked last: it may have grown.
            let size = try? file.size(), newest.requiredLength <= size
        else { return error }
        return StoreError(
            .snapshotTooOld, "a reader's state has been given up: \(error.message)",
            page: error.page, byteOffset: error.byteOffset, path: path)
    }

    private func knownPage(
        _ id: PageID, generation: Generation, commit: UInt64, _ forecast: EntryForecast?
    ) throws(StoreError) -> PageBuffer {
        let found: Found = try lock.withLock { cache throws(StoreError) in
            cache.lookupCount &+= 1
            try checkNotRevoked(generation)
            if let version = generation.version(of: id, upTo: commit) {
                switch version.content {
                case .image(let image): return .image(image)
                case .extent(let address): return .address(address)
                case .freed: return .nothing
                }
            }
            guard let place = try place(of: id, in: generation.map) else { return .nothing }
            if place.address.isNone { return .nothing }
            if let image = cachedImage(of: id, at: place, generation, &cache, forecast) {
                return .image(image)
            }
            return .address(place.address)
        }
        switch found {
        case .image(let image): return image
        case .address(let address):
            do throws(StoreError) {
                return try page(id, at: address)
            } catch {
                // Its space may have been used again meanwhile.
                try lock.withLock { _ throws(StoreError) in try checkNotRevoked(generation) }
                throw error
            }
        case .nothing: throw StoreError.corrupt(id, "the page does not exist").at(path: path)
        }
    }

    /// The page as a commit left it, unless it would have to be read.
    func pageInMemory(_ id: PageID, generation: Generation, commit: UInt64) -> PageBuffer? {
        lock.withLock { cache -> PageBuffer? in
            guard !generation.isRevoked else { return nil }
            if let version = generation.version(of: id, upTo: commit) {
                guard case .image(let image) = version.content else { return nil }
                cache.lookupCount &+= 1
                return image
            }
            guard let place = try? place(of: id, in: generation.map),
                let image = cachedImage(of: id, at: place, generation, &cache, nil)
            else { return nil }
            cache.lookupCount &+= 1
            return image
        }
    }

    /// Where the image of a page lies; nil when it is not in memory. Counted neither as a lookup
    /// nor as a use.
    func imageAddress(of id: PageID, generation: Generation, commit: UInt64) -> ImageAddress? {
        lock.withLock { cache in
            if let version = generation.version(of: id, upTo: commit) {
                guard case .image(let image) = version.content else { return nil }
                return ImageAddress(image)
            }
            guard let place = try? place(of: id, in: generation.map) else { return nil }
            return cache.imageAddress(at: place.address, place.hint)
        }
    }

    /// Under the lock: what the map says of a page; nil when it has no such page.
    @inline(__always)
    private func place(
        of id: PageID, in map: PageMap
    ) throws(StoreError) -> MapPlace? {
        if let place = map.knownPlace(of: id) { return place }
        return try entry(of: id, in: map).map { $0.leaf.place(of: id) }
    }

    /// Under the lock: the leaf of the map that has the address of a page, and which of its entries
    /// that is; nil when the map has no such page. Nodes that are not in memory yet are read.
    ///
    /// Not of the map, which would take what reads a node: that retains the engine, which is slow
    /// for an object with weak references.
    private func entry(
        of id: PageID, in map: PageMap
    ) throws(StoreError) -> (leaf: MapNode, index: Int)? {
        if PageMap.span(level: map.depth, fanout: map.fanout) <= id.rawValue { return nil }
        var node = map.root
        while true {
            // Most lookups end here, and need no division.
            if node.level == 0 { return (node, Int(id.rawValue - node.firstID)) }
            let span = PageMap.span(level: node.level, fanout: map.fanout)
            let index = Int((id.rawValue - node.firstID) / span)
            if let child = node.children[index] {
                node = child
                continue
            }
            guard !node.entries[index].isNone else { return nil }
            let child = try loadMapNode(
                node.entries[index], level: node.level - 1,
                firstID: node.firstID + UInt64(index) * span)
            node.children[index] = child
            node = child
        }
    }

    /// Under the lock: the cache's image, sought first where the map's leaf says that it was.
    @inline(__always)
    private func cachedImage(
        of id: PageID, at place: MapPlace, _ generation: Generation,
        _ cache: inout PageCache, _ forecast: EntryForecast?
    ) -> PageBuffer? {
        if let image = cache.image(at: place.address, place.hint, forecast) {
            return image.id == id ? image : nil
        }
        guard let image = cache.image(at: place.address) else { return nil }
        if let (leaf, index) = try? entry(of: id, in: generation.map) {
            leaf.cacheHints[index] = cache.hint(for: place.address)
        }
        return image.id == id ? image : nil
    }

    private func checkNotRevoked(_ generation: Generation) throws(StoreError) {
        guard !generation.isRevoked else {
            throw StoreError(
                .snapshotTooOld, "a reader held its state for longer than the store allows",
                path: path)
        }
    }

    /// The page that an extent holds, from the cache or the file.
    func page(_ id: PageID, at address: ExtentAddress) throws(StoreError) -> PageBuffer {
        let cached: PageBuffer? = lock.withLock { cache in
            guard !state.isClosed else { return nil }
            return cache.image(at: address)
        }
        if let cached, cached.id == id { return cached }
        let image = try readExtent(address, id: id.rawValue, kind: .page)
        try checkImageSize(image)
        do throws(StoreError) {
            try PageCheck.validate(image)
        } catch {
            var located = error
            located.byteOffset = address.unit * UInt64(options.unitSizeInBytes)
            throw located.at(path: path)
        }
        let restEnd = lock.withLock { cache in
            state.pagesRead &+= 1
            cache.insert(image, at: address)
            return endOfRest(cache)
        }
        if let restEnd { file.willRead(to: restEnd) }
        return image
    }

    /// More than an opening and a lookup read.
    private static var pagesReadMin: UInt64 { 16 }

    /// Under the lock, once: where the file ends, when it fits into the cache and a small part of
    /// it was read page by page. The rest will be read too then, and is read faster at once.
    private func endOfRest(_ cache: PageCache) -> UInt64? {
        let end = state.superblock.requiredLength
        guard !state.isRestAskedFor, state.pagesRead >= Engine.pagesReadMin,
            end <= UInt64(cache.budgetInBytes),
            state.pagesRead * UInt64(64 * options.pageSizeInBytes) >= end
        else { return nil }
        state.isRestAskedFor = true
        return end
    }

    /// All pages but chunks have the store's page size.
    private func checkImageSize(_ image: PageBuffer) throws(StoreError) {
        guard image.count == options.pageSizeInBytes || image[0] == PageKind.blobChunk.rawValue
        else { throw StoreError.corrupt(image.id, "a page has another size").at(path: path) }
    }

    /// Reads an extent and checks its hash, kind and name.
    func readExtent(
        _ address: ExtentAddress, id: UInt64, kind: ExtentKind
    ) throws(StoreError) -> PageBuffer {
        let unitSize = UInt64(options.unitSizeInBytes)
        let place = address.unit * unitSize
        let page = kind == .page ? PageID(id) : nil
        guard address.unit < UInt64(1) << 46, address.unitCount > 0,
            address.unitCount * options.unitSizeInBytes
                <= Limits.chunkSizeInBytesMax + ExtentLayout.size + options.unitSizeInBytes
        else {
            throw StoreError.corrupt(page, "an entry names an impossible place").at(path: path)
        }
        let buffer = ReadBuffer(count: address.unitCount * options.unitSizeInBytes)
        let count: Int
        do throws(StoreError) {
            count = try file.read(into: buffer, at: place)
        } catch {
            var located = error
            located.page = page?.rawValue
            throw located.at(path: path)
        }
        guard count == buffer.count else {
            throw StoreError(
                .truncated, "the file ends inside an extent", page: page?.rawValue,
                byteOffset: place + UInt64(count), path: path)
        }
        do throws(StoreError) {
            return try ExtentCodec.decode(
                buffer.view, address: address, id: id, kind: kind,
                unitSizeInBytes: options.unitSizeInBytes, uuid: uuid)
        } catch {
            throw error.at(path: path)
        }
    }

    func loadMapNode(
        _ address: ExtentAddress, level: Int, firstID: UInt64
    ) throws(StoreError) -> MapNode {
        let image = try readExtent(
            address, id: MapNode.storedID(level: level, firstID: firstID), kind: .map)
        let fanout = options.pageSizeInBytes / ExtentAddress.size
        guard image.count == options.pageSizeInBytes else {
            throw StoreError.corrupt(
                nil, "a map page has another size",
                byteOffset: address.unit * UInt64(options.unitSizeInBytes)
            ).at(path: path)
        }
        let node = MapNode(level: level, firstID: firstID, fanout: fanout)
        node.address = address
        for index in 0..<fanout {
            node.entries[index] = ExtentAddress(image.view, at: index * ExtentAddress.size)
        }
        return node
    }

    // MARK: Page names

    func takePageID() throws(StoreError) -> PageID {
        if let id = writer.freeNames.take() { return id }
        guard writer.nextPageID < Limits.pageCountMax else {
            throw StoreError(.tooLarge, "the store has as many pages as it can have", path: path)
        }
        defer { writer.nextPageID += 1 }
        return PageID(writer.nextPageID)
    }

    func returnPageID(_ id: PageID) { writer.freeNames.insert(id) }

    // MARK: Out-of-line extents

    var newestGeneration: UInt64 { lock.withLock { _ in state.generation.number } }

    func writeOutOfLine(
        _ bytes: ByteView, id: PageID, commit: UInt64
    ) throws(StoreError) -> ExtentAddress {
        var output = ExtentWriter(engine: self, isRecent: true)
        do throws(StoreError) {
            let address = try output.append(
                bytes, id: id.rawValue, kind: .page, generation: newestGeneration,
                commit: commit)
            try output.flush()
            return address
        } catch {
            output.abandon()
            throw failedBeforeCommit(error)
        }
    }

    /// Writes pages of a transaction that memory has no room for; the cache keeps those that the
    /// transaction may read again soon.
    func writeOutOfLine(
        _ images: [PageBuffer], commit: UInt64, isKept: Bool = true
    ) throws(StoreError) -> [(PageID, ExtentAddress)] {
        var output = ExtentWriter(engine: self, isRecent: true)
        do throws(StoreError) {
            var addresses: [(PageID, ExtentAddress)] = []
            for image in images {
                let address = try output.append(
                    image.view, id: image.id.rawValue, kind: .page,
                    generation: newestGeneration, commit: commit)
                addresses.append((image.id, address))
            }
            try output.flush()
            guard isKept else { return addresses }
            lock.withLock { cache in
                for (image, (_, address)) in zip(images, addresses) {
                    cache.insert(image, at: address)
                }
            }
            return addresses
        } catch {
            output.abandon()
            throw failedBeforeCommit(error)
        }
    }

    /// Gives an extent back that no commit names.
    func abandon(_ address: ExtentAddress) { space.withLock { $0.free(address) } }

    /// Lack of space before a frame is written fails the transaction alone; anything else poisons.
    func failedBeforeCommit(_ error: StoreError) -> StoreError {
        let located = error.at(path: path)
        if error.code != .diskFull { poison(located) }
        return located
    }
}
