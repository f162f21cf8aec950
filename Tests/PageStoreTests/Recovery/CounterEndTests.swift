import TestSupport
import Testing

@testable import PageStore

/// A counter of the file that has come to its end refuses the write that would pass it; the
/// commits before stay, are read on, and are there when the file is opened again.
@Suite struct CounterEndTests {
    private static var options: Engine.Options {
        var options = Engine.Options.small
        options.logBytesMax = 16_384
        return options
    }

    private static let commitCountMax = 2000

    private func open(_ files: FaultyFileSystem, _ mode: OpenMode = .writing) throws -> Engine {
        var options = Self.options
        options.mode = mode
        return try Engine.open(path: "store", options: options, files: files)
    }

    /// A closed store with three commits, both superblocks of which were changed.
    ///
    /// - Parameter newestSlot: which of them is the current one.
    private func store(
        newestSlot: UInt64 = 0, _ change: (inout Superblock) -> Void
    ) throws -> FaultyFileSystem {
        let files = FaultyFileSystem()
        let engine = try open(files)
        for number in 1...3 { try put(number, in: engine) }
        repeat {
            try engine.checkpointNow()
        } while engine.superblock.generation & 1 != newestSlot
        try engine.close()
        try changeSuperblocks(of: files, change)
        return files
    }

    private func changeSuperblocks(
        of files: FaultyFileSystem, _ change: (inout Superblock) -> Void
    ) throws {
        var bytes = files.bytes
        let size = SuperblockLayout.size
        for slot in 0..<2 {
            let range = slot * size..<(slot + 1) * size
            var superblock = try Array(bytes[range]).withView { view throws(StoreError) in
                try Superblock.decode(view, slot: slot)
            }
            change(&superblock)
            let encoded = superblock.encoded()
            bytes.replaceSubrange(range, with: encoded.view.array())
            withExtendedLifetime(encoded) {}
        }
        files.bytes = bytes
    }

    /// The same with the newest generation at a distance from the end, and the one before it.
    private func store(generationsLeft: UInt64) throws -> FaultyFileSystem {
        let newest = Limits.numberMax - generationsLeft
        return try store(newestSlot: newest & 1) { superblock in
            let isNewest = superblock.generation & 1 == newest & 1
            superblock.generation = isNewest ? newest : newest - 1
        }
    }

