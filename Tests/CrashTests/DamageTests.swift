import Foundation
import PageStore
import Proof
import TestSupport
import Testing

/// A slice of the proof that `scripts/prove damage` runs in full, and faults that it found.
@Suite struct DamageTests {
    @Test func `damage is found, or is in unused space`() {
        ProofSlice.run(DamageProof.self, "found", above: 100, seconds: 4)
    }

    private func store(_ steps: [ScriptStep]) throws -> (bytes: [UInt8], frames: [LogFrame]) {
        let disk = SimulatedDisk(seed: 1)
        var player = try ScriptPlayer(
            disk: disk, options: CrashProof.options, history: ScriptHistory(), seed: 1)
        for step in steps { try player.run(step) }
        let frames = try player.engine.logFrames()
        return (try #require(disk.image.bytes(of: "store")), frames)
    }

    private func open(_ bytes: [UInt8], isReadOnly: Bool) throws -> Engine {
        var image = DiskImage()
        image.apply(.create(path: "store", file: 1))
        image.apply(.write(file: 1, start: 0, bytes: bytes))
        var options = CrashProof.options
        options.mode = isReadOnly ? .reading : .writing
        return try Engine.open(
            path: "store", options: options, files: SimulatedDisk(image, seed: 2))
    }

    @Test(arguments: [[ScriptStep.rotate, .insert], [.rotate, .rotate]], [true, false])
    func `a log whose LINK is lost is damaged, not shorter`(
        _ steps: [ScriptStep], _ isReadOnly: Bool
    ) throws {
        let (bytes, frames) = try store([.insert, .checkpoint] + steps)
        let links = frames.filter { $0.type == .link }
        #expect(links.count >= 1)
        for link in links {
            let sector = Int(link.byteOffset) / 512 * 512
            var damaged = bytes
            damaged.replaceSubrange(sector..<(sector + 512), with: repeatElement(0, count: 512))
            let error = #expect(throws: StoreError.self) {
                try open(damaged, isReadOnly: isReadOnly)
            }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func `damage in the padding of a group is reported, and loses no later group`() throws {
        let (bytes, frames) = try store([.insert, .checkpoint, .insert, .insert, .insert])
        let pads = frames.filter { $0.type == .pad }
        #expect(pads.count == 3)
        for pad in pads.dropLast() {
            var damaged = bytes
            damaged[Int(pad.byteOffset) + 20] ^= 1
            let error = #expect(throws: StoreError.self) { try open(damaged, isReadOnly: true) }
            #expect(error?.code == .corrupt)
        }
    }

    /// A bug: the rest of an older group at the same offset made a torn write look like damage.
    @Test func `a LINK left by an older log after a torn group is ignored`() throws {
        let (bytes, frames) = try store([.insert, .relaxed, .relaxed])
        let groups = frames.filter { $0.type == .group }.map { Int($0.byteOffset) }
        #expect(groups.count == 3)
        var torn = bytes
        // Of the first relaxed commit nothing was written, of the second one the GROUP.
        torn.replaceSubrange(
            groups[1]..<groups[2], with: repeatElement(0, count: groups[2] - groups[1]))
        var link = [UInt8](repeating: 7, count: FrameLayout.linkSize)
        link.replaceSubrange(
            FrameLayout.length..<FrameLayout.length + 4,
            with: [UInt8(FrameLayout.linkSize), 0, 0, 0])
        link[FrameLayout.type] = FrameType.link.rawValue
        let end = groups[2] + FrameLayout.groupSize
        torn.replaceSubrange(end..<end + link.count, with: link)
        #expect(try open(torn, isReadOnly: true).snapshot().commitNumber == 1)
    }

    /// A bug: the page was freed twice, and in a debug build the writer trapped.
    @Test func `a page in use that is listed as pending space is damage`() throws {
        var (bytes, _) = try store([.insert, .checkpoint, .insert, .checkpoint, .insert])
        let seal = StoreSeal(bytes)
        let slot = bytes.withView { view in
            [0, 4096].max {
                view.uint64(at: $0 + SuperblockLayout.generation)
                    < view.uint64(at: $1 + SuperblockLayout.generation)
            }
        }
        let (map, allocation, generation) = try bytes.withView { view in
            let slot = try #require(slot)
            return (
                ExtentAddress(view, at: slot + SuperblockLayout.mapRoot),
                ExtentAddress(view, at: slot + SuperblockLayout.allocationRoot),
                view.uint64(at: slot + SuperblockLayout.generation)
            )
        }
        let block = Int(allocation.unit) * CrashProof.options.unitSizeInBytes
        let stream = block + ExtentLayout.size + AllocationLayout.blockStream
        let counts = bytes.withView {
            (
                zones: $0.uint64(at: stream + AllocationLayout.zoneCount),
                pending: $0.uint64(at: stream + AllocationLayout.pendingCount)
            )
        }
        try #require(counts.pending > 0)
        let pending = stream + AllocationLayout.zones + Int(counts.zones) * ExtentAddress.size
        // Recovery's checkpoint stores what the log has, so it replaces the root of the map.
        for (index, number) in [map.unit, UInt64(map.unitCount), 0, generation].enumerated() {
            let place = pending + index * 8
            let littleEndian = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            bytes.replaceSubrange(place..<place + 8, with: littleEndian)
        }
        let extent = try #require(seal.extents.first { $0.lowerBound == block })
        seal.seal([extent], of: &bytes)
        var image = DiskImage()
        image.apply(.create(path: "store", file: 1))
        image.apply(.write(file: 1, start: 0, bytes: bytes))
        let engine = try Engine.open(
            path: "store", options: CrashProof.options, files: SimulatedDisk(image, seed: 2))
        let error = #expect(throws: StoreError.self) { try engine.beginWrite() }
        #expect(error?.code == .corrupt)
        #expect(error?.byteOffset == map.unit * UInt64(CrashProof.options.unitSizeInBytes))
    }

    /// A bug: nothing was written since opening, and so nothing was synchronised.
    @Test func `what a store showed is durable when it is closed, even another's commits`() throws {
        let disk = SimulatedDisk(seed: 1, records: true)
        var player = try ScriptPlayer(
            disk: disk, options: CrashProof.options, history: ScriptHistory(), seed: 1)
        for step: ScriptStep in [.insert, .relaxed, .die] { try player.run(step) }
        try player.close()
        var medium = PowerCut(DiskImage(), seed: 1)
        for effect in disk.effects { medium.complete(effect) }
        try medium.forEachImage(running: nil) { image in
            let bytes = try #require(image.disk.bytes(of: "store"))
            #expect(try open(bytes, isReadOnly: true).snapshot().commitNumber == 2)
        }
    }
}
