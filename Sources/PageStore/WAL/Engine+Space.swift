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
    var freeNames: [PageNames.Run]

    /// A unit that pends and is free, or pends twice; nil when there is none.
    var pendingConflict: UInt64? {
        var waiting = UnitSet()
        for run in map.pending {
            if let shared = waiting.insert(run.unit, run.unitCount) { return shared }
            if !map.isUsed(run.unit, run.unitCount) { return run.unit }
        }
        return nil
    }
}

/// The allocation state: zone bitmaps, pending space and free page names. Only a checkpoint saves
/// it, so there is no free list that a crash could leave half changed.
extension Engine {
    private static var blockStreamBytesMax: Int { 1 << 18 }

    private typealias Block = (unit: UInt64, unitCount: Int, streamBytes: Int)

    /// Saves the state and returns the address of its first block. The places of what it writes
    /// are chosen before anything is serialised, because they are part of what is saved. What
    /// saving replaces is added to what dies.
    func storeSpace(
        _ plan: CheckpointPlan, _ dying: inout [PendingSpace], with output: inout ExtentWriter
    ) throws(StoreError) -> (root: ExtentAddress, blocks: [ExtentAddress], state: SavedSpace) {
        // A reader that only looks at objects needs none of it; one that checks the file does.
        dying += try dyingExtents(writer.allocationBlocks, plan)
        var places: [Int: UInt64] = [:]
        var blocks: [Block] = []
        var saved = settle(&places, &blocks, plan, dying, &output)
        do throws(StoreError) {
            let replaced = saved.zones.map { saved.zoneAddresses[$0] }.filter { !$0.isNone }
            dying += try dyingExtents(replaced, plan)
            for zone in saved.zones {
                let image = saved.zoneImage(zone)
                saved.zoneAddresses[zone] = try output.append(
                    image.view, id: UInt64(zone), kind: .zone, generation: plan.number,
                    commit: plan.commitNumber, unit: places[zone] ?? 0, unitCount: zoneUnitCount)
            }
            // A damaged file may name places that nothing has taken: they are not given back.
            dying = space.withLock { space in
                dying.filter { space.isUsed($0.unit, $0.unitCount) }
            }
            saved.pending += dying
            let addresses = try storeBlocks(
                blocks, stream(saved, plan.freeNames), plan, with: &output)
            try output.flush()
            return (addresses.last ?? .none, addresses, saved)
        } catch {
            space.withLock { $0.noteUnsaved(saved.zones) }
            throw error
        }
    }

    private var zoneUnitCount: Int {
        let byteCount = ExtentLayout.size + options.pageSizeInBytes
        return (byteCount + options.unitSizeInBytes - 1) / options.unitSizeInBytes
    }

    /// Takes places for changed zones and for the stream until no place taken changes a zone that
    /// has none, and takes the state down. Commits go on taking space beside this: a zone that
    /// only they changed is saved as well or has its turn in the next checkpoint.
    private func settle(
        _ places: inout [Int: UInt64], _ blocks: inout [Block], _ plan: CheckpointPlan,
        _ dying: [PendingSpace], _ output: inout ExtentWriter
    ) -> SavedSpace {
        while true {
            let (zones, zoneCount, pendingCount) = space.withLock {
                ($0.changedZones, $0.zoneCount, $0.pending.count)
            }
            for zone in zones.sorted() where places[zone] == nil {
                places[zone] = output.take(zoneUnitCount)
            }
            let needed =
                AllocationLayout.zones + (zoneCount + 1) * ExtentAddress.size
                + (pendingCount + dying.count + places.count) * AllocationLayout.pendingSize
                + plan.freeNames.count * AllocationLayout.freeRunSize
            let capacity = blocks.reduce(0) { $0 + $1.streamBytes }
            if capacity < needed { blocks.append(takeBlock(needed - capacity, &output)) }
            let saved: SavedSpace? = space.withLock { space in
                guard capacity >= needed, space.zoneCount <= zoneCount + 1,
                    space.changedZones.allSatisfy({ places[$0] != nil })
                else { return nil }
                return space.beginSaving()
            }
            if let saved { return saved }
        }
    }

    private func takeBlock(_ streamBytes: Int, _ output: inout ExtentWriter) -> Block {
        let wanted = min(streamBytes + 256, Self.blockStreamBytesMax)
        let byteCount = ExtentLayout.size + AllocationLayout.blockStream + wanted
        let unitCount = (byteCount + options.unitSizeInBytes - 1) / options.unitSizeInBytes
        return (output.take(unitCount), unitCount, wanted)
    }

