import Foundation
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

    /// A bug: the other superblock was half written when it was read, and counted as damaged.
    @Test func `a reader of the previous generation reads a superblock again`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        try shared.commit(checkpoints: true)
        let previous = shared.writer.superblock.generation - 1
        let copy = try #require(
            SuperblockCopy.read(path: shared.path).copies.first {
                (try? $0.outcome.get())?.generation == previous
            })
        let whole = try Data(contentsOf: URL(fileURLWithPath: shared.path))
        @Sendable func write(_ bytes: Data) {
            let file = FileHandle(forWritingAtPath: shared.path)
            try? file?.seek(toOffset: copy.byteOffset)
            try? file?.write(contentsOf: bytes)
            try? file?.close()
        }
        let start = Int(copy.byteOffset)
        let slot = Data(whole[start..<start + SuperblockLayout.size])
        @Sendable func at(read number: Int, _ step: @escaping SteppingFiles.Step) {
            files.at(.superblockRead) { () throws(StoreError) in
                guard number > 1 else { return try step() }
                at(read: number - 1, step)
            }
        }
        // The opening reads both; then both are read to be shown, and once more.
        at(read: 3) {
            write(Data(slot[..<100] + Data(count: 100) + slot[200...]))
            at(read: 2) { write(slot) }
        }
        let reader = try shared.reader { $0.mode = .readingPrevious }
        #expect(files.isIdle && reader.superblock.generation == previous)
        #expect(try shared.number(reader.snapshot()) == 1)
    }

    @Test func `one superblock that cannot be read is enough to look at a file`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        func failOnce() {
            files.at(.superblockRead) { () throws(StoreError) in
                throw StoreError(.io, "the sector cannot be read")
            }
        }
        failOnce()
        // It may be the newer one.
        let error = #expect(throws: StoreError.self) { _ = try shared.reader() }
        #expect(error?.code == .io)
        failOnce()
        let outcomes = try SuperblockCopy.read(path: shared.path, files: files).copies
            .map { try? $0.outcome.get().generation }
        #expect(outcomes == [nil, shared.writer.superblock.generation])
        failOnce()
        let reader = try shared.reader { $0.mode = .readingDamaged }
        #expect(files.isIdle)
        #expect(try shared.number(reader.snapshot()) == 1)
    }

    /// A bug: the reader went on, and compared commits of two histories.
    @Test(arguments: [1, 3, 5])
    func `a reader ends when its file is put back from an earlier copy`(later: Int) throws {
        let shared = try FollowTests.Shared()
        let earlier = try Data(contentsOf: URL(fileURLWithPath: shared.path))
        try shared.commit(3)
        let reader = try shared.reader()
        try shared.writer.close()
        let file = try #require(FileHandle(forWritingAtPath: shared.path))
        try file.write(contentsOf: earlier)
        try file.truncate(atOffset: UInt64(earlier.count))
        try file.close()
        let writer = try Engine.open(path: shared.path)
        for _ in 0..<later {
            let transaction = try writer.beginWrite()
            for id in shared.ids {
                try transaction.editablePage(id).setUInt64(transaction.nextCommitNumber, at: 100)
            }
            _ = try transaction.commit()
        }
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { _ = try reader.advance() }
            #expect(error?.code == .fileReplaced)
        }
        try writer.close()
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
