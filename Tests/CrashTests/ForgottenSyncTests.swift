import PageStore
import Proof
import Testing

/// A store that is opened after a failed sync: its content may be in the system's cache only, where
/// pages count as clean that no later sync will write.
@Suite struct ForgottenSyncTests {
    private static let path = "store"

    /// A durable commit and a later relaxed one whose sync failed before its process ended.
    private func forgotten() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: 1, records: true)
        let engine = try open(disk)
        try commit(engine, .durable)
        try commit(engine, .relaxed)
        disk.forget(engine.fileIdentity)
        return disk
    }

    private func open(_ files: any FileSystem) throws -> Engine {
        var options = CrashProof.options
        options.checkpointsInBackground = false
        options.relaxedIntervalInMilliseconds = 3_600_000
        return try Engine.open(path: Self.path, options: options, files: files)
    }

    private func commit(_ engine: Engine, _ durability: Durability) throws {
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit(durability)
    }

    /// The commits that the store may show after a power cut now.
    private func commitsAfterCut(_ disk: SimulatedDisk) throws -> Set<UInt64> {
        var medium = PowerCut(DiskImage(), seed: 2)
        for effect in disk.effects { medium.complete(effect) }
        return try commitsAfterCut(of: medium)
    }

    private func commitsAfterCut(of medium: PowerCut) throws -> Set<UInt64> {
        var medium = medium
        var commits: Set<UInt64> = []
        try medium.forEachImage(running: nil) { image in
            let engine = try open(SimulatedDisk(image.disk, seed: 3))
            commits.insert(try engine.snapshot().commitNumber)
        }
        return commits
    }

    @Test func `a power cut loses the writes that a failed sync dropped`() throws {
        #expect(try commitsAfterCut(forgotten()) == [1])
    }

    @Test func `a store that was shown and closed shows the same after a power cut`() throws {
        let disk = try forgotten()
        let engine = try open(disk)
        #expect(try engine.snapshot().commitNumber == 2)
        try engine.close()
        #expect(try commitsAfterCut(disk) == [2])
    }

    /// A process died in the write of a superblock, which the system's cache has and the medium has
    /// not; what it wrote before is durable.
    private func lostSuperblock() throws -> (visible: DiskImage, medium: PowerCut) {
        let disk = SimulatedDisk(seed: 1, records: true)
        let engine = try open(disk)
        for _ in 0..<3 {
            try commit(engine, .durable)
            try engine.checkpointNow()
        }
        var (visible, medium) = (DiskImage(), PowerCut(DiskImage(), seed: 2))
        let effects = disk.effects
        let last = effects.lastIndex { effect in
            guard case .durableWrite(_, let start, _) = effect else { return false }
            return start <= 4096
        }
        for effect in try effects[...#require(last)] { visible.apply(effect) }
        for effect in try effects[..<#require(last)] { medium.complete(effect) }
        return (visible, medium)
    }

    @Test func `a superblock that was read is durable before the other is written`() throws {
        var (visible, medium) = try lostSuperblock()
        let disk = SimulatedDisk(visible, seed: 3, records: true)
        let engine = try open(disk)
        try commit(engine, .durable)
        try engine.close()
        for effect in disk.effects {
            try medium.forEachImage(running: effect) { image in
                let engine = try open(SimulatedDisk(image.disk, seed: 4))
                #expect(try [3, 4].contains(engine.snapshot().commitNumber), "\(image.name)")
            }
            medium.complete(effect)
        }
        #expect(try commitsAfterCut(of: medium) == [4])
    }

    @Test func `a copy contains no commit that its store can lose in a power cut`() throws {
        let disk = try forgotten()
        let engine = try open(disk)
        let copies = SimulatedDisk(seed: 4)
        try engine.copy(to: "copy", files: copies)
        #expect(try commitsAfterCut(disk) == [2])
    }

    /// The copying thread already has the writer lock.
    @Test func `a copy within a transaction does not deadlock`() throws {
        let disk = try forgotten()
        let engine = try open(disk)
        let transaction = try engine.beginWrite()
        try engine.copy(to: "copy", files: SimulatedDisk(seed: 4))
        #expect(try commitsAfterCut(disk) == [2])
        withExtendedLifetime(transaction) {}
    }

    @Test func `closing reports that found commits could not be rewritten on a full disk`() throws {
        let disk = try forgotten()
        let fault = FaultInjector.Fault(call: 1, kind: .diskFull, goesOn: true)
        let engine = try open(FaultInjector(disk, fault))
        let error = #expect(throws: StoreError.self) { try engine.close() }
        #expect(error?.code == .commitUncertain)
        let again = try open(disk)
        #expect(try again.snapshot().commitNumber == 2)
    }
}
