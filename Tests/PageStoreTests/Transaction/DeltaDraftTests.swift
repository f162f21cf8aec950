import TestSupport
import Testing

@testable import PageStore

/// Deltas that are computed when a writer finishes editing a page, before the commit that logs
/// them.
@Suite struct DeltaDraftTests {
    private func key(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) }
    }

    /// A store with a tree of many leaves, all of them in the map.
    private func makeStore(
        _ files: FaultyFileSystem, options: Engine.Options = Engine.Options()
    ) throws -> (engine: Engine, tree: TreeID) {
        let engine = try Engine.open(path: "store", options: options, files: files)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let writer = TreeWriter(transaction, tree: tree)
        for number in 0..<2000 {
            let value = [UInt8](repeating: UInt8(number % 251), count: 100)
            _ = try writer.insert(key(2 * number).span, value.span)
        }
        _ = try transaction.commit()
        try engine.checkpointNow()
        return (engine, tree)
    }

    private func expect(
        _ values: [Int: UInt8], _ tree: TreeID, of files: FaultyFileSystem
    ) throws {
        let snapshot = try Engine.open(path: "store", files: files).snapshot()
        for (number, byte) in values {
            let value = try snapshot.withValue(for: key(number).span, in: tree) { $0.array() }
            #expect(value == [UInt8](repeating: byte, count: 100))
        }
    }

    @Test func `a page that changes after its draft is logged in its last state`() throws {
        let files = FaultyFileSystem()
        let (engine, tree) = try makeStore(files)
        let transaction = try engine.beginWrite()
        let writer = TreeWriter(transaction, tree: tree)
        var values: [Int: UInt8] = [:]
        // Back and forth between leaves, by the writer that edited them and without a writer.
        for round in 0..<6 as Range<UInt8> {
            for number in stride(from: 101, to: 4000, by: 400) {
                values[number + 2 * Int(round)] = round
                _ = try writer.insert(
                    key(number + 2 * Int(round)).span,
                    [UInt8](repeating: round, count: 100).span)
            }
        }
        let other = [UInt8](repeating: 9, count: 100)
        _ = try transaction.insert(key(2001).span, other.span, into: tree)
        values[2001] = 9
        _ = try transaction.commit()
        try expect(values, tree, of: files.processDeath())
        try expect(values, tree, of: files.powerCut())
    }

    @Test func `a writer looks a page up again after another writer finished editing it`() throws {
        let files = FaultyFileSystem()
        let (engine, tree) = try makeStore(files)
        let transaction = try engine.beginWrite()
        let (first, second) = (
            TreeWriter(transaction, tree: tree), TreeWriter(transaction, tree: tree)
        )
        var values: [Int: UInt8] = [:]
        func insert(_ number: Int, _ byte: UInt8, by writer: TreeWriter) throws {
            let value = [UInt8](repeating: byte, count: 100)
            values[number] = byte
            _ = try writer.insert(key(number).span, value.span)
        }
        try insert(101, 1, by: first)
        try insert(103, 2, by: second)
        try insert(3001, 3, by: second)
        try insert(105, 4, by: first)
        _ = try transaction.commit()
        try expect(values, tree, of: files.processDeath())
    }

    @Test(arguments: [0, 4, 12, 40])
    func `pages drafted before a transaction became large keep their last state`(
        firstCount: Int
    ) throws {
        var random = SeededRandom(for: "DeltaDraftTests large \(firstCount)")
        let files = FaultyFileSystem()
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        options.outOfLineBytesMin = 20 * 4096
        options.checkpointsInBackground = false
        let (engine, tree) = try makeStore(files, options: options)
        let transaction = try engine.beginWrite()
        let writer = TreeWriter(transaction, tree: tree)
        var values: [Int: UInt8] = [:]
        for (round, count) in [firstCount, 300, firstCount].enumerated() {
            for _ in 0..<count {
                let number = random.below(4000)
                values[number] = UInt8(round)
                _ = try writer.insert(
                    key(number).span, [UInt8](repeating: UInt8(round), count: 100).span)
            }
            // Leaves that are filled in order are written at once; emptied ones are freed.
            for number in 0..<(count * 20) {
                values[5000 + number] = UInt8(round)
                _ = try writer.insert(
                    key(5000 + number).span, [UInt8](repeating: UInt8(round), count: 100).span)
            }
            for number in 1000..<(1000 + count) {
                values[number] = nil
                _ = try writer.remove(key(number).span)
            }
        }
        _ = try transaction.commit()
        for image in [files.processDeath(), files.powerCut()] {
            try expect(values, tree, of: image)
            let snapshot = try Engine.open(path: "store", files: image).snapshot()
            for number in 1000..<1300 where values[number] == nil {
                #expect(try !snapshot.contains(key(number).span, in: tree))
            }
        }
    }

    @Test func `pages whose editing was finished are logged as deltas`() throws {
        let files = FaultyFileSystem()
        let (engine, tree) = try makeStore(files)
        let transaction = try engine.beginWrite()
        let writer = TreeWriter(transaction, tree: tree)
        for number in stride(from: 101, to: 4000, by: 400) {
            _ = try writer.insert(key(number).span, [1].span)
        }
        _ = try transaction.commit()
        let frames = try engine.logFrames()
        #expect(frames.filter { $0.type == .delta }.count == 10)
        #expect(frames.allSatisfy { $0.type != .full })
    }

    private func pages() -> (base: PageBuffer, image: PageBuffer) {
        let base = PageBuffer(id: PageID(7), count: 4096)
        _ = NodeView.clearRoot(base, level: 0, firstChild: nil)
        let image = PageBuffer(copying: base)
        image[3000] = 1
        return (base, image)
    }

    @Test func `a drafted delta equals one computed at the commit`() throws {
        let (base, image) = pages()
        var drafts = DeltaDrafts()
        #expect(drafts[image.id] == nil)
        drafts.add(image, from: base)
        let draft = try #require(drafts[image.id])
        let (early, late) = (ByteBuffer(capacity: 512), ByteBuffer(capacity: 512))
        let size = FrameCodec.appendDelta(image, draft, sizeMax: 2048, into: early)
        #expect(FrameCodec.appendDelta(image, from: base, sizeMax: 2048, into: late) == size)
        #expect(early.view == late.view && early.count > 0)
        #expect(FrameCodec.appendDelta(image, draft, sizeMax: 1, into: early) == nil)
        #expect(early.count == late.count)
    }

    @Test func `a draft is dropped when its page is edited again`() throws {
        let (base, image) = pages()
        var drafts = DeltaDrafts()
        drafts.add(image, from: base)
        drafts.remove(image.id)
        #expect(drafts[image.id] == nil)
        drafts.add(image, from: base)
        drafts.removeAll()
        #expect(drafts[image.id] == nil)
    }

    @Test func `drafts of pages that are edited repeatedly take no more memory`() throws {
        let (base, image) = pages()
        var random = SeededRandom(for: "DeltaDraftTests")
        random.bytes(400).withView { image.copy($0, to: 3200) }
        var drafts = DeltaDrafts()
        var sizeMax = 0
        for _ in 0..<4000 {
            drafts.add(image, from: base)
            sizeMax = max(sizeMax, drafts.sizeInBytes)
        }
        #expect(drafts[image.id] != nil)
        #expect(sizeMax > 400 && sizeMax < (1 << 20) + 4096)
    }
}
