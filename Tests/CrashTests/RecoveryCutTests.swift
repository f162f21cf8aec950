import PageStore
import Proof
import TestSupport
import Testing

/// Faults of interrupted recoveries and creations that were found.
@Suite struct RecoveryCutTests {
    private func store(
        _ steps: [ScriptStep] = [.insert, .checkpoint, .update]
    ) throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        var player = try ScriptPlayer(
            disk: disk, options: CrashProof.options, history: ScriptHistory(), seed: 1)
        for step in steps { try player.run(step) }
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

    /// What a recovery does to a medium, and the states that power cuts leave.
    private func recover(
        _ medium: PowerCut, seed: UInt64, _ body: (PowerCut, DiskEffect) throws -> Void
    ) throws {
        var medium = medium
        let disk = SimulatedDisk(medium.visible, seed: seed, records: true)
        let engine = try Engine.open(path: "store", options: CrashProof.options, files: disk)
        try engine.beginWrite().rollback()
        for effect in disk.effects {
            try body(medium, effect)
            medium.complete(effect)
        }
    }

    private func check(_ image: DiskImage, _ commit: UInt64, _ label: String) throws {
        var options = CrashProof.options
        options.mode = .reading
        let disk = SimulatedDisk(image, seed: 5)
        let engine = try Engine.open(path: "store", options: options, files: disk)
        let snapshot = try engine.snapshot()
        #expect(snapshot.commitNumber == commit, "\(label)")
        #expect(StoreCheck.run(snapshot).isEmpty, "\(label)")
        try engine.close()
    }

    /// A process dies in a superblock's write, and the next two recoveries with the power: the
    /// first one loses the superblock that it had seen, and the second one tears the one before it.
    /// An eighth of all states is checked.
    @Test func `recovery wrote over what the last whole superblock needed`() throws {
        var random = SeededRandom(for: "RecoveryCutTests")
        let seed = random.seed
        let image = try store([
            .insert, .grow, .checkpoint, .blob, .delete, .reopen, .update, .delete, .checkpoint,
            .insert, .update,
        ])
        let engine = try Engine.open(
            path: "store", options: CrashProof.options, files: SimulatedDisk(image, seed: 1))
        let commit = try engine.snapshot().commitNumber
        try engine.close()
        var checkCount = 0
        try recover(PowerCut(image, seed: seed), seed: seed) { medium, effect in
            guard case .durableWrite = effect else { return }
            var dead = medium
            dead.interrupt(effect)
            try recover(dead, seed: seed &+ 1) { medium, effect in
                var medium = medium
                try medium.forEachImage(running: effect) { cut in
                    guard random.below(4) == 0 else { return }
                    let again = PowerCut(cut.disk, seed: seed)
                    var call = 0
                    try recover(again, seed: seed &+ 2) { medium, effect in
                        call += 1
                        guard call <= 2 else { return }
                        var medium = medium
                        try medium.forEachImage(running: effect) { last in
                            guard random.below(2) == 0 else { return }
                            checkCount += 1
                            try check(last.disk, commit, "seed \(seed), \(cut.name), \(last.name)")
                        }
                    }
                }
            }
        }
        #expect(checkCount > 2000)
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
