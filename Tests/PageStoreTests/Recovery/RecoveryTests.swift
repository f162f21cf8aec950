import PageStore
import TestSupport
import Testing

/// The state of a store after its process died or its power failed.
@Suite struct RecoveryTests {
    /// Commits numbers into one page, one after the other.
    private func run(_ files: FaultyFileSystem, rounds: Int, checkpointEvery: Int = .max) throws
        -> PageID
    {
        let engine = try Engine.open(path: "store", options: Self.small, files: files)
        var id = PageID(0)
        for round in 1...rounds {
            let transaction = try engine.beginWrite()
            if id.rawValue == 0 {
                id = try transaction.allocatePage(.overflow).id
                transaction.catalogRoot = id
            }
            try transaction.editablePage(id)[100] = UInt8(round)
            #expect(try transaction.commit() == UInt64(round))
            if round % checkpointEvery == 0 { try engine.checkpointNow() }
        }
        return id
    }

    private static var small: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        return options
    }

    private func value(_ files: FaultyFileSystem, isReadOnly: Bool = false) throws -> UInt8 {
        var options = Self.small
        options.mode = isReadOnly ? .reading : .writing
        let engine = try Engine.open(path: "store", options: options, files: files)
        if !isReadOnly { try engine.beginWrite().rollback() }
        let snapshot = try engine.snapshot()
        guard let root = snapshot.catalogRoot else { return 0 }
        return try snapshot.page(root)[100]
    }

    @Test(arguments: [Int.max, 1, 7])
    func `a power cut loses no acknowledged commit`(checkpointEvery: Int) throws {
        for rounds in [1, 2, 3, 40, 120] {
            let files = FaultyFileSystem()
            _ = try run(files, rounds: rounds, checkpointEvery: checkpointEvery)
            let cut = files.powerCut()
            #expect(try value(cut, isReadOnly: true) == UInt8(rounds))
            #expect(try value(cut) == UInt8(rounds))
            #expect(try value(cut.powerCut()) == UInt8(rounds))
        }
    }

    /// Space that was pending when the other superblock was written may have been reused since.
    @Test func `a store that lost its newest superblock can be written`() throws {
        let files = FaultyFileSystem()
        var options = Self.small
        options.outOfLineBytesMin = 4096
        let engine = try Engine.open(path: "store", options: options, files: files)
        var random = SeededRandom(for: "RecoveryTests newest superblock")
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        _ = try transaction.commit()
        for round in 1...40 {
            let transaction = try engine.beginWrite()
            for _ in 0..<random.below(40) {
                let key = [UInt8(random.below(200))]
                let value = random.bytes(random.below(200))
                try transaction.insert(key.span, value.span, into: tree)
            }
            let commit = try transaction.commit()
            if round % 3 == 0 { try engine.checkpointNow() }
            var bytes = files.powerCut().bytes
            let slot = Int(engine.superblock.byteOffset)
            bytes.replaceSubrange(slot..<slot + 4096, with: repeatElement(0, count: 4096))
            let cut = FaultyFileSystem(bytes: bytes)
            var reading = options
            reading.mode = .reading
            let reader = try Engine.open(path: "store", options: reading, files: cut)
            #expect(StoreCheck.run(try reader.snapshot(), knownTrees: [tree]) == [])
            try reader.close()
            let writer = try Engine.open(path: "store", options: options, files: cut)
            try writer.beginWrite().rollback()
            #expect(try writer.snapshot().commitNumber == commit)
        }
    }

    @Test func `opening for reading only writes nothing`() throws {
        let files = FaultyFileSystem()
        _ = try run(files, rounds: 5)
        let callCount = files.callCount
        #expect(try value(files, isReadOnly: true) == 5)
        #expect(files.callCount == callCount)
        var options = Self.small
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let error = #expect(throws: StoreError.self) { try engine.beginWrite() }
        #expect(error?.code == .readOnly)
    }

    @Test func `any one superblock is enough for the newest commit`() throws {
        for slot in 0..<2 {
            let files = FaultyFileSystem()
            _ = try run(files, rounds: 30, checkpointEvery: 4)
            var bytes = files.bytes
            bytes[slot * 4096 + 40] ^= 1
            #expect(try value(FaultyFileSystem(bytes: bytes)) == 30)
        }
    }

    @Test func `a torn last group is ignored, damage before a durable commit is reported`() throws {
        let files = FaultyFileSystem()
        let id: PageID
        let frames: [LogFrame]
        do {
            let engine = try Engine.open(path: "store", options: Self.small, files: files)
            let transaction = try engine.beginWrite()
            id = try transaction.allocatePage(.overflow).id
            transaction.catalogRoot = id
            _ = try transaction.commit()
            for round in 2...4 as ClosedRange<UInt8> {
                let transaction = try engine.beginWrite()
                try transaction.editablePage(id)[100] = round
                _ = try transaction.commit()
            }
            frames = try engine.logFrames()
        }
        let groups = frames.filter { $0.type == .group }
        #expect(groups.count == 4)
        var torn = files.bytes
        torn[Int(groups[3].byteOffset) + 60] ^= 0x10
        #expect(try value(FaultyFileSystem(bytes: torn)) == 3)
        var damaged = files.bytes
        damaged[Int(groups[1].byteOffset) + 60] ^= 0x10
        let error = #expect(throws: StoreError.self) {
            try value(FaultyFileSystem(bytes: damaged))
        }
        #expect(error?.code == .corrupt)
        #expect(error?.byteOffset == groups[1].byteOffset + 56)
    }

    @Test func `a crash at every call ends with the last acknowledged commit or the next`() throws {
        let options = Self.small
        var at = 1
        var isComplete = false
        while !isComplete {
            let files = FaultyFileSystem()
            files.fault = .init(
                at: at, calls: [.write, .durableWrite, .sync, .syncDirectory], goesOn: true)
            var acknowledged: UInt8 = 0
            do {
                let engine = try Engine.open(path: "store", options: options, files: files)
                var root: PageID?
                for round in 1...12 as ClosedRange<UInt8> {
                    let transaction = try engine.beginWrite()
                    let page =
                        try root.map { try transaction.editablePage($0) }
                        ?? transaction.allocatePage(.overflow)
                    page[100] = round
                    root = page.id
                    transaction.catalogRoot = root
                    _ = try transaction.commit()
                    acknowledged = round
                    if round % 3 == 0 { try engine.checkpointNow() }
                }
                isComplete = true
            } catch is StoreError {}
            for survivor in [files.powerCut(), files.processDeath()] {
                let found = try value(survivor)
                #expect(found == acknowledged || found == acknowledged + 1, "call \(at)")
                #expect(try value(survivor.powerCut()) == found, "call \(at), again")
            }
            at += 1
        }
        #expect(at > 20)
    }

    @Test func `a failed log write poisons the store`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.small, files: files)
        let transaction = try engine.beginWrite()
        _ = try transaction.allocatePage(.overflow)
        files.fault = .init(calls: [.durableWrite])
        let error = #expect(throws: StoreError.self) { try transaction.commit() }
        #expect(error?.code == .commitUncertain)
        files.fault = nil
        let next = #expect(throws: StoreError.self) { try engine.beginWrite() }
        #expect(next?.code == .poisoned)
        #expect(try engine.snapshot().commitNumber == 0)
    }

    @Test func `a full disk fails the transaction and leaves the store usable`() throws {
        let files = FaultyFileSystem()
        var options = Self.small
        options.outOfLineBytesMin = 4096
        let engine = try Engine.open(path: "store", options: options, files: files)
        for _ in 0..<3 {
            let transaction = try engine.beginWrite()
            for _ in 0..<40 { _ = try transaction.allocatePage(.overflow) }
            files.fault = .init(calls: [.write], code: .diskFull, goesOn: true)
            let error = #expect(throws: StoreError.self) { try transaction.commit() }
            #expect(error?.code == .diskFull)
            files.fault = nil
        }
        let transaction = try engine.beginWrite()
        let page = try transaction.allocatePage(.overflow)
        page[100] = 9
        transaction.catalogRoot = page.id
        _ = try transaction.commit()
        #expect(try value(files.powerCut()) == 9)
    }
}
