import TestSupport
import Testing

@testable import PageStore

/// What a vacuum moves besides pages: nodes of the map, and bitmaps of zones.
@Suite struct VacuumTests {
    private static var pagesPerLeaf: UInt64 { UInt64(Engine.Options.small.pageSizeInBytes / 16) }

    /// Commits blobs of a page each, of random bytes, which do not compress.
    private func allocate(
        _ count: Int, in engine: Engine, _ random: inout SeededRandom
    ) throws -> [BlobID] {
        let transaction = try engine.beginWrite()
        let blobs = try (0..<count).map { _ in
            try transaction.createBlob(random.bytes(900).span)
        }
        _ = try transaction.commit()
        return blobs
    }

    private func free(_ blobs: some Sequence<BlobID>, in engine: Engine) throws {
        let transaction = try engine.beginWrite()
        for blob in blobs { try transaction.deleteBlob(blob) }
        _ = try transaction.commit()
    }

    private func leafUnit(of blob: BlobID, in engine: Engine) throws -> UInt64 {
        let places = try engine.snapshot().places()
        let first = blob.page.rawValue / Self.pagesPerLeaf * Self.pagesPerLeaf
        return try #require(
            places.first {
                if case .node(first, _) = $0.holder { true } else { false }
            }
        ).unit
    }

    /// Does something while all gaps of the file are taken, so that what is stored comes to lie at
    /// its end. Some gaps stay taken: nothing is moved to them.
    private func withoutGaps(
        in engine: Engine, keeping kept: Range<UInt64> = 0..<0, _ body: () throws -> Void
    ) throws {
        var units: [UInt64] = []
        engine.parts.space.withSpace { space in
            while let unit = space.allocate(1, below: space.unitCount) { units.append(unit) }
        }
        try body()
        let taken = units.filter { !kept.contains($0) }
        engine.parts.space.withSpace { space in
            for unit in taken { space.free(unit, 1) }
        }
    }

    private func isHigh(_ unit: UInt64, _ engine: Engine) -> Bool {
        let unitSize = UInt64(Engine.Options.small.unitSizeInBytes)
        return unit * unitSize > engine.statistics.fileSizeInBytes / 10 * 9
    }

    private func vacuum(_ engine: Engine) throws {
        var rounds = 0
        while try engine.vacuum(byteBudget: 1 << 30) > 0, rounds < 40 { rounds += 1 }
        #expect(rounds < 40)
    }

    /// Vacuums, and compares the file's length with that of a copy.
    private func vacuum(_ engine: Engine, _ files: MemoryFileSystem) throws {
        try vacuum(engine)
        let after = engine.statistics.fileSizeInBytes
        try engine.copy(to: "copy")
        let least = try files.open("copy", .readOnly).size()
        #expect(after < least + 256 << 10, "\(after) bytes after, \(least) in a copy")
        let findings = StoreCheck.run(try engine.snapshot())
        #expect(findings.isEmpty)
    }

    @Test func `a file kept its length for the map node at its end`() throws {
        var random = SeededRandom(for: "VacuumTests node")
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: .small, files: files)
        var kept = try allocate(50, in: engine, &random)
        // All IDs of the first leaf.
        while let last = kept.last, last.page.rawValue % Self.pagesPerLeaf < Self.pagesPerLeaf - 1 {
            kept += try allocate(1, in: engine, &random)
        }
        for _ in 0..<3 { try engine.checkpointNow() }
        try vacuum(engine)
        // These lie above the pages of the first leaf, and fill the gaps between them.
        _ = try allocate(300, in: engine, &random)
        let bulk = try allocate(1000, in: engine, &random)
        for _ in 0..<3 { try engine.checkpointNow() }
        // The first leaf is stored at the end.
        try withoutGaps(in: engine) {
            try free(kept[10..<20], in: engine)
            try engine.checkpointNow()
        }
        let leaf = try leafUnit(of: kept[0], in: engine)
        let isLeafHigh = isHigh(leaf, engine)
        #expect(isLeafHigh)
        try free(bulk, in: engine)
        try vacuum(engine, files)
    }

    @Test func `a file kept its length for a zone's bitmap at its end`() throws {
        var random = SeededRandom(for: "VacuumTests zone")
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: .small, files: files)
        // Two zones and a bit.
        _ = try allocate(1200, in: engine, &random)
        for _ in 0..<3 { try engine.checkpointNow() }
        try vacuum(engine)
        let bulk = try allocate(3000, in: engine, &random)
        // The bitmap of the second zone is stored at the end, and the zone stays as it is.
        let zoneUnits = UInt64(SpaceMap.unitsPerZone(engine.parts.context.geometry))
        try withoutGaps(in: engine, keeping: zoneUnits..<2 * zoneUnits) {
            engine.parts.space.withSpace { $0.noteUnsaved([1]) }
            try engine.checkpointNow()
        }
        let bitmap = engine.parts.space.withSpace { $0.zoneAddresses[1].unit }
        let isBitmapHigh = isHigh(bitmap, engine)
        #expect(isBitmapHigh)
        try free(bulk, in: engine)
        try vacuum(engine, files)
    }

    /// A rule that moved a page with its node, to any place below the node, carried others up.
    @Test func `vacuums of random stores end`() throws {
        var random = SeededRandom(for: "VacuumTests end")
        for round in 0..<40 {
            let files = MemoryFileSystem()
            let engine = try Engine.open(path: "store", options: .small, files: files)
            var blobs: [BlobID] = []
            for _ in 0..<2 + random.below(6) {
                let transaction = try engine.beginWrite()
                for _ in 0..<random.below(60) {
                    let bytes = random.bytes(20 + random.below(900))
                    // Half of them compress.
                    let content = random.below(2) == 0 ? bytes : bytes.map { $0 & 3 }
                    blobs.append(try transaction.createBlob(content.span))
                }
                for _ in 0..<random.below(blobs.count + 1) {
                    try transaction.deleteBlob(blobs.remove(at: random.below(blobs.count)))
                }
                _ = try transaction.commit()
                for _ in 0..<random.below(3) { try engine.checkpointNow() }
            }
            var callCount = 0
            let first = engine.superblock.generation
            while try engine.vacuum(byteBudget: 1 << 30) > 0, callCount < 20 { callCount += 1 }
            let count = engine.superblock.generation - first
            #expect(callCount < 20 && count < 600, "seed \(random.seed), round \(round): \(count)")
            let findings = StoreCheck.run(try engine.snapshot())
            #expect(findings.isEmpty)
            if callCount == 20 || count >= 600 { return }
        }
    }
}
