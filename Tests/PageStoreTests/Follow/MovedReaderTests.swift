import TestSupport
import Testing

@testable import PageStore

/// A writer and a reader each of which is in the middle of a step of its own: a reader that the
/// writer has overtaken reads the superblocks again and starts over.
@Suite struct MovedReaderTests {
    /// Commits and checkpoints in turn while the reader takes a step.
    private func commit(_ count: Int, _ shared: FollowTests.Shared, at files: SteppingFiles) {
        files.at(.lock) { () throws(StoreError) in
            try shared.commit(count, checkpoints: true)
        }
    }

    @Test func `a reader that opens during checkpoints starts again`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        commit(10, shared, at: files)
        let reader = try shared.reader()
        #expect(files.isIdle)
        #expect(try shared.number(reader.snapshot()) == 11)
        #expect(reader.superblock.generation == shared.writer.superblock.generation)
    }

    @Test func `a reader that advances during checkpoints starts again`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        let reader = try shared.reader()
        let before = try reader.snapshot()
        for round in 1...5 as ClosedRange<UInt64> {
            try shared.commit(1, checkpoints: true)
            commit(6, shared, at: files)
            #expect(try reader.advance())
            #expect(files.isIdle)
            let snapshot = try reader.snapshot()
            #expect(try shared.number(snapshot) == 1 + 7 * round)
            // The writer keeps the pages of the reader's snapshot.
            for _ in 0..<3 { try shared.writer.checkpointNow() }
            #expect(try shared.number(snapshot) == 1 + 7 * round)
        }
        #expect(try shared.number(before) == 1)
    }
}
