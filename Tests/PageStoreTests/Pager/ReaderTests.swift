import Foundation
import Primitives
import TestSupport
import Testing

@testable import PageStore

/// The pages that readers pin, their cost, and the age limit.
@Suite struct ReaderTests {
    private func options(ageMax: Duration? = nil) -> Engine.Options {
        var options = Engine.Options()
        options.checkpointsInBackground = false
        options.snapshotAgeMax = ageMax
        return options
    }

    private func engine(
        _ options: Engine.Options, _ files: any FileSystem = MemoryFileSystem()
    ) throws -> (Engine, [PageID]) {
        let engine = try Engine.open(path: "store", options: options, files: files)
        let transaction = try engine.beginWrite()
        var random = SeededRandom(for: "ReaderTests")
        let ids = try (0..<40).map { _ in
            let page = try transaction.allocatePage(.overflow)
            random.bytes(16_000).withView { page.copy($0, to: 300) }
            page[100] = 1
            return page.id
        }
        _ = try transaction.commit()
        try engine.checkpointNow()
        return (engine, ids)
    }

    private func change(_ engine: Engine, _ ids: [PageID], _ byte: UInt8) throws {
        let transaction = try engine.beginWrite()
        for id in ids { try transaction.editablePage(id)[100] = byte }
        _ = try transaction.commit()
        try engine.checkpointNow()
    }

    @Test func `statistics name the oldest reader and what it holds`() throws {
        let (engine, ids) = try engine(options())
        #expect(engine.statistics.oldestReaderGeneration == nil)
        #expect(engine.statistics.oldestReaderAge == nil)
        let snapshot = try engine.snapshot()
        let generation = engine.statistics.generation
        for byte in 2...6 as ClosedRange<UInt8> { try change(engine, ids, byte) }
        let figures = engine.statistics
        #expect(figures.oldestReaderGeneration == generation)
        #expect(try #require(figures.oldestReaderAge) > .zero)
        // One image of each page, and nothing of the four that came after it.
        #expect(figures.heldBytes >= 40 * 16_384 && figures.heldBytes < 2 * 40 * 16_384)
        #expect(try snapshot.page(ids[0])[100] == 1)
        withExtendedLifetime(snapshot) {}
    }

    @Test func `the space that a reader holds is freed when it ends`() throws {
        let (engine, ids) = try engine(options())
        var snapshot: Snapshot? = try engine.snapshot()
        for byte in 2...4 as ClosedRange<UInt8> { try change(engine, ids, byte) }
        #expect(engine.statistics.heldBytes > 0 && snapshot != nil)
        snapshot = nil
        try change(engine, ids, 9)
        #expect(engine.statistics.heldBytes == 0)
        #expect(engine.statistics.oldestReaderGeneration == nil)
    }

    @Test func `a reader past the age limit gets an error and never other bytes`() throws {
        let (engine, ids) = try engine(options(ageMax: .zero))
        let old = try engine.snapshot()
        #expect(try old.page(ids[0])[100] == 1)
        for byte in 2...9 as ClosedRange<UInt8> { try change(engine, ids, byte) }
        let error = #expect(throws: StoreError.self) { try old.page(ids[3]) }
        #expect(error?.code == .snapshotTooOld)
        let young = try engine.snapshot()
        #expect(try young.page(ids[0])[100] == 9)
        #expect(engine.statistics.heldBytes == 0)
    }