    private func stream(_ saved: SavedSpace, _ runs: [PageNames.Run]) -> ByteBuffer {
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

    /// Writes the blocks last to first, because each names the next; the first comes back last.
    private func storeBlocks(
        _ blocks: [Block], _ stream: ByteBuffer, _ plan: CheckpointPlan,
        with output: inout ExtentWriter
    ) throws(StoreError) -> [ExtentAddress] {
        var starts: [Int] = []
        var total = 0
        for block in blocks {
            starts.append(total)
            total += block.streamBytes
        }
        assert(stream.count <= total, "the blocks hold the stream")
        var next = ExtentAddress.none
        var addresses: [ExtentAddress] = []
        for (number, (block, start)) in zip(blocks, starts).enumerated().reversed() {
            let image = ByteBuffer(capacity: block.streamBytes + 64)
            image.appendUInt64(next.hash)
            image.appendUInt64(next.place)
            let part = min(block.streamBytes, max(0, stream.count - start))
            if part > 0 { image.append(stream.view.slice(from: start, count: part)) }
            image.appendZeros(block.streamBytes - part)
            next = try output.append(
                image.view, id: UInt64(number), kind: .allocation, generation: plan.number,
                commit: plan.commitNumber, unit: block.unit, unitCount: block.unitCount)
            addresses.append(next)
        }
        return addresses
    }

    /// Reads the state that a superblock names.
    func savedSpace(_ root: ExtentAddress) throws(StoreError) -> LoadedSpace {
        let stream = ByteBuffer(capacity: 4096)
        var next = root
        var blocks: [ExtentAddress] = []
        while !next.isNone {
            guard blocks.count < 1 << 16, !blocks.contains(next) else {
                throw damagedSpace("the chain of blocks does not end", next)
            }
            let image = try readExtent(next, id: UInt64(blocks.count), kind: .allocation)
            blocks.append(next)
            guard image.count > AllocationLayout.blockStream else {
                throw damagedSpace("a block is too short", next)
            }
            stream.append(image.view.dropFirst(AllocationLayout.blockStream))
            next = ExtentAddress(image.view, at: AllocationLayout.blockNext)
        }
        return try parseSpace(stream.view, blocks, root)
    }

    private func parseSpace(
        _ bytes: ByteView, _ blocks: [ExtentAddress], _ root: ExtentAddress
    ) throws(StoreError) -> LoadedSpace {
        typealias Layout = AllocationLayout
        guard bytes.count >= Layout.zones else { throw damagedSpace("it is too short", root) }
        let unitCount = bytes.uint64(at: Layout.unitCount)
        let counts = [Layout.zoneCount, Layout.pendingCount, Layout.freeRunCount]
            .map { bytes.uint64(at: $0) }
        let sizes = [ExtentAddress.size, Layout.pendingSize, Layout.freeRunSize]
        var needed = UInt64(Layout.zones)
        for (count, size) in zip(counts, sizes) {
            guard count <= UInt64(bytes.count) else { throw damagedSpace("a count lies", root) }
            needed += count * UInt64(size)
        }
        var space = SpaceMap(pageSizeInBytes: options.pageSizeInBytes)
        guard needed <= UInt64(bytes.count),
            unitCount <= superblock.requiredLength / UInt64(options.unitSizeInBytes),
            counts[0] * UInt64(space.unitsPerZone) >= unitCount
        else { throw damagedSpace("its counts do not fit its size", root) }
        var position = Layout.zones
        for zone in 0..<Int(counts[0]) {
            let address = ExtentAddress(bytes, at: position)
            position += ExtentAddress.size
            space.zoneAddresses.append(address)
            let firstUnit = UInt64(zone) * UInt64(space.unitsPerZone)
            guard !address.isNone, firstUnit < unitCount else { continue }
            let image = try readExtent(address, id: UInt64(zone), kind: .zone)
            guard image.count == options.pageSizeInBytes else {
                throw damagedSpace("a zone has another size", address)
            }
            space.loadZone(zone, image.view)
        }
        guard space.usedEnd <= unitCount else {
            throw damagedSpace("units behind its end are taken", root)
        }
        let pending = try parsePending(bytes, &position, Int(counts[1]), unitCount, root)
        space.finishLoading(unitCount: unitCount, pending: pending)
        let runs = try parseFreeRuns(bytes, position, Int(counts[2]), root)
        return LoadedSpace(map: space, blocks: blocks, freeNames: runs)
    }

    private func parsePending(
        _ bytes: ByteView, _ position: inout Int, _ count: Int, _ unitCount: UInt64,
        _ root: ExtentAddress
    ) throws(StoreError) -> [PendingSpace] {
        var pending: [PendingSpace] = []
        for _ in 0..<count {
            let space = PendingSpace(
                unit: bytes.uint64(at: position), unitCount: bytes.uint64(at: position + 8),
                born: bytes.uint64(at: position + 16), died: bytes.uint64(at: position + 24))
            guard space.unit <= unitCount, space.unitCount <= unitCount - space.unit else {
                throw damagedSpace("pending space lies outside the file", root)
            }
            pending.append(space)
            position += AllocationLayout.pendingSize
        }
        return pending
    }

    private func parseFreeRuns(
        _ bytes: ByteView, _ start: Int, _ count: Int, _ root: ExtentAddress
    ) throws(StoreError) -> [PageNames.Run] {
        var position = start
        var runs: [PageNames.Run] = []
        for _ in 0..<count {
            let first = bytes.uint64(at: position)
            let length = bytes.uint64(at: position + 8)
            guard first > 0, first >= runs.last?.end ?? 1, first <= superblock.pageCount,
                length <= superblock.pageCount - first
            else { throw damagedSpace("free page names are out of range", root) }
            runs.append(PageNames.Run(start: first, count: length))
            position += AllocationLayout.freeRunSize
        }
        return runs
    }

    private func damagedSpace(_ what: String, _ address: ExtentAddress) -> StoreError {
        StoreError.corrupt(
            nil, "the allocation state cannot be read: \(what)",
            byteOffset: address.unit * UInt64(options.unitSizeInBytes)
        ).at(path: path)
    }
}
