import Foundation
import TestSupport
import Testing

@testable import PageStore

/// A store that one open file writes and others read: to the system they are like separate
/// processes.
@Suite struct FollowTests {
    /// A file whose pages all hold the number of the last commit.
    final class Shared: Sendable {
        let folder: URL
        let path: String
        let writer: Engine
        let ids: [PageID]
        private let files: any FileSystem

        init(
            pageCount: Int = 30, files: any FileSystem = DiskFileSystem.shared,
            writerFiles: any FileSystem = DiskFileSystem.shared,
            _ change: (inout Engine.Options) -> Void = { _ in }
        ) throws {
            self.files = files
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("follow-\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appendingPathComponent("store").path
            var options = Engine.Options()
            options.checkpointsInBackground = false
            change(&options)
            writer = try Engine.open(path: path, options: options, files: writerFiles)
            let transaction = try writer.beginWrite()
            var random = SeededRandom(seed: 7)
            ids = try (0..<pageCount).map { _ in
                let page = try transaction.allocatePage(.overflow)
                random.bytes(16_000).withView { page.copy($0, to: 300) }
                page.setUInt64(1, at: 100)
                return page.id
            }
            _ = try transaction.commit()
            try writer.checkpointNow()
        }

        deinit {
            try? writer.close()
            try? FileManager.default.removeItem(at: folder)
        }

        /// - Parameter changed: the pages that the commits change; nil for all.
        func commit(
            _ count: Int = 1, of changed: [PageID]? = nil, _ durability: Durability = .durable,
            checkpoints: Bool = false
        ) throws(StoreError) {
            for _ in 0..<count {
                let transaction = try writer.beginWrite()
                try number(changed ?? ids, transaction)
                _ = try transaction.commit(durability)
                if checkpoints { try writer.checkpointNow() }
            }
        }

        /// Commits as many new pages as there were at first.
        func grow() throws(StoreError) {
            let transaction = try writer.beginWrite()
            try number(ids, transaction)
            var random = SeededRandom(seed: transaction.nextCommitNumber)
            for _ in ids {
                let page = try transaction.allocatePage(.overflow)
                random.bytes(16_000).withView { page.copy($0, to: 300) }
            }
            _ = try transaction.commit()
        }

        private func number(
            _ ids: [PageID], _ transaction: WriteTransaction
        ) throws(StoreError) {
            for id in ids {
                try transaction.editablePage(id).setUInt64(
                    transaction.nextCommitNumber, at: 100)
            }
        }

        func reader(
            _ change: (inout Engine.Options) -> Void = { _ in }
        ) throws(StoreError) -> Engine {
            var options = Engine.Options()
            options.mode = .reading
            // Next to nothing stays in memory, so that reads come from the file.
            options.cacheSizeInBytes = 40_000
            change(&options)
            return try Engine.open(path: path, options: options, files: files)
        }

        /// The commit that a snapshot shows: all its pages must agree.
        func number(_ snapshot: Snapshot) throws -> UInt64 {
            let numbers = Set(try ids.map { try snapshot.page($0).uint64(at: 100) })
            #expect(numbers == [snapshot.commitNumber])
            return snapshot.commitNumber
        }
    }

    @Test func `a reader sees what another open file has committed, once it moves on`() throws {
        let shared = try Shared()
        try shared.commit(3)
        let reader = try shared.reader()
        #expect(try shared.number(reader.snapshot()) == 4)
        #expect(try !reader.advance())
        let before = try reader.snapshot()
        try shared.commit(2)
        #expect(try shared.number(reader.snapshot()) == 4)
        #expect(try reader.advance())
        #expect(try shared.number(reader.snapshot()) == 6)
        #expect(try shared.number(before) == 4)
        try shared.writer.checkpointNow()
        try shared.commit()
        #expect(try reader.advance())
        #expect(try shared.number(reader.snapshot()) == 7)
        #expect(try shared.number(before) == 4)
        let error = #expect(throws: StoreError.self) { _ = try reader.beginWrite() }
        #expect(error?.code == .readOnly)
    }

    @Test(arguments: [0, 1, 40, 1000])
    func `a reader follows the log across segments and checkpoints`(every: Int) throws {
        let shared = try Shared {
            $0.logSegmentSizeInBytes = 16_384
            $0.logBytesMax = 200_000
        }
        let reader = try shared.reader()
        for round in 1...120 as ClosedRange<UInt64> {
            try shared.commit(checkpoints: every > 0 && Int(round) % every == 0)
            guard round % 3 == 0 else { continue }
            #expect(try reader.advance())
            #expect(try shared.number(reader.snapshot()) == round + 1)
        }
        #expect(shared.writer.statistics.checkpoints > 2)
    }

