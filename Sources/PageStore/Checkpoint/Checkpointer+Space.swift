/// The allocation state that a checkpoint has saved.
struct SavedAllocation {
    /// Its first block, and all of them.
    var root: ExtentAddress
    var blocks: [ExtentAddress]
    var state: SavedSpace
}

/// Saving the allocation state: zone bitmaps, pending space and free page ids. Only a checkpoint
/// does, so there is no free list that a crash could leave half changed.
extension Checkpointer {
    private static var blockStreamBytesMax: Int { 1 << 18 }

    private typealias Block = (unit: UInt64, unitCount: Int, streamBytes: Int)

    /// Saves the allocation state. Its own units are allocated before it is serialised, because
    /// they are part of it; the extents that it replaces are added to `dying`.
    func storeSpace(
        _ plan: CheckpointPlan, _ dying: inout [PendingSpace], with output: inout ExtentWriter
    ) throws(StoreError) -> SavedAllocation {
        // A reader that only looks at objects needs none of it; one that checks the file does.
        dying += try dyingExtents(state.withLock { $0.allocationBlocks }, plan)
        var places: [Int: UInt64] = [:]
        var blocks: [Block] = []
        var saved = try settle(&places, &blocks, plan, dying, &output)
        do throws(StoreError) {
            let replaced = saved.zones.map { saved.zoneAddresses[$0] }.filter { !$0.isNone }
            dying += try dyingExtents(replaced, plan)
            for zone in saved.zones {
                let image = saved.zoneImage(zone)
                saved.zoneAddresses[zone] = try output.append(
                    image.view, id: UInt64(zone), kind: .zone, generation: plan.number,
                    commit: plan.commitNumber, unit: places[zone] ?? 0,
                    unitCount: context.geometry.zoneUnitCount)
            }
            // A damaged file may name units that are not allocated: they are not released.
            let named = dying
            dying = space.withSpace { space in
                named.filter { space.isUsed($0.unit, $0.unitCount) }
            }
            // Space that pends twice would be freed twice, the second time under its next owner.
            if let shared = PendingSpace.firstShared(in: dying, with: saved.pending) {
                throw StoreError.corrupt(
                    nil, "a place in use was saved as one that waits to be used again",
                    byteOffset: context.geometry.byteOffset(ofUnit: shared))
            }
            saved.pending += dying
            let addresses = try storeBlocks(
                blocks, AllocationCodec.encode(saved, plan.freeIDs), plan, with: &output)
            try output.flush()
            return SavedAllocation(
                root: addresses.last ?? .none, blocks: addresses, state: saved)
        } catch {
            let zones = saved.zones
            space.withSpace { $0.noteUnsaved(zones) }
            throw error
        }
    }

    /// Takes units for changed zones and for the stream until no unit taken changes a zone that
    /// has none, and takes the state down. Commits go on taking space beside this: a zone that
    /// only they changed is saved as well, or by the next checkpoint.
    private func settle(
        _ places: inout [Int: UInt64], _ blocks: inout [Block], _ plan: CheckpointPlan,
        _ dying: [PendingSpace], _ output: inout ExtentWriter
    ) throws(StoreError) -> SavedSpace {
        while true {
            let (zones, zoneCount, pendingCount) = space.withSpace {
                ($0.changedZones, $0.zoneCount, $0.pending.count)
            }
            for zone in zones.sorted() where places[zone] == nil {
                places[zone] = try output.take(
                    context.geometry.zoneUnitCount, below: plan.moves.zones[zone])
            }
            let needed = AllocationCodec.size(
                zoneCount: zoneCount + 1, pendingCount: pendingCount + dying.count + places.count,
                freeRunCount: plan.freeIDs.count)
            let capacity = blocks.reduce(0) { $0 + $1.streamBytes }
            if capacity < needed { blocks.append(try takeBlock(needed - capacity, &output)) }
            let taken = Set(places.keys)
            let saved: SavedSpace? = space.withSpace { space in
                guard capacity >= needed, space.zoneCount <= zoneCount + 1,
                    space.changedZones.isSubset(of: taken)
                else { return nil }
                return space.beginSaving()
            }
            if let saved { return saved }
        }
    }

    private func takeBlock(
        _ streamBytes: Int, _ output: inout ExtentWriter
    ) throws(StoreError) -> Block {
        let wanted = min(streamBytes + 256, Self.blockStreamBytesMax)
        let unitCount = context.geometry.unitCount(
            holding: ExtentLayout.size + AllocationLayout.blockStream + wanted)
        return (try output.take(unitCount), unitCount, wanted)
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
}
