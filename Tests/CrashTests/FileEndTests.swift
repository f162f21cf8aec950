import PageStore
import Proof
import Testing

/// The file's size after a power cut: a write through to the medium makes its own bytes durable,
/// and not what others have written behind them without waiting.
@Suite struct FileEndTests {
    /// A bug: a cancelled transaction had made the file longer without a sync, and the log went on
    /// in a segment there. After a power cut the file was shorter than the LINK said, and the store
    /// did not open, though its commits were on the medium.
    @Test func `the log goes on in no segment that the medium may not have`() throws {
        let disk = SimulatedDisk(seed: 1, records: true)
        let options = CrashProof.options
        var player = try ScriptPlayer(
            disk: disk, options: options, history: ScriptHistory(), seed: 1,
            effectCount: { disk.effectCount })
        for step: ScriptStep in [.insert, .cancel, .rotate, .rotate] { try player.run(step) }
        let commit = try player.engine.snapshot().commitNumber
        #expect(try player.engine.logFrames().count { $0.type == .link } >= 2)
        var medium = PowerCut(DiskImage(), seed: 2)
        for effect in disk.effects { medium.complete(effect) }
        try medium.forEachImage(running: nil) { image in
            let engine = try Engine.open(
                path: "store", options: options, files: SimulatedDisk(image.disk, seed: 3))
            #expect(try engine.snapshot().commitNumber == commit, "\(image.name)")
        }
    }
}