    /// Commits a number: the one entry of the store's tree.
    private func put(_ number: Int, in engine: Engine) throws {
        let transaction = try engine.beginWrite()
        do {
            let tree =
                try transaction.catalogRoot.map { TreeID(root: $0) }
                ?? transaction.createTree()
            transaction.catalogRoot = tree.root
            var random = SeededRandom(seed: UInt64(number))
            let value = Array("\(number) ".utf8) + random.bytes(200)
            _ = try transaction.insert(Array("number".utf8).span, value.span, into: tree)
            _ = try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }

    private func number(in engine: Engine) throws -> Int {
        let snapshot = try engine.snapshot()
        let root = try #require(snapshot.catalogRoot)
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        guard try cursor.seekFirst() else { return 0 }
        let digits = try cursor.value().array().prefix { $0 != UInt8(ascii: " ") }
        return try #require(Int(String(decoding: digits, as: UTF8.self)))
    }

    /// Commits until the store refuses. Returns the last number that it took.
    private func fill(_ engine: Engine) throws -> Int {
        var last = try number(in: engine)
        for _ in 0..<Self.commitCountMax {
            do {
                try put(last + 1, in: engine)
                last += 1
            } catch let error as StoreError {
                #expect(error.code == .tooLarge)
                #expect(error.path == "store")
                #expect(try number(in: engine) == last)
                return last
            }
        }
        Issue.record("the counter has no end")
        return last
    }

    /// A process that dies, or the power, leaves a file that both modes open, and that is right.
    private func expect(_ files: FaultyFileSystem, _ expected: Int) throws {
        for survivor in [files.powerCut(), files.processDeath()] {
            for mode in [OpenMode.reading, .writing] {
                let engine = try open(survivor, mode)
                #expect(try number(in: engine) == expected)
                #expect(StoreCheck.run(try engine.snapshot()) == [])
                try close(engine)
            }
        }
    }

    /// Closing may say that no number was left for a checkpoint, or for writing anew the commits
    /// that the opening found: the log has them.
    private func close(_ engine: Engine) throws {
        do {
            try engine.close()
        } catch {
            #expect(error.code == .tooLarge || error.code == .commitUncertain)
            #expect(error.message.contains("used up"))
        }
    }

    @Test(arguments: 0...3 as ClosedRange<UInt64>)
    func `commit numbers that are used up refuse the next commit`(_ left: UInt64) throws {
        let files = try store { $0.commitNumber = Limits.numberMax - left }
        let engine = try open(files)
        #expect(try fill(engine) == 3 + Int(left))
        #expect(try engine.snapshot().commitNumber == Limits.numberMax)
        try expect(files, 3 + Int(left))
        try engine.checkpointNow()
        #expect(try fill(engine) == 3 + Int(left))
        try expect(files, 3 + Int(left))
        try engine.close()
        try expect(files, 3 + Int(left))
    }

    @Test(arguments: 0...4 as ClosedRange<UInt64>)
    func `segment numbers that are used up refuse the commit that needs a segment`(
        _ left: UInt64
    ) throws {
        let files = try store { $0.head.number = Limits.numberMax - left }
        let engine = try open(files)
        let last = try fill(engine)
        #expect(left == 0 ? last == 3 : last > 3)
        #expect(try fill(engine) == last)
        try expect(files, last)
        #expect(throws: StoreError.self) { try engine.checkpointNow() }
        try expect(files, last)
        try close(engine)
        try expect(files, last)
    }

    @Test(arguments: 0...32 as ClosedRange<UInt64>)
    func `generations that are used up refuse commits, not only checkpoints`(
        _ left: UInt64
    ) throws {
        let files = try store(generationsLeft: left)
        let engine = try open(files)
        let last = try fill(engine)
        #expect(left < 16 ? last == 3 : last > 3)
        #expect(try fill(engine) == last)
        try expect(files, last)
        #expect(throws: StoreError.self) { try engine.checkpointNow() }
        try close(engine)
        try expect(files, last)
    }

    @Test(arguments: 0...32 as ClosedRange<UInt64>)
    func `a vacuum near the last generation ends or is refused, and loses nothing`(
        _ left: UInt64
    ) throws {
        let files = try store(generationsLeft: left)
        let engine = try open(files)
        do {
            _ = try engine.vacuum(byteBudget: 1 << 20)
            #expect(left > 16)
        } catch {
            #expect(error.code == .tooLarge)
            #expect(left < 30)
        }
        try expect(files, 3)
        try close(engine)
        try expect(files, 3)
    }

    @Test func `a copy of a store without generations takes commits`() throws {
        let engine = try open(try store(generationsLeft: 0))
        let target = FaultyFileSystem()
        try engine.copy(to: "store", files: target)
        let copy = try open(target)
        try put(4, in: copy)
        try copy.close()
        try expect(target, 4)
        try engine.close()
    }

    @Test func `a copy without generations is not brought up to date, and stays as it was`() throws
    {
        let files = FaultyFileSystem()
        let engine = try open(files)
        try put(1, in: engine)
        let target = FaultyFileSystem()
        try engine.copy(to: "store", files: target)
        try changeSuperblocks(of: target) { superblock in
            superblock.generation = Limits.numberMax - 2 + (superblock.generation & 1)
        }
        try put(2, in: engine)
        let error = #expect(throws: StoreError.self) {
            try engine.updateCopy(at: "store", files: target)
        }
        #expect(error?.code == .tooLarge)
        try expect(target, 1)
        try engine.close()
        try expect(files, 2)
    }

    @Test(arguments: [1, 2, 9] as [UInt64])
    func `page ids that are used up refuse the page`(_ left: UInt64) throws {
        let files = try store { $0.pageCount = Limits.pageCountMax - left }
        let engine = try open(files)
        // Each value has a page of its own, which a later commit does not free.
        func add(_ number: Int) throws {
            let transaction = try engine.beginWrite()
            do {
                let tree = TreeID(root: try #require(transaction.catalogRoot))
                let value = [UInt8](repeating: UInt8(number), count: 600)
                _ = try transaction.insert(Array("z\(number)".utf8).span, value.span, into: tree)
                _ = try transaction.commit()
            } catch {
                transaction.rollback()
                throw error
            }
        }
        var error: StoreError?
        var count = 0
        while error == nil, count < 20 {
            do {
                try add(count)
                count += 1
            } catch let refusal as StoreError {
                error = refusal
            }
        }
        #expect(error?.code == .tooLarge)
        #expect(count >= Int(left))
        let newest = try engine.snapshot().content().pages.map(\.rawValue).max()
        #expect(newest == Limits.pageCountMax - 1)
        // A commit that needs no new page goes on.
        try put(7, in: engine)
        try expect(files, 7)
        try engine.checkpointNow()
        #expect(throws: StoreError.self) { try add(count) }
        try put(8, in: engine)
        try expect(files, 8)
        try engine.close()
        try expect(files, 8)
    }
}
