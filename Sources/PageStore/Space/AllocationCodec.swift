/// Where the saved allocation state keeps what: spec/02-pages.md.
package enum AllocationLayout {
    // A block: the address of the next one, then its part of the stream.
    package static let blockNext = 0
    package static let blockStream = 16

    // The stream.
    package static let unitCount = 0
    package static let zoneCount = 8
    package static let pendingCount = 16
    package static let freeRunCount = 24
    package static let zones = 32

    package static let pendingSize = 32
    package static let freeRunSize = 16
}

/// The allocation state as a checkpoint saved it.
struct LoadedSpace {
    var map: SpaceMap
    /// Where the state itself lies, its zones aside.
    var blocks: [ExtentAddress]
    var freeIDs: [FreePageIDs.Run]

    /// A unit that pends and is free, or pends twice; nil when there is none.
    var pendingConflict: UInt64? {
        PendingSpace.firstShared(in: map.pending)
            ?? map.pending.first { !map.isUsed($0.unit, $0.unitCount) }?.unit
    }
}

/// The stream of the allocation state: bytes from values and values from bytes, no I/O.
enum AllocationCodec {
    /// The part of the stream before its zones.
    struct Header {
        var unitCount: UInt64
        var zones: [ExtentAddress]
        var pending: [PendingSpace]
        var freeIDs: [FreePageIDs.Run]
    }

    /// The bytes that a stream takes.
    static func size(zoneCount: Int, pendingCount: Int, freeRunCount: Int) -> Int {
        AllocationLayout.zones + zoneCount * ExtentAddress.size
            + pendingCount * AllocationLayout.pendingSize
            + freeRunCount * AllocationLayout.freeRunSize
    }

    static func encode(_ saved: SavedSpace, _ runs: [FreePageIDs.Run]) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: 4096)
        buffer.appendUInt64(saved.usedEnd)
        buffer.appendUInt64(UInt64(saved.zoneAddresses.count))
        buffer.appendUInt64(UInt64(saved.pending.count))
        buffer.appendUInt64(UInt64(runs.count))
        for address in saved.zoneAddresses {
            buffer.appendUInt64(address.hash)
            buffer.appendUInt64(address.place)
        }
        for space in saved.pending {
            buffer.appendUInt64(space.unit)
            buffer.appendUInt64(space.unitCount)
            buffer.appendUInt64(space.born)
            buffer.appendUInt64(space.died)
        }
        for run in runs {
            buffer.appendUInt64(run.start)
            buffer.appendUInt64(run.count)
        }
        return buffer
    }

    /// Checks every number against the superblock that named the state.
    ///
    /// - Parameter extentCountMax: how many extents the file has room for. Pending runs are as
    ///   many at most: each is an extent, or a segment of the log, and no two share a unit.
    static func decode(
        _ stream: inout AllocationStream, of superblock: Superblock, extentCountMax: UInt64
    ) throws(StoreError) -> Header {
        let geometry = Geometry(superblock)
        let unitCount = try stream.uint64()
        let (zoneCount, pendingCount) = (try stream.uint64(), try stream.uint64())
        let runCount = try stream.uint64()
        let unitsPerZone = UInt64(SpaceMap.unitsPerZone(geometry))
        let (zoneUnits, isPastAll) = zoneCount.multipliedReportingOverflow(by: unitsPerZone)
        guard unitCount <= geometry.units(from: 0, count: superblock.requiredLength).upperBound,
            zoneCount <= Limits.zoneCountMax, !isPastAll, zoneUnits >= unitCount
        else {
            throw damaged("its counts do not fit its size", superblock.allocationRoot, geometry)
        }
        var zones: [ExtentAddress] = []
        for _ in 0..<zoneCount { zones.append(try stream.address()) }
        let pending = try pending(
            &stream, pendingCount, unitCount, superblock, countMax: extentCountMax)
        return Header(
            unitCount: unitCount, zones: zones, pending: pending,
            freeIDs: try freeRuns(&stream, runCount, superblock))
    }

    private static func pending(
        _ stream: inout AllocationStream, _ count: UInt64, _ unitCount: UInt64,
        _ superblock: Superblock, countMax: UInt64
    ) throws(StoreError) -> [PendingSpace] {
        let geometry = Geometry(superblock)
        // An extent or a segment of the log.
        let longest = geometry.units(from: 0, count: Limits.walSegmentSizeInBytesMax).upperBound
        var pending: [PendingSpace] = []
        for _ in 0..<count {
            let space = PendingSpace(
                unit: try stream.uint64(), unitCount: try stream.uint64(),
                born: try stream.uint64(), died: try stream.uint64())
            guard space.unitCount > 0, space.unit <= unitCount,
                space.unitCount <= unitCount - space.unit,
                space.unitCount <= longest
            else {
                throw damaged(
                    "pending space lies outside the file", superblock.allocationRoot, geometry)
            }
            pending.append(space)
            guard UInt64(pending.count) <= countMax else {
                throw damaged(
                    "more waits to be used again than the file holds", superblock.allocationRoot,
                    geometry)
            }
        }
        return pending
    }

    /// Runs without an id say nothing, and are left out.
    private static func freeRuns(
        _ stream: inout AllocationStream, _ count: UInt64, _ superblock: Superblock
    ) throws(StoreError) -> [FreePageIDs.Run] {
        var runs: [FreePageIDs.Run] = []
        var end: UInt64 = 1
        for _ in 0..<count {
            let (first, length) = (try stream.uint64(), try stream.uint64())
            guard first >= end, first <= superblock.pageCount,
                length <= superblock.pageCount - first
            else {
                throw damaged(
                    "free page names are out of range", superblock.allocationRoot,
                    Geometry(superblock))
            }
            end = first + length
            if length > 0 { runs.append(FreePageIDs.Run(start: first, count: length)) }
        }
        return runs
    }

    static func damaged(
        _ reason: String, _ address: ExtentAddress, _ geometry: Geometry
    ) -> StoreError {
        .corrupt(
            nil, "the allocation state cannot be read: \(reason)",
            byteOffset: geometry.byteOffset(of: address))
    }
}