    @Test func `a snapshot of another open file stays what it was over checkpoints`() throws {
        let shared = try Shared()
        let reader = try shared.reader()
        let snapshot = try reader.snapshot()
        let generation = reader.superblock.generation
        try shared.commit(30, checkpoints: true)
        let figures = shared.writer.statistics
        #expect(figures.oldestReaderGeneration == generation)
        // One image of each page and its map, and nothing of the commits that came after it.
        #expect(figures.heldBytes >= 30 * 16_384 && figures.heldBytes < 2 * 30 * 16_384)
        #expect(figures.fileSizeInBytes < 10 * 30 * 16_384)
        #expect(try shared.number(snapshot) == 1)
        // The reader moves on, the snapshot stays.
        #expect(try reader.advance())
        #expect(try shared.number(reader.snapshot()) == 31)
        try shared.commit(10, checkpoints: true)
        #expect(try shared.number(snapshot) == 1)
    }

    @Test func `space held by another open file is freed when that advances or closes`() throws {
        let shared = try Shared()
        let reader = try shared.reader()
        try shared.commit(10, checkpoints: true)
        #expect(shared.writer.statistics.heldBytes > 0)
        #expect(try reader.advance())
        try shared.commit(3, checkpoints: true)
        let afterMove = shared.writer.statistics
        #expect(afterMove.oldestReaderGeneration == reader.superblock.generation)
        try reader.close()
        try shared.commit(1, checkpoints: true)
        #expect(shared.writer.statistics.heldBytes == 0)
        #expect(shared.writer.statistics.oldestReaderGeneration == nil)
    }

    @Test func `a writer that recovers honours the readers that it finds`() throws {
        let shared = try Shared()
        try shared.commit(3)
        let reader = try shared.reader()
        let snapshot = try reader.snapshot()
        for round in 1...4 as ClosedRange<UInt64> {
            try shared.writer.close()
            var options = Engine.Options()
            options.checkpointsInBackground = false
            let writer = try Engine.open(path: shared.path, options: options)
            for id in shared.ids {
                let transaction = try writer.beginWrite()
                try transaction.editablePage(id).setUInt64(1000 + round, at: 100)
                _ = try transaction.commit()
                try writer.checkpointNow()
            }
            try writer.close()
            #expect(try shared.number(snapshot) == 4)
        }
        #expect(try reader.advance())
        #expect(try reader.snapshot().page(shared.ids[0]).uint64(at: 100) == 1004)
    }

    @Test func `the checkpoint before the newest can be read beside a writer`() throws {
        let shared = try Shared()
        try shared.commit(5, checkpoints: true)
        let reader = try shared.reader { $0.mode = .readingPrevious }
        let snapshot = try reader.snapshot()
        #expect(try shared.number(snapshot) == 5)
        try shared.commit(10, checkpoints: true)
        #expect(try shared.number(snapshot) == 5)
        #expect(try !reader.advance())
    }

    @Test func `a reader without locks gets an error and never other bytes`() throws {
        let shared = try Shared(files: LocklessFileSystem())
        let reader = try shared.reader()
        let snapshot = try reader.snapshot()
        #expect(try shared.number(snapshot) == 1)
        try shared.commit(10, checkpoints: true)
        let error = #expect(throws: StoreError.self) { _ = try shared.number(snapshot) }
        #expect(error?.code == .snapshotTooOld)
        #expect(try reader.advance())
        #expect(try shared.number(reader.snapshot()) == 11)
    }

    @Test func `a reader past the age limit gets an error and never other bytes`() throws {
        let shared = try Shared { $0.snapshotAgeMax = .zero }
        let reader = try shared.reader()
        let snapshot = try reader.snapshot()
        try shared.commit(10, checkpoints: true)
        let error = #expect(throws: StoreError.self) { _ = try shared.number(snapshot) }
        #expect(error?.code == .snapshotTooOld)
    }

    /// A bug: a reader that was given up and walked the map was told that the file is damaged.
    @Test func `a reader past the age limit is told so where it walks the map`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("follow-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store").path
        // Small enough that the map has two levels.
        var options = Engine.Options.small
        options.pageSizeInBytes = 512
        options.snapshotAgeMax = .zero
        let writer = try Engine.open(path: path, options: options)
        func change(_ ids: [PageID], _ byte: UInt8) throws {
            let transaction = try writer.beginWrite()
            for id in ids { try transaction.editablePage(id)[100] = byte }
            _ = try transaction.commit()
            try writer.checkpointNow()
        }
        let transaction = try writer.beginWrite()
        let ids = try (0..<200).map { _ in try transaction.allocatePage(.overflow).id }
        _ = try transaction.commit()
        try writer.checkpointNow()
        options.mode = .reading
        let reader = try Engine.open(path: path, options: options)
        let snapshot = try reader.snapshot()
        #expect(snapshot.generation.map.depth == 2)
        try change(ids, 1)
        for byte in 2...12 as ClosedRange<UInt8> { try change(ids, byte) }
        for read in [
            { _ = try snapshot.content() }, { _ = try snapshot.places() },
            { _ = try snapshot.pagesChanged(since: 0) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreError.self) { try read() }
            #expect(error?.code == .snapshotTooOld)
        }
        try reader.close()
        try writer.close()
    }

