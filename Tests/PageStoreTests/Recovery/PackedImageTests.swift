import TestSupport
import Testing

@testable import PageStore

/// Logs with more images than memory should hold uncompressed.
@Suite struct PackedImageTests {
    private static func options(versionBytesMax: Int) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        options.checkpointsInBackground = false
        options.versionBytesMax = versionBytesMax
        return options
    }

    /// Commits changes of some pages, a few bytes each; returns the first bytes of each page.
    private func fill(
        _ engine: Engine, _ random: inout SeededRandom
    ) throws -> [PageID: [UInt8]] {
        var content: [PageID: [UInt8]] = [:]
        for round in 0..<30 {
            let transaction = try engine.beginWrite()
            for _ in 0..<10 {
                let ids = content.keys.sorted()
                let isNew = ids.count < 40
                let page =
                    try isNew
                    ? transaction.allocatePage(.overflow)
                    : transaction.editablePage(ids[random.below(ids.count)])
                // A separate run, for the check at the end.
                page[BlobLayout.flags] = BlobLayout.flagFirst
                var bytes = content[page.id] ?? [UInt8](repeating: 0, count: 2000)
                let start = random.below(1900)
                bytes.replaceSubrange(start..<start + 50, with: random.bytes(50))
                bytes.withView { page.copy($0, to: 100) }
                content[page.id] = bytes
            }
            if round % 7 == 6, let id = content.keys.min() {
                try transaction.freePage(id)
                content[id] = nil
            }
            _ = try transaction.commit()
        }
        return content
    }

    private func check(_ engine: Engine, _ content: [PageID: [UInt8]]) throws {
        let snapshot = try engine.snapshot()
        #expect(try Set(snapshot.content().pages) == Set(content.keys))
        for (id, bytes) in content {
            let page = try snapshot.page(id)
            #expect(page.view.slice(from: 100, count: 2000).array() == bytes)
        }
    }

    @Test func `log pages kept compressed in memory read as they were committed`() throws {
        var random = SeededRandom(for: "PackedImageTests")
        let files = FaultyFileSystem()
        let writer = try Engine.open(
            path: "store", options: Self.options(versionBytesMax: 64 << 20), files: files)
        var content = try fill(writer, &random)
        let survivor = files.processDeath()
        // Room for two images.
        let options = Self.options(versionBytesMax: 8192)
        var reading = options
        reading.mode = .reading
        let reader = try Engine.open(path: "store", options: reading, files: survivor)
        try check(reader, content)
        let versions = try reader.snapshot().versions()
        let packed = versions.count { if case .packed = $0.version.content { true } else { false } }
        #expect(packed > 20, "seed \(random.seed)")
        #expect(reader.statistics.changedBytes < 40 * 4096)
        try reader.close()
        // A writer stores the images and continues.
        let engine = try Engine.open(path: "store", options: options, files: survivor)
        try check(engine, content)
        let transaction = try engine.beginWrite()
        let id = try #require(content.keys.max())
        try transaction.editablePage(id)[100] = 77
        content[id]?[0] = 77
        _ = try transaction.commit()
        try check(engine, content)
        try engine.checkpointNow()
        try check(engine, content)
        try engine.close()
        #expect(StoreCheck.run(try Engine.open(path: "store", files: survivor).snapshot()).isEmpty)
    }
}
