import TestSupport
import Testing

@testable import PageStore

/// Space is reused as soon as no reader can need it, and no sooner.
@Suite struct SpaceReuseTests {
    @Test func `a snapshot that is held keeps its own pages and no later ones`() throws {
        let engine = try Engine.inMemory()
        let first = try engine.beginWrite()
        var ids: [PageID] = []
        for byte in 1...30 as ClosedRange<UInt8> {
            let page = try first.allocatePage(.overflow)
            page[100] = byte
            ids.append(page.id)
        }
        _ = try first.commit()
        try engine.checkpointNow()
        let snapshot = try engine.snapshot()
        func churn(_ rounds: Int) throws {
            for round in 0..<rounds {
                let transaction = try engine.beginWrite()
                for id in ids {
                    try transaction.editablePage(id)[100] = UInt8(truncatingIfNeeded: round)
                }
                _ = try transaction.commit()
                try engine.checkpointNow()
            }
        }
        try churn(20)
        let size = engine.statistics.fileSizeInBytes
        try churn(100)
        #expect(engine.statistics.fileSizeInBytes <= size + 256 << 10)
        for (index, id) in ids.enumerated() {
            #expect(try snapshot.page(id)[100] == UInt8(index + 1))
        }
    }

    @Test func `freed page IDs are reused after reopening`() throws {
        let files = FaultyFileSystem()
        var ids: [PageID] = []
        do {
            let engine = try Engine.open(path: "store", files: files)
            let transaction = try engine.beginWrite()
            for _ in 0..<20 { ids.append(try transaction.allocatePage(.overflow).id) }
            _ = try transaction.commit()
            let second = try engine.beginWrite()
            for id in ids[5..<15] { try second.freePage(id) }
            _ = try second.commit()
        }
        for survivor in [files.processDeath(), files.powerCut()] {
            let engine = try Engine.open(path: "store", files: survivor)
            let transaction = try engine.beginWrite()
            let again = try (0..<10).map { _ in try transaction.allocatePage(.overflow).id }
            #expect(Set(again) == Set(ids[5..<15]))
            #expect(try transaction.allocatePage(.overflow).id.rawValue == 21)
            transaction.rollback()
        }
    }

    /// A zone that was saved once and lay above the used end shifted every later list: the second
    /// opening found pending space outside the file.
    @Test func `a store that shrank below a zone opens again and again`() throws {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        options.isCompressed = false
        let files = MemoryFileSystem()
        var before: UInt64 = 0
        var ids: [PageID] = []
        do {
            let engine = try Engine.open(path: "store", options: options, files: files)
            let transaction = try engine.beginWrite()
            for _ in 0..<1500 { ids.append(try transaction.allocatePage(.overflow).id) }
            _ = try transaction.commit()
            try engine.checkpointNow()
            before = engine.superblock.requiredLength
            let second = try engine.beginWrite()
            for id in ids { try second.freePage(id) }
            _ = try second.commit()
            for _ in 0..<3 { try engine.checkpointNow() }
            try engine.close()
        }
        var lengths: [UInt64] = []
        for _ in 0..<6 {
            let engine = try Engine.open(path: "store", options: options, files: files)
            let transaction = try engine.beginWrite()
            _ = try transaction.allocatePage(.overflow)
            _ = try transaction.commit()
            lengths.append(engine.superblock.requiredLength)
            try engine.close()
        }
        #expect(lengths.min().map { $0 < before } == true, "\(lengths), \(before) before")
    }

    /// A bug: the blocks were numbered by the bytes before them, which another program took for
    /// damage.
    @Test func `the blocks of a long allocation state are numbered from zero`() throws {
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", files: files)
        try engine.beginWrite().rollback()
        let runs = engine.parts.writer.withState { writer in
            writer.nextPageID = 100_001
            for start in stride(from: UInt64(2), to: 100_000, by: 2) {
                writer.freeIDs.insert(FreePageIDs.Run(start: start, count: 1))
            }
            return writer.freeIDs.runs
        }
        try engine.checkpointNow()
        let context = engine.parts.context
        let saved = try AllocationReader(context).read(engine.superblock)
        #expect(saved.freeIDs == runs)
        #expect(saved.blocks.count > 2)
        for (number, block) in saved.blocks.enumerated() {
            _ = try ExtentReader(context).read(block, id: UInt64(number), kind: .allocation)
        }
    }

    /// A bug: a page that fitted nowhere kept later ones from the gaps below.
    @Test func `an allocation that fails below a limit does not move the search position`() throws {
        var space = SpaceMap(pageSizeInBytes: 1024)
        _ = try space.allocate(100, isRecent: false)
        for gap in [10..<11, 20..<24, 90..<98] as [Range<UInt64>] {
            space.free(gap.lowerBound, UInt64(gap.count))
        }
        space.searchFromStart()
        #expect(space.allocate(8, below: 90) == nil)
        #expect(space.allocate(4, below: 90) == 20)
        #expect(space.allocate(4, below: 90) == nil)
        #expect(space.allocate(1, below: 90) == 10)
        #expect(space.allocate(8, below: 97) == nil)
        #expect(space.allocate(8, below: 98) == 90)
        #expect(space.unitCount == 100)
    }

    /// A bug: the next checkpoint looked for where they were saved, past the end of its list.
    @Test func `zones that the file ends below are not saved`() throws {
        var space = SpaceMap(pageSizeInBytes: 512)
        space.take(0, 100)
        space.zoneAddresses = space.beginSaving().zoneAddresses
        let count = 3 * space.unitsPerZone
        let unit = try space.allocate(count, isRecent: true)
        space.free(unit, UInt64(count))
        #expect(space.trim() == 100)
        #expect(space.changedZones == [0])
        #expect(space.beginSaving().zones == [0])
    }

    /// A bug: the second checkpoint ended the process.
    @Test func `a store is saved after it grew and shrank beside a checkpoint`() throws {
        var options = Engine.Options.small
        options.pageSizeInBytes = 512
        options.isCompressed = false
        options.dirtyBytesMax = 64 << 10
        let files = SteppingFiles(base: MemoryFileSystem())
        let engine = try Engine.open(path: "store", options: options, files: files)
        func commit() throws {
            let transaction = try engine.beginWrite()
            transaction.catalogRoot = try transaction.createTree().root
            _ = try transaction.commit()
        }
        try commit()
        files.at(.superblockWrite) { () throws(StoreError) in
            let transaction = try engine.beginWrite()
            for _ in 0..<3000 {
                _ = try transaction.allocatePage(.overflow)
                try transaction.makeRoom()
            }
            transaction.rollback()
            #expect(engine.statistics.fileSizeInBytes > 3 * 512 * 8 * 64)
        }
        try engine.checkpointNow()
        #expect(files.isIdle)
        #expect(engine.statistics.fileSizeInBytes < 512 * 8 * 64)
        try commit()
        try engine.checkpointNow()
        try engine.close()
        let again = try Engine.open(path: "store", options: options, files: files)
        #expect(try again.snapshot().commitNumber == 2)
        try again.beginWrite().rollback()
    }
}
