import TestSupport
import Testing

@testable import PageStore

/// The reader understands frames that this version's writer does not choose to write.
@Suite struct DeltaFrameTests {
    /// A store whose log ends with a delta that sets byte 100 of the page from 1 to 7.
    private func store(xor difference: UInt8, hashOf value: UInt8) throws -> FaultyFileSystem {
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
        image[100] = value
        let start = FrameCodec.begin(
            .delta, bodySize: FrameLayout.payload - FrameLayout.size, into: log)
        var difference = [UInt8](repeating: 0, count: 100) + [difference]
        difference += [UInt8](repeating: 0, count: image.count - difference.count)
        difference.withView { log.append($0) }
        log.setUInt64(page.id.rawValue, at: start + FrameLayout.pageID)
        log.setUInt64(
            Checksum.hash(image.view, seed: page.id.rawValue), at: start + FrameLayout.imageHash)
        log.setUInt32(UInt32(image.count), at: start + FrameLayout.rawLength)
        log.setUInt32(UInt32(image.count), at: start + FrameLayout.storedLength)
        FrameCodec.end(start, in: log)
        FrameCodec.appendCommit(
            number: 2, pageCount: 2, catalogRoot: page.id.rawValue, time: 0, into: log)
        FrameCodec.appendPad(into: log)
        _ = FrameCodec.seal(log, chain: chain)
        var bytes = files.bytes
        bytes.replaceSubrange(end..<(end + log.count), with: log.view.array())
        return FaultyFileSystem(bytes: bytes)
    }

    @Test func `a delta is applied to the version before it`() throws {
        let files = try store(xor: 1 ^ 7, hashOf: 7)
        for _ in 0..<2 {
            let engine = try Engine.open(path: "store", files: files)
            let snapshot = try engine.snapshot()
            #expect(snapshot.commitNumber == 2)
            #expect(try snapshot.page(PageID(1))[100] == 7)
            try engine.checkpointNow()
        }
    }

    @Test func `a delta whose result has another hash is damage`() throws {
        let files = try store(xor: 1 ^ 8, hashOf: 7)
        let error = #expect(throws: StoreError.self) {
            try Engine.open(path: "store", files: files)
        }
        #expect(error?.code == .corrupt)
        #expect(error?.page == 1)
    }
}