    /// A bug: the writer had used a reader's space again, its successor took the reader for a young
    /// one and the log for damage, and nothing could be written until the reader ended.
    @Test func `a writer takes over a log in the space of a reader past the age limit`() throws {
        let shared = try Shared { $0.snapshotAgeMax = .zero }
        let reader = try shared.reader()
        let snapshot = try reader.snapshot()
        try shared.commit(2, checkpoints: true)
        try shared.commit(4, .bulk)
        try shared.writer.close(makesCheckpoint: false)
        var options = Engine.Options()
        options.checkpointsInBackground = false
        options.snapshotAgeMax = .seconds(3600)
        for round in 1...3 as ClosedRange<UInt64> {
            let writer = try Engine.open(path: shared.path, options: options)
            #expect(try shared.number(writer.snapshot()) == 6 + round)
            let transaction = try writer.beginWrite()
            for id in shared.ids {
                try transaction.editablePage(id).setUInt64(7 + round, at: 100)
            }
            _ = try transaction.commit()
            try writer.checkpointNow()
            #expect(try shared.number(writer.snapshot()) == 7 + round)
            try writer.close()
        }
        let error = #expect(throws: StoreError.self) { _ = try shared.number(snapshot) }
        #expect(error?.code == .snapshotTooOld)
    }

    @Test func `many readers of many generations are all honoured`() throws {
        let shared = try Shared()
        var snapshots: [Snapshot] = []
        for _ in 0..<12 {
            snapshots.append(try shared.reader().snapshot())
            try shared.commit(2, checkpoints: true)
        }
        for (index, snapshot) in snapshots.enumerated() {
            #expect(try shared.number(snapshot) == UInt64(1 + 2 * index))
        }
        snapshots.removeSubrange(2..<9)
        try shared.commit(6, checkpoints: true)
        for (snapshot, expected) in zip(snapshots, [1, 3, 19, 21, 23] as [UInt64]) {
            #expect(try shared.number(snapshot) == expected)
        }
    }

    /// The writer's first group is incomplete and a later one is whole: to a reader beside the
    /// writer that is a write in progress, to any other reader it is damage.
    @Test func `an incomplete group is pending beside a writer, and damage without one`() throws {
        let shared = try Shared()
        let head = shared.writer.superblock.head
        try shared.commit(3)
        // Read before it is cut: the writer's close would checkpoint.
        let file = try DiskFileSystem.shared.open(shared.path, .readWrite)
        let zeros = [UInt8](repeating: 0, count: 512)
        try zeros.withView { bytes throws(StoreError) in
            try file.write(bytes, at: head.byteOffset)
        }
        let reader = try shared.reader()
        #expect(try shared.number(reader.snapshot()) == 1)
        let copy = shared.path + "-copy"
        try FileManager.default.copyItem(atPath: shared.path, toPath: copy)
        var options = Engine.Options()
        options.mode = .reading
        let error = #expect(throws: StoreError.self) {
            try Engine.open(path: copy, options: options)
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("durable") == true)
    }

    @Test func `a follower does not read a whole segment for a small commit`() throws {
        let shared = try Shared { $0.logSegmentSizeInBytes = 4 << 20 }
        let reader = try shared.reader { $0.cacheSizeInBytes = 16 << 20 }
        for _ in 0..<5 {
            _ = try shared.number(reader.snapshot())
            try shared.commit()
            let before = reader.statistics.bytesRead
            #expect(try reader.advance())
            #expect(reader.statistics.bytesRead - before < 200_000)
            #expect(try shared.number(reader.snapshot()) == shared.writer.snapshot().commitNumber)
        }
    }

    @Test func `a follower reads frames wherever its pieces end`() throws {
        let shared = try Shared { $0.logSegmentSizeInBytes = 4 << 20 }
        let reader = try shared.reader()
        var random = SeededRandom(for: "FollowTests")
        for _ in 0..<20 {
            for _ in 0..<1 + random.below(4) {
                let transaction = try shared.writer.beginWrite()
                let number = try shared.writer.snapshot().commitNumber + 1
                for id in shared.ids {
                    let page = try transaction.editablePage(id)
                    random.bytes(1 + random.below(16_000)).withView { page.copy($0, to: 300) }
                    page.setUInt64(number, at: 100)
                }
                _ = try transaction.commit()
            }
            #expect(try reader.advance())
            #expect(try shared.number(reader.snapshot()) == shared.writer.snapshot().commitNumber)
        }
    }

    @Test func `tools list the log beside a writer`() throws {
        let shared = try Shared()
        try shared.commit(3)
        let reader = try shared.reader { $0.mode = .readingDamaged }
        try shared.commit(2, checkpoints: true)
        #expect(reader.damage.isEmpty)
        let commits = try reader.logFrames().compactMap(\.commitNumber)
        #expect(commits == [2, 3, 4])
        #expect(try shared.number(reader.snapshot()) == 4)
    }
}

/// The machine's file system, presented as one without locks.
struct LocklessFileSystem: ForwardingFileSystem {
    let base: any FileSystem = DiskFileSystem.shared

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        LocklessFile(try base.open(path, mode))
    }
}

private final class LocklessFile: ForwardingFile {
    let file: any StoreFile

    init(_ file: any StoreFile) { self.file = file }
}