    /// A bug: the age was that of the generation, which may be the newest for any time.
    @Test func `a reader is as old as itself`() throws {
        let ageMax = Duration.milliseconds(300)
        let (engine, ids) = try engine(options(ageMax: ageMax))
        let first = try engine.snapshot()
        Thread.sleep(forTimeInterval: 0.5)
        let clock = ContinuousClock()
        let begin = clock.now
        let young = try engine.snapshot()
        try change(engine, ids, 2)
        let age = clock.now - begin
        // A machine that stands still makes it old.
        if age < ageMax { #expect(try young.page(ids[0])[100] == 1) }
        withExtendedLifetime(first) {}
    }

    /// A bug: what came after it stayed in memory with it, beside the budget.
    @Test func `a reader of an earlier generation keeps what it shows`() throws {
        var options = options()
        options.logBytesMax = 1 << 30
        let (engine, ids) = try engine(options)
        func write(_ byte: UInt8, _ ids: some Sequence<PageID>) throws {
            let transaction = try engine.beginWrite()
            for id in ids { try transaction.editablePage(id)[100] = byte }
            _ = try transaction.commit()
        }
        try write(2, ids.prefix(3))
        let old = try engine.snapshot()
        for byte in 3...6 as ClosedRange<UInt8> { try write(byte, ids) }
        let between = try engine.snapshot()
        try write(7, ids)
        let generation = old.generation
        #expect(generation.imageBytes >= 80 * 16_384)
        try engine.checkpointNow()
        #expect(generation.imageBytes == 43 * 16_384)
        try write(8, ids)
        for (number, id) in ids.enumerated() {
            #expect(try old.page(id)[100] == (number < 3 ? 2 : 1))
            #expect(try between.page(id)[100] == 6)
        }
        #expect(try engine.snapshot().page(ids[0])[100] == 8)
    }

    /// A map that is too large for memory loses its nodes, and they are read again.
    @Test func `a reader past the age limit gets no node of another map`() throws {
        var options = Engine.Options.small
        options.pageSizeInBytes = 512
        options.snapshotAgeMax = .zero
        let engine = try Engine.open(path: "store", options: options, files: MemoryFileSystem())
        let transaction = try engine.beginWrite()
        let ids = try (0..<200).map { _ in try transaction.allocatePage(.overflow).id }
        _ = try transaction.commit()
        try engine.checkpointNow()
        let old = try engine.snapshot()
        for byte in 1...9 as ClosedRange<UInt8> { try change(engine, ids, byte) }
        old.pager.state.withLock { _ in old.generation.map.dropChildren() }
        for read in [
            { _ = try old.content() }, { _ = try old.page(ids[3]) },
            { _ = try old.pagesChanged(since: 0) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreError.self) { try read() }
            #expect(error?.code == .snapshotTooOld)
        }
    }

    /// A bug: ages were differences of the time of day, which is set now and then.
    @Test(arguments: [-1, 1_000_000_000_000_000])
    func `a young reader keeps its state when the clock is set`(nanoseconds: Int64) throws {
        let files = ClockedFiles()
        let (engine, ids) = try engine(options(ageMax: .seconds(3600)), files)
        let snapshot = try engine.snapshot()
        files.setClock(by: nanoseconds)
        for byte in 2...4 as ClosedRange<UInt8> { try change(engine, ids, byte) }
        for id in ids { #expect(try snapshot.page(id)[100] == 1) }
        #expect(try #require(engine.statistics.oldestReaderAge) < .seconds(3600))
        withExtendedLifetime(snapshot) {}
    }

    @Test func `the checkpoint before the newest can be read`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: options(), files: files)
        let transaction = try engine.beginWrite()
        let id = try transaction.allocatePage(.overflow).id
        _ = try transaction.commit()
        for byte in 1...3 as ClosedRange<UInt8> { try change(engine, [id], byte) }
        var options = options()
        options.mode = .reading
        let newest = try Engine.open(path: "store", options: options, files: files.processDeath())
        #expect(try newest.snapshot().page(id)[100] == 3)
        options.mode = .readingPrevious
        let before = try Engine.open(path: "store", options: options, files: files.processDeath())
        #expect(try before.snapshot().page(id)[100] == 2)
        #expect(before.superblock.generation == newest.superblock.generation - 1)
    }
}

/// Files whose clock stands still until it is set.
private final class ClockedFiles: ForwardingFileSystem {
    let base: any FileSystem = MemoryFileSystem()
    private let time = Mutex<UInt64>(1 << 60)

    func setClock(by nanoseconds: Int64) {
        time.withLock { $0 = UInt64(Int64($0) + nanoseconds) }
    }

    func now() -> UInt64 { time.withLock { $0 } }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        try base.open(path, mode)
    }
}
