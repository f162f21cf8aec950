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

    /// A bug: the file's size was asked for before its superblocks were read, and both needed more.
    @Test(arguments: [(OpenMode.reading, 2), (.readingPrevious, 1), (.readingPrevious, 2)])
    func `a reader that opens while the file grows finds it whole`(
        mode: OpenMode, count: Int
    ) throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        // An opening chooses a superblock for the store's sizes, and then the one that it shows.
        files.at(.size) {
            files.at(.size) { () throws(StoreError) in
                for _ in 0..<count {
                    let size = shared.writer.statistics.fileSizeInBytes
                    try shared.grow()
                    try shared.writer.checkpointNow()
                    #expect(shared.writer.superblock.requiredLength > size)
                }
            }
        }
        let reader = try shared.reader { $0.mode = mode }
        #expect(files.isIdle)
        let last = UInt64(1 + count)
        #expect(try shared.number(reader.snapshot()) == (mode == .reading ? last : last - 1))
        #expect(
            reader.superblock.generation
                == shared.writer.superblock.generation - (mode == .reading ? 0 : 1))
    }

    /// A bug: the lock stayed, and with it the generation's space, until the file was closed.
    @Test func `a reader that fails while it moves on keeps no new lock`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        let reader = try shared.reader()
        let generation = reader.superblock.generation
        try shared.commit(checkpoints: true)
        files.at(.lock) {
            files.at(.superblockRead) { () throws(StoreError) in
                throw StoreError(.io, "the superblocks cannot be read")
            }
        }
        #expect(throws: StoreError.self) { try reader.advance() }
        #expect(files.isIdle)
        let file = shared.writer.parts.context.file
        #expect(try file.heldGenerations(before: 100) == [generation..<generation + 1])
        #expect(try reader.advance())
        #expect(try shared.number(reader.snapshot()) == 2)
    }

    /// A bug: what a checkpoint replaced was kept for readers of the newest generation alone, and a
    /// reader may come to the one before for as long as no other superblock is written.
    @Test func `a reader of the previous generation keeps its pages during a checkpoint`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(writerFiles: files)
        let ids = shared.ids
        try shared.commit(of: Array(ids[15...]), checkpoints: true)
        try shared.commit(of: Array(ids[..<15]))
        let found = Guarded<(reader: Engine, snapshot: Snapshot)?>(nil)
        files.at(.superblockWrite) { () throws(StoreError) in
            let reader = try shared.reader { $0.mode = .readingPrevious }
            let snapshot = try reader.snapshot()
            found.withLock { $0 = (reader, snapshot) }
        }
        try shared.writer.checkpointNow()
        try shared.commit(4, of: Array(ids[..<15]), checkpoints: true)
        let snapshot = try #require(found.withLock { $0 }).snapshot
        #expect(snapshot.commitNumber == 1)
        #expect(try shared.number(snapshot) == 1)
        #expect(shared.writer.statistics.oldestReaderGeneration == snapshot.generation.number)
    }
}
