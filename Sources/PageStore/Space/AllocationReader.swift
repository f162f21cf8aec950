/// Reads the allocation state that a superblock names.
struct AllocationReader {
    private let extents: ExtentReader
    private let path: String

    init(_ context: StoreContext) {
        extents = ExtentReader(context)
        path = context.path
    }

    func read(_ superblock: Superblock) throws(StoreError) -> LoadedSpace {
        do throws(StoreError) {
            let geometry = Geometry(superblock)
            let (stream, blocks) = try blocks(superblock.allocationRoot, geometry)
            let header = try AllocationCodec.decode(stream.view, of: superblock)
            var map = SpaceMap(pageSizeInBytes: geometry.pageSizeInBytes)
            for (zone, address) in header.zones.enumerated() {
                map.zoneAddresses.append(address)
                let firstUnit = UInt64(zone) * UInt64(map.unitsPerZone)
                guard !address.isNone, firstUnit < header.unitCount else { continue }
                let image = try extents.read(address, id: UInt64(zone), kind: .zone)
                guard image.count == geometry.pageSizeInBytes else {
                    throw AllocationCodec.damaged("a zone has another size", address, geometry)
                }
                map.loadZone(zone, image.view)
            }
            guard map.usedEnd <= header.unitCount else {
                throw AllocationCodec.damaged(
                    "units behind its end are taken", superblock.allocationRoot, geometry)
            }
            map.finishLoading(unitCount: header.unitCount, pending: header.pending)
            return LoadedSpace(map: map, blocks: blocks, freeIDs: header.freeIDs)
        } catch {
            throw error.at(path: path)
        }
    }

    private func blocks(
        _ root: ExtentAddress, _ geometry: Geometry
    ) throws(StoreError) -> (ByteBuffer, [ExtentAddress]) {
        let stream = ByteBuffer(capacity: 4096)
        var next = root
        var blocks: [ExtentAddress] = []
        while !next.isNone {
            guard blocks.count < 1 << 16, !blocks.contains(next) else {
                throw AllocationCodec.damaged("the chain of blocks does not end", next, geometry)
            }
            let image = try extents.read(next, id: UInt64(blocks.count), kind: .allocation)
            blocks.append(next)
            guard image.count > AllocationLayout.blockStream else {
                throw AllocationCodec.damaged("a block is too short", next, geometry)
            }
            stream.append(image.view.dropFirst(AllocationLayout.blockStream))
            next = ExtentAddress(image.view, at: AllocationLayout.blockNext)
        }
        return (stream, blocks)
    }
}
