import Foundation
import PageStore
import Proof
import TestSupport
import Testing

/// A slice of the proof that `scripts/prove damage` runs in full, and what it has shown.
@Suite struct DamageTests {
    @Test func `damage is found, or lies where nothing is read`() {
        ProofSlice.run(DamageProof.self, "found", above: 100, seconds: (4, 40))
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
        options.isReadOnly = isReadOnly
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

    @Test func `damage to what fills a group up does not lose the next one`() throws {
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

    /// The rest of an older group in the same place made a torn write look like damage.
    @Test func `a LINK that an older log left behind a torn group is none`() throws {
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

    /// Nothing was written since, and so nothing synchronised.
    @Test func `what a store showed is durable when it is closed, whoever wrote it`() throws {
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
