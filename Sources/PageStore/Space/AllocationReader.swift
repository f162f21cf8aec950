import Primitives

/// Reads the allocation state that a superblock names.
///
/// A part of it at a time, for a few blocks that compress well can hold gigabytes: no more is kept
/// than a file of this size can need.
struct AllocationReader {
    private let context: StoreContext
    private let extents: ExtentReader

    init(_ context: StoreContext) {
        self.context = context
        extents = ExtentReader(context)
    }

    func read(_ superblock: Superblock) throws(StoreError) -> LoadedSpace {
        do throws(StoreError) {
            let geometry = Geometry(superblock)
            var stream = AllocationStream(extents, superblock.allocationRoot, geometry)
            let header = try AllocationCodec.decode(
                &stream, of: superblock, extentCountMax: context.extentCountMax())
            // Zeros follow. The blocks that hold them are taken too.
            try stream.skipToEnd()
            let map = try map(header, superblock, geometry)
            return LoadedSpace(map: map, blocks: stream.blocks, freeIDs: header.freeIDs)
        } catch {
            throw error.at(path: context.path)
        }
    }

    private func map(
        _ header: AllocationCodec.Header, _ superblock: Superblock, _ geometry: Geometry
    ) throws(StoreError) -> SpaceMap {
        var map = SpaceMap(pageSizeInBytes: geometry.pageSizeInBytes)
        let partCountMax = try partCountMax(geometry)
        for (zone, address) in header.zones.enumerated() {
            map.zoneAddresses.append(address)
            let firstUnit = UInt64(zone) * UInt64(map.unitsPerZone)
            guard !address.isNone, firstUnit < header.unitCount else { continue }
            let image = try extents.read(address, id: UInt64(zone), kind: .zone)
            guard image.count == geometry.pageSizeInBytes else {
                throw AllocationCodec.damaged("a zone has another size", address, geometry)
            }
            map.loadZone(zone, image.view)
            guard map.bits.partCount <= partCountMax else {
                throw AllocationCodec.damaged(
                    "more is taken than the file holds", address, geometry)
            }
        }
        guard map.usedEnd <= header.unitCount else {
            throw AllocationCodec.damaged(
                "units behind its end are taken", superblock.allocationRoot, geometry)
        }
        map.finishLoading(unitCount: header.unitCount, pending: header.pending)
        return map
    }

    /// How many parts of the bitmap may have a unit that is taken: twice what the file can fill,
    /// and 32 MiB for zeros of the log that a copy has made holes of.
    private func partCountMax(_ geometry: Geometry) throws(StoreError) -> Int {
        let bytesPerPart = geometry.bytes(ofUnits: SparseBitMap.partSize)
        return Int(clamping: try context.file.storedBytes() / bytesPerPart * 2 + 4096)
    }
}

/// The stream of an allocation state, read block by block.
struct AllocationStream {
    private let extents: ExtentReader
    private let geometry: Geometry
    private let root: ExtentAddress
    /// Where the blocks lie that were read.
    private(set) var blocks: [ExtentAddress] = []
    private var known: Set<ExtentAddress> = []
    private var next: ExtentAddress
    private var block: PageBuffer?
    private var position = 0

    init(_ extents: ExtentReader, _ root: ExtentAddress, _ geometry: Geometry) {
        self.extents = extents
        self.geometry = geometry
        self.root = root
        next = root
    }

    /// The next number. Throws `corrupt` where the stream ends before it.
    mutating func uint64() throws(StoreError) -> UInt64 {
        if let block, position <= block.count - 8 {
            defer { position += 8 }
            return block.uint64(at: position)
        }
        // A block may end inside a number.
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            number |= UInt64(try byte()) << shift
        }
        return number
    }

    mutating func address() throws(StoreError) -> ExtentAddress {
        ExtentAddress(hash: try uint64(), place: try uint64())
    }

    private mutating func byte() throws(StoreError) -> UInt8 {
        while true {
            if let block, position < block.count {
                defer { position += 1 }
                return block[position]
            }
            guard try readBlock() else {
                throw AllocationCodec.damaged("its counts do not fit its size", root, geometry)
            }
        }
    }

    mutating func skipToEnd() throws(StoreError) {
        while try readBlock() {}
    }

    /// False at the end of the chain.
    private mutating func readBlock() throws(StoreError) -> Bool {
        guard !next.isNone else { return false }
        guard blocks.count < 1 << 16, known.insert(next).inserted else {
            throw AllocationCodec.damaged("the chain of blocks does not end", next, geometry)
        }
        // Not two blocks at once in memory.
        block = nil
        let image = try extents.read(next, id: UInt64(blocks.count), kind: .allocation)
        blocks.append(next)
        guard image.count > AllocationLayout.blockStream else {
            throw AllocationCodec.damaged("a block is too short", next, geometry)
        }
        next = ExtentAddress(image.view, at: AllocationLayout.blockNext)
        position = AllocationLayout.blockStream
        block = image
        return true
    }
}
