import PageStore
import Proof
import TestSupport
import Testing

/// Faults of interrupted recoveries and creations that were found.
@Suite struct RecoveryCutTests {
    private func store() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        var player = try ScriptPlayer(
            disk: disk, options: CrashProof.options, history: ScriptHistory(), seed: 1)
        for step: ScriptStep in [.insert, .checkpoint, .update] { try player.run(step) }
        return disk.image
    }

    @Test(arguments: [0, 1])
    func `recovery does not write over the only superblock`(_ slot: Int) throws {
        var image = try store()
        let file = try #require(image.names["store"])
        let place = slot * 4096
        image.files[file]?.replaceSubrange(
            place..<(place + 4096), with: repeatElement(UInt8(0xFF), count: 4096))
        let disk = SimulatedDisk(image, seed: 2, records: true)
        let engine = try Engine.open(path: "store", options: CrashProof.options, files: disk)
        let before = try engine.snapshot().commitNumber
        try engine.beginWrite().rollback()
        // The superblock was read and may not be durable: it is synchronised before the other copy
        // is written.
        let names = disk.effects.map(\.name).filter { $0 != "sync of the folder" }.prefix(2)
        #expect(names == ["sync", "durable write of 4096 at \(place)"])
        try engine.close()
        let again = try Engine.open(
            path: "store", options: CrashProof.options, files: SimulatedDisk(disk.image, seed: 3))
        #expect(try again.snapshot().commitNumber == before)
    }

    @Test(arguments: 0...8)
    func `a creation torn inside its magic number is started again`(_ byteCount: Int) throws {
        let made = SimulatedDisk(seed: 1, records: true)
        _ = try Engine.open(path: "store", options: CrashProof.options, files: made)
        var image = DiskImage()
        for effect in made.effects {
            guard case .durableWrite(let file, let start, let bytes) = effect else {
                image.apply(effect)
                continue
            }
            // The first superblock goes to slot 1; the power fails inside it.
            #expect(start == 4096)
            let part = Array(bytes[..<byteCount])
            image.apply(.durableWrite(file: file, start: start, bytes: part))
            break
        }
        let engine = try Engine.open(
            path: "store", options: CrashProof.options, files: SimulatedDisk(image, seed: 2))
        #expect(try engine.snapshot().commitNumber == 0)
    }

    @Test func `a store whose creator died has a durable name before its first commit`() throws {
        let made = SimulatedDisk(seed: 1, records: true)
        _ = try Engine.open(path: "store", options: CrashProof.options, files: made)
        var medium = PowerCut(DiskImage(), seed: 1)
        // All but the last call: the folder was not synchronised.
        for effect in made.effects.dropLast() { medium.complete(effect) }
        let disk = SimulatedDisk(medium.visible, seed: 2, records: true)
        var player = try ScriptPlayer(
            disk: disk, options: CrashProof.options, history: ScriptHistory(), seed: 3)
        try player.run(.insert)
        for effect in disk.effects { medium.complete(effect) }
        medium.forEachImage(running: nil) { #expect($0.disk.names["store"] != nil) }
    }
}
