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

/// The allocation state: zone bitmaps, pending space and free page names. Only a checkpoint saves
/// it, so there is no free list that a crash could leave half changed.
extension Engine {
    private static var blockStreamBytesMax: Int { 1 << 18 }

    /// Saves the state and returns the address of its first block. The places of what it writes
    /// are chosen before anything is serialised, because they are part of what is saved.
    func storeSpace(
        _ generation: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) -> ExtentAddress {
        // No reader needs what is retired here: its interval is empty.
        for block in writer.allocationBlocks {
            writer.space.retire(block, born: generation, died: generation)
        }
        let runs = writer.freeNames.runs
        var zonePlaces: [Int: UInt64] = [:]
        var blocks: [(unit: UInt64, unitCount: Int, streamBytes: Int)] = []
        var isSettled = false
        while !isSettled {
            placeZones(&zonePlaces, generation)
            let needed = streamByteCount(freeRunCount: runs.count)
            let capacity = blocks.reduce(0) { $0 + $1.streamBytes }
            isSettled = capacity >= needed
            if !isSettled { blocks.append(takeBlock(needed - capacity)) }
            // A new block may lie in a zone that had not changed before.
            if writer.space.changedZones.contains(where: { zonePlaces[$0] == nil }) {
                isSettled = false
            }
        }
        writer.space.resizeZoneAddresses()
        let unitCount = zoneUnitCount
        for (zone, unit) in zonePlaces.sorted(by: { $0.key < $1.key }) {
            let image = writer.space.zoneImage(zone)
            writer.space.zoneAddresses[zone] = try output.append(
                image.view, id: UInt64(zone), kind: .zone,
                generation: generation, commit: state.commitNumber, unit: unit,
                unitCount: unitCount)
        }
        writer.space.changedZones = []
        return try storeBlocks(blocks, stream(runs), generation, with: &output)
    }

    private var zoneUnitCount: Int {
        let byteCount = ExtentLayout.size + options.pageSizeInBytes
        return (byteCount + options.unitSizeInBytes - 1) / options.unitSizeInBytes
    }

    private func placeZones(_ places: inout [Int: UInt64], _ generation: UInt64) {
        while let zone = writer.space.changedZones.first(where: { places[$0] == nil }) {
            if zone < writer.space.zoneAddresses.count {
                let old = writer.space.zoneAddresses[zone]
                if !old.isNone { writer.space.retire(old, born: generation, died: generation) }
            }
            places[zone] = writer.space.allocate(zoneUnitCount)
        }
    }

    private func takeBlock(_ streamBytes: Int) -> (unit: UInt64, unitCount: Int, streamBytes: Int) {
        let wanted = min(streamBytes + 256, Self.blockStreamBytesMax)
        let byteCount = ExtentLayout.size + AllocationLayout.blockStream + wanted
        let unitCount = (byteCount + options.unitSizeInBytes - 1) / options.unitSizeInBytes
        return (writer.space.allocate(unitCount), unitCount, wanted)
    }

    private func streamByteCount(freeRunCount: Int) -> Int {
        AllocationLayout.zones + writer.space.zoneCount * ExtentAddress.size
            + writer.space.pending.count * AllocationLayout.pendingSize
            + freeRunCount * AllocationLayout.freeRunSize
    }

    private func stream(_ runs: [PageNames.Run]) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: 4096)
        buffer.appendUInt64(writer.space.usedEnd)
        buffer.appendUInt64(UInt64(writer.space.zoneCount))
        buffer.appendUInt64(UInt64(writer.space.pending.count))
        buffer.appendUInt64(UInt64(runs.count))
        for address in writer.space.zoneAddresses {
            buffer.appendUInt64(address.hash)
            buffer.appendUInt64(address.place)
        }
        for space in writer.space.pending {
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

    /// Writes the blocks last to first, because each names the next.
    private func storeBlocks(
        _ blocks: [(unit: UInt64, unitCount: Int, streamBytes: Int)], _ stream: ByteBuffer,
        _ generation: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) -> ExtentAddress {
        var starts: [Int] = []
        var total = 0
        for block in blocks {
            starts.append(total)
            total += block.streamBytes
        }
        var next = ExtentAddress.none
        var addresses: [ExtentAddress] = []
        for (block, start) in zip(blocks, starts).reversed() {
            let image = ByteBuffer(capacity: block.streamBytes + 64)
            image.appendUInt64(next.hash)
            image.appendUInt64(next.place)
            let part = min(block.streamBytes, max(0, stream.count - start))
            if part > 0 { image.append(stream.view.slice(from: start, count: part)) }
            image.appendZeros(block.streamBytes - part)
            next = try output.append(
                image.view, id: UInt64(start), kind: .allocation, generation: generation,
                commit: state.commitNumber, unit: block.unit, unitCount: block.unitCount)
            addresses.append(next)
        }
        writer.allocationBlocks = addresses
        return next
    }

    /// Reads the state that a superblock names.
    func loadSpace(_ root: ExtentAddress) throws(StoreError) {
        let stream = ByteBuffer(capacity: 4096)
        var next = root
        var blocks: [ExtentAddress] = []
        while !next.isNone {
            guard blocks.count < 1 << 16, !blocks.contains(next) else {
                throw damagedSpace("the chain of blocks does not end", next)
            }
            blocks.append(next)
            let image = try readExtent(next, id: UInt64(stream.count), kind: .allocation)
            guard image.count > AllocationLayout.blockStream else {
                throw damagedSpace("a block is too short", next)
            }
            stream.append(image.view.dropFirst(AllocationLayout.blockStream))
            next = ExtentAddress(image.view, at: AllocationLayout.blockNext)
        }
        try parseSpace(stream.view, root)
        writer.allocationBlocks = blocks
    }

    private func parseSpace(_ bytes: ByteView, _ root: ExtentAddress) throws(StoreError) {
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
        guard needed <= UInt64(bytes.count),
            unitCount <= writer.fileEnd / UInt64(options.unitSizeInBytes) + 1,
            counts[0] * UInt64(writer.space.unitsPerZone) >= unitCount
        else { throw damagedSpace("its counts do not fit its size", root) }
        var space = SpaceMap(pageSizeInBytes: options.pageSizeInBytes)
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
        let pending = try parsePending(bytes, &position, Int(counts[1]), unitCount, root)
        space.finishLoading(unitCount: unitCount, pending: pending)
        writer.space = space
        try parseFreeRuns(bytes, position, Int(counts[2]), root)
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
    ) throws(StoreError) {
        var position = start
        var runs: [PageNames.Run] = []
        for _ in 0..<count {
            let first = bytes.uint64(at: position)
            let length = bytes.uint64(at: position + 8)
            guard first > 0, first >= runs.last?.end ?? 1, first <= writer.superblock.pageCount,
                length <= writer.superblock.pageCount - first
            else { throw damagedSpace("free page names are out of range", root) }
            runs.append(PageNames.Run(start: first, count: length))
            position += AllocationLayout.freeRunSize
        }
        writer.freeNames = PageNames(ascending: runs)
    }

    private func damagedSpace(_ what: String, _ address: ExtentAddress) -> StoreError {
        StoreError.corrupt(
            nil, "the allocation state cannot be read: \(what)",
            byteOffset: address.unit * UInt64(options.unitSizeInBytes)
        ).at(path: path)
    }
}
