import Primitives

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
    /// What the stream says before its zones are read.
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
    static func decode(
        _ bytes: ByteView, of superblock: Superblock
    ) throws(StoreError) -> Header {
        typealias Layout = AllocationLayout
        let geometry = Geometry(superblock)
        let root = superblock.allocationRoot
        guard bytes.count >= Layout.zones else { throw damaged("it is too short", root, geometry) }
        let unitCount = bytes.uint64(at: Layout.unitCount)
        let counts = [Layout.zoneCount, Layout.pendingCount, Layout.freeRunCount]
            .map { bytes.uint64(at: $0) }
        guard counts.allSatisfy({ $0 <= UInt64(bytes.count) }) else {
            throw damaged("a count lies", root, geometry)
        }
        let (zoneCount, pendingCount, runCount) = (Int(counts[0]), Int(counts[1]), Int(counts[2]))
        let unitsPerZone = UInt64(SpaceMap.unitsPerZone(geometry))
        guard
            size(zoneCount: zoneCount, pendingCount: pendingCount, freeRunCount: runCount)
                <= bytes.count,
            unitCount <= geometry.units(from: 0, count: superblock.requiredLength).upperBound,
            counts[0] * unitsPerZone >= unitCount
        else { throw damaged("its counts do not fit its size", root, geometry) }
        var position = Layout.zones
        var zones: [ExtentAddress] = []
        for _ in 0..<zoneCount {
            zones.append(ExtentAddress(bytes, at: position))
            position += ExtentAddress.size
        }
        return Header(
            unitCount: unitCount, zones: zones,
            pending: try pending(bytes, &position, pendingCount, unitCount, superblock),
            freeIDs: try freeRuns(bytes, position, runCount, superblock))
    }

    private static func pending(
        _ bytes: ByteView, _ position: inout Int, _ count: Int, _ unitCount: UInt64,
        _ superblock: Superblock
    ) throws(StoreError) -> [PendingSpace] {
        var pending: [PendingSpace] = []
        for _ in 0..<count {
            let space = PendingSpace(
                unit: bytes.uint64(at: position), unitCount: bytes.uint64(at: position + 8),
                born: bytes.uint64(at: position + 16), died: bytes.uint64(at: position + 24))
            guard space.unit <= unitCount, space.unitCount <= unitCount - space.unit else {
                throw damaged(
                    "pending space lies outside the file", superblock.allocationRoot,
                    Geometry(superblock))
            }
            pending.append(space)
            position += AllocationLayout.pendingSize
        }
        return pending
    }

    private static func freeRuns(
        _ bytes: ByteView, _ start: Int, _ count: Int, _ superblock: Superblock
    ) throws(StoreError) -> [FreePageIDs.Run] {
        var position = start
        var runs: [FreePageIDs.Run] = []
        for _ in 0..<count {
            let first = bytes.uint64(at: position)
            let length = bytes.uint64(at: position + 8)
            guard first > 0, first >= runs.last?.end ?? 1, first <= superblock.pageCount,
                length <= superblock.pageCount - first
            else {
                throw damaged(
                    "free page names are out of range", superblock.allocationRoot,
                    Geometry(superblock))
            }
            runs.append(FreePageIDs.Run(start: first, count: length))
            position += AllocationLayout.freeRunSize
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
