import TestSupport
import Testing

@testable import PageStore

/// Deltas as another implementation of a writer could make them.
@Suite struct DeltaFrameTests {
    /// A store whose log ends with a delta that sets byte 100 of the page from 1 to 7; the frame's
    /// hash is that of a page with the given value there.
    private func store(hashOf value: UInt8) throws -> FaultyFileSystem {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        let transaction = try engine.beginWrite()
        let page = try transaction.allocatePage(.overflow)
        page[100] = 1
        transaction.catalogRoot = page.id
        _ = try transaction.commit()
        let frames = try engine.logFrames()
        let last = try #require(frames.last)
        let end = Int(last.byteOffset) + last.length
        let chain = files.bytes.withView { $0.uint64(at: Int(last.byteOffset)) }
        let log = ByteBuffer(capacity: 32_768)
        FrameCodec.appendGroup(
            salt: engine.superblock.head.salt, number: 9, durableCommit: 1, into: log)
        let image = PageBuffer(copying: page)
        image[100] = 7
        let start = log.count
        #expect(FrameCodec.appendDelta(image, from: page, sizeMax: 4096, into: log) != nil)
        image[100] = value
        log.setUInt64(
            Checksum.hash(image.view, seed: page.id.rawValue), at: start + FrameLayout.imageHash)
        FrameCodec.appendCommit(
            number: 2, pageCount: 2, catalogRoot: page.id.rawValue, time: 0, into: log)
        FrameCodec.appendPad(into: log)
        _ = FrameCodec.seal(log, chain: chain)
        var bytes = files.bytes
        bytes.replaceSubrange(end..<(end + log.count), with: log.view.array())
        return FaultyFileSystem(bytes: bytes)
    }

    @Test func `a delta is applied to the version before it`() throws {
        let files = try store(hashOf: 7)
        for _ in 0..<2 {
            let engine = try Engine.open(path: "store", files: files)
            let snapshot = try engine.snapshot()
            #expect(snapshot.commitNumber == 2)
            #expect(try snapshot.page(PageID(1))[100] == 7)
            try engine.checkpointNow()
        }
    }

    @Test func `a delta whose result has another hash is damage`() throws {
        let files = try store(hashOf: 8)
        let error = #expect(throws: StoreError.self) {
            try Engine.open(path: "store", files: files)
        }
        #expect(error?.code == .corrupt)
        #expect(error?.page == 1)
    }

    /// A bug: the page got the ID that was said to be freed, and the next opening found it past the
    /// count of pages.
    @Test func `an ID that was freed and never allocated is not given out`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.allocatePage(.overflow).id
        _ = try transaction.commit()
        let last = try #require(try engine.logFrames().last)
        let end = Int(last.byteOffset) + last.length
        let log = ByteBuffer(capacity: 4096)
        FrameCodec.appendGroup(
            salt: engine.superblock.head.salt, number: 9, durableCommit: 1, into: log)
        FrameCodec.appendFree([PageID(900)], into: log)
        FrameCodec.appendCommit(number: 2, pageCount: 2, catalogRoot: 1, time: 0, into: log)
        FrameCodec.appendPad(into: log)
        _ = FrameCodec.seal(
            log, chain: files.bytes.withView { $0.uint64(at: Int(last.byteOffset)) })
        var bytes = files.bytes
        bytes.replaceSubrange(end..<(end + log.count), with: log.view.array())
        let again = try Engine.open(path: "store", files: FaultyFileSystem(bytes: bytes))
        #expect(try again.snapshot().commitNumber == 2)
        let next = try again.beginWrite()
        #expect(try next.allocatePage(.overflow).id == PageID(2))
        next.rollback()
    }
}
