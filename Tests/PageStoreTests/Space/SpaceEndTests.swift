import TestSupport
import Testing

@testable import PageStore

/// The units that the saved allocation state can tell of.
@Suite struct SpaceEndTests {
    private static let pageSizeInBytes = 512
    private static let unitCountMax = SpaceMap.unitCountMax(unitsPerZone: 8 * pageSizeInBytes)

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSizeInBytes
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.checkpointsInBackground = false
        return options
    }

    private func open(_ files: FaultyFileSystem) throws -> Engine {
        try Engine.open(path: "store", options: Self.options, files: files)
    }

    @Test func `a map gives its last unit and none after it`() throws {
        var map = SpaceMap(pageSizeInBytes: Self.pageSizeInBytes)
        map.take(0, Self.unitCountMax - 20)
        #expect(try map.allocate(10, isRecent: false) == Self.unitCountMax - 20)
        for count in [11, 1000, Int(Self.unitCountMax)] {
            let error = #expect(throws: StoreError.self) {
                try map.allocate(count, isRecent: true)
            }
            #expect(error?.code == .tooLarge)
        }
        let error = #expect(throws: StoreError.self) {
            try map.allocate(8, alignment: 32, isRecent: true)
        }
        #expect(error?.code == .tooLarge)
        #expect(map.unitCount == Self.unitCountMax - 10)
        #expect(try map.allocate(10, isRecent: false) == Self.unitCountMax - 10)
        #expect(map.zoneCount == Int(Limits.zoneCountMax))
        map.free(Self.unitCountMax - 20, 5)
        #expect(try map.allocate(5, isRecent: false) == Self.unitCountMax - 20)
    }

    @Test func `a run that was missing is found once it is free`() throws {
        var map = SpaceMap(pageSizeInBytes: 1024)
        map.take(0, 100)
        for unit in stride(from: UInt64(1), to: 100, by: 3) { map.free(unit, 2) }
        // All gaps have two units.
        #expect(try map.allocate(3, isRecent: false) == 100)
        #expect(try map.allocate(4, isRecent: false) == 103)
        #expect(try map.allocate(2, isRecent: false) == 1)
        #expect(try map.allocate(3, isRecent: false) == 107)
        map.free(1, 2)
        map.free(3, 1)
        // After a search that found nothing the next one begins at the first unit.
        #expect(try map.allocate(3, isRecent: false) == 1)
        #expect(try map.allocate(3, isRecent: false) == 110)
        // An aligned run leaves a gap before it.
        #expect(try map.allocate(8, alignment: 16, isRecent: false) == 128)
        #expect(try map.allocate(3, isRecent: false) == 113)
    }

    /// Each run was sought in every gap: a migration of 3,000,000 objects took a fifth longer.
    @Test func `a file full of small gaps is not searched for each longer run`() throws {
        var map = SpaceMap(pageSizeInBytes: 16_384)
        let unitCount: UInt64 = 1 << 20
        map.take(0, unitCount)
        for unit in stride(from: UInt64(1), to: unitCount, by: 2) { map.free(unit, 1) }
        func time(_ numbers: Range<UInt64>) throws -> Duration {
            let begin = ContinuousClock.now
            for number in numbers {
                let unit = try map.allocate(4, isRecent: false)
                #expect(unit == unitCount + 4 * number)
            }
            return ContinuousClock.now - begin
        }
        let search = try time(0..<1)
        #expect(try time(1..<2000) < search * 200)
    }

    /// Commits a value until the store refuses one. Returns how many it has.
    private func fill(_ engine: Engine, from first: Int) throws -> Int {
        for number in first..<1000 {
            let transaction = try engine.beginWrite()
            do {
                let tree =
                    try transaction.catalogRoot.map { TreeID(root: $0) }
                    ?? transaction.createTree()
                transaction.catalogRoot = tree.root
                var random = SeededRandom(seed: UInt64(number))
                _ = try transaction.insert(
                    Array("\(number)".utf8).span, random.bytes(90).span, into: tree)
                _ = try transaction.commit()
            } catch let error as StoreError {
                transaction.rollback()
                #expect(error.code == .tooLarge)
                #expect(error.path == "store")
                return number
            }
        }
        Issue.record("the file has no end")
        return 0
    }

    private func count(_ engine: Engine) throws -> Int {
        let snapshot = try engine.snapshot()
        let root = try #require(snapshot.catalogRoot)
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var count = 0
        var isMore = try cursor.seekFirst()
        while isMore {
            count += 1
            isMore = try cursor.next()
        }
        return count
    }

    private func expect(_ files: FaultyFileSystem, _ expected: Int) throws {
        for survivor in [files.powerCut(), files.processDeath()] {
            var options = Self.options
            for mode in [OpenMode.reading, .writing] {
                options.mode = mode
                let engine = try Engine.open(path: "store", options: options, files: survivor)
                #expect(try count(engine) == expected)
                #expect(StoreCheck.run(try engine.snapshot()) == [])
                try engine.close()
            }
        }
    }

    /// All units after those in use are taken: a file of a terabyte is none for a test.
    @Test func `a file without units refuses the commit that needs some, and is read on`() throws {
        let files = FaultyFileSystem()
        let engine = try open(files)
        for number in 0..<3 {
            let transaction = try engine.beginWrite()
            let tree =
                try transaction.catalogRoot.map { TreeID(root: $0) }
                ?? transaction.createTree()
            transaction.catalogRoot = tree.root
            _ = try transaction.insert(Array("\(number)".utf8).span, [1].span, into: tree)
            _ = try transaction.commit()
        }
        engine.parts.space.withSpace { $0.take($0.unitCount, Self.unitCountMax - $0.unitCount) }
        let last = try fill(engine, from: 3)
        #expect(last > 3)
        #expect(try count(engine) == last)
        let error = #expect(throws: StoreError.self) { try engine.checkpointNow() }
        #expect(error?.code == .tooLarge)
        #expect(try fill(engine, from: last) >= last)
        let newest = try count(engine)
        try expect(files, newest)
        #expect(throws: StoreError.self) { try engine.close() }
        try expect(files, newest)
    }
}
