import TestSupport
import Testing

@testable import PageStore

/// The size of a commit in the log, and that it can be read again.
@Suite struct LogSizeTests {
    private func types(_ engine: Engine) throws -> [FrameType] {
        try engine.logFrames().map(\.type).filter { $0 == .full || $0 == .delta }
    }

    @Test func `small changes are logged as deltas, with a whole page from time to time`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        let first = try engine.beginWrite()
        let id = try first.allocatePage(.overflow).id
        _ = try first.commit()
        try engine.checkpointNow()
        for byte in 1...140 as ClosedRange<UInt8> {
            let before = engine.statistics.bytesWritten
            let transaction = try engine.beginWrite()
            try transaction.editablePage(id)[100] = byte
            _ = try transaction.commit()
            #expect(engine.statistics.bytesWritten - before == 512)
        }
        let whole = try types(engine).enumerated().filter { $0.element == .full }.map(\.offset)
        #expect(whole == [64, 129])
        for survivor in [files.processDeath(), files.powerCut()] {
            let again = try Engine.open(path: "store", files: survivor)
            #expect(try again.snapshot().page(id)[100] == 140)
            try again.checkpointNow()
            #expect(try again.snapshot().page(id)[100] == 140)
        }
    }

    @Test func `deltas that pass half a page are followed by a whole page`() throws {
        let engine = try Engine.inMemory()
        var random = SeededRandom(for: "LogSizeTests")
        let first = try engine.beginWrite()
        let id = try first.allocatePage(.overflow).id
        _ = try first.commit()
        try engine.checkpointNow()
        for _ in 0..<4 {
            let transaction = try engine.beginWrite()
            let page = try transaction.editablePage(id)
            random.bytes(3000).withView { page.copy($0, to: 1000) }
            _ = try transaction.commit()
        }
        #expect(try types(engine) == [.delta, .delta, .full, .delta])
    }

    private func insert(_ pageCount: Int, _ engine: Engine, _ random: inout SeededRandom) throws {
        let transaction = try engine.beginWrite()
        for _ in 0..<pageCount {
            let page = try transaction.allocatePage(.overflow)
            random.bytes(16_000).withView { page.copy($0, to: 100) }
        }
        _ = try transaction.commit()
    }

    /// A bug: each commit took a segment, with one wait for its zeros and another for the LINK.
    @Test func `large commits share a segment`() throws {
        let engine = try Engine.inMemory()
        var random = SeededRandom(for: "LogSizeTests segments")
        for _ in 0..<16 { try insert(6, engine, &random) }
        let links = try engine.logFrames().filter { $0.type == .link }.count
        #expect(links <= 7)
    }

    /// A bug: reserving room for more such commits wrote eight times the bytes in zeros.
    @Test func `a large commit reserves no log space for more like it`() throws {
        let engine = try Engine.inMemory()
        var random = SeededRandom(for: "LogSizeTests room")
        let before = engine.statistics.bytesWritten
        try insert(40, engine, &random)
        #expect(engine.statistics.bytesWritten - before < 3 * 40 * 16_384)
    }

    @Test func `a page whose ID is reused is first logged as a whole image`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        let first = try engine.beginWrite()
        let id = try first.allocatePage(.overflow).id
        _ = try first.commit()
        let second = try engine.beginWrite()
        try second.freePage(id)
        _ = try second.commit()
        let third = try engine.beginWrite()
        let page = try third.allocatePage(.overflow)
        page[9] = 9
        #expect(page.id == id)
        _ = try third.commit()
        #expect(try types(engine) == [.full, .full])
        let again = try Engine.open(path: "store", files: files.processDeath())
        #expect(try again.snapshot().page(id)[9] == 9)
    }

    /// A bug: a long log required a long segment, and a small commit failed for lack of space.
    @Test func `a disk with no room for a long segment has room for a short one`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        var random = SeededRandom(for: "LogSizeTests full disk")
        for _ in 0..<4 { try insert(20, engine, &random) }
        let before = engine.statistics
        #expect(before.logBytes > 1 << 20)
        files.fault = .init(calls: [.write], code: .diskFull)
        for _ in 0..<100 { try insert(1, engine, &random) }
        // The fault has occurred: the log continues in a segment made since.
        #expect(engine.statistics.fileSizeInBytes > before.fileSizeInBytes)
        #expect(engine.statistics.checkpoints == before.checkpoints)
    }
}
