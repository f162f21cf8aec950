import PageStore
import Testing

/// The budget of bytes, and the pages that stay in memory when there are more than it allows.
@Suite struct PageCacheTests {
    private static let pageSize = 4096
    private static let entryCount = 10_000

    private static func key(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func options(cacheBytes: Int) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSize
        options.cacheSizeInBytes = cacheBytes
        options.dirtyBytesMax = cacheBytes / 2
        options.versionBytesMax = cacheBytes / 2
        options.checkpointsInBackground = false
        return options
    }

    /// A reopened store of ten times its cache.
    private func store(cacheBytes: Int) throws -> (Engine, TreeID) {
        let files = MemoryFileSystem()
        let options = Self.options(cacheBytes: cacheBytes)
        let value = [UInt8](repeating: 7, count: 400)
        let engine = try Engine.open(path: "/cache", options: options, files: files)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        let writer = TreeWriter(transaction, tree: tree)
        for number in 0..<Self.entryCount {
            try writer.insert(Self.key(number).span, value.span)
        }
        try transaction.commit()
        try engine.close()
        return (try Engine.open(path: "/cache", options: options, files: files), tree)
    }

    private func pagesRead(_ engine: Engine, _ body: () throws -> Void) rethrows -> Int {
        let before = engine.statistics.pagesRead
        try body()
        return Int(engine.statistics.pagesRead - before)
    }

    /// Reads every entry, and the hot ones again and again in between.
    private func scan(
        _ snapshot: Snapshot, _ tree: TreeID, count entryCount: Int = entryCount, hot: [Int]
    ) throws {
        let cursor = Cursor(snapshot, tree: tree)
        var isThere = try cursor.seekFirst()
        var count = 0
        while isThere {
            if count % 40 == 0, !hot.isEmpty {
                let key = Self.key(hot[count / 40 % hot.count])
                #expect(try snapshot.contains(key.span, in: tree))
            }
            count += 1
            isThere = try cursor.next()
        }
        #expect(count == entryCount)
    }

    @Test func `a scan of ten times the cache leaves what is used meanwhile in memory`() throws {
        let (engine, tree) = try store(cacheBytes: 460 << 10)
        let snapshot = try engine.snapshot()
        let whole = try pagesRead(engine) { try scan(snapshot, tree, hot: []) }
        #expect(whole > 1000)
        // Twenty pages, each used once while about a hundred pass by; the cursor holds three.
        let hot = (0..<20).map { $0 * Self.entryCount / 20 + 5 }
        try scan(snapshot, tree, hot: hot)
        let both = try pagesRead(engine) { try scan(snapshot, tree, hot: hot) }
        #expect(both < whole + 10, "\(both) pages read, \(whole) of them by the scan")
        try engine.close()
    }

    @Test func `changed pages and cached ones share one budget`() throws {
        let cacheBytes = 400 << 10
        let (engine, tree) = try store(cacheBytes: cacheBytes)
        try scan(try engine.snapshot(), tree, hot: [])
        #expect(engine.statistics.cacheBytes > UInt64(cacheBytes * 9 / 10))
        var most: UInt64 = 0
        for round in 0..<20 {
            let transaction = try engine.beginWrite()
            for number in stride(from: round, to: Self.entryCount, by: 1000) {
                let value = [UInt8](repeating: UInt8(round), count: 400)
                try transaction.insert(Self.key(number).span, value.span, into: tree)
            }
            try transaction.commit()
            try scan(try engine.snapshot(), tree, hot: [])
            let statistics = engine.statistics
            most = max(most, statistics.changedBytes)
            #expect(
                statistics.cacheBytes + statistics.changedBytes <= UInt64(cacheBytes * 5 / 4))
        }
        #expect(most > UInt64(cacheBytes / 4))
        try engine.close()
    }

    /// A bug: while a checkpoint ran, its images counted twice, and others were evicted for them.
    @Test func `pages that a checkpoint has stored stay in memory`() throws {
        var options = Self.options(cacheBytes: 480 << 10)
        options.dirtyBytesMax = 4 << 20
        options.versionBytesMax = 4 << 20
        let engine = try Engine.open(path: "/cache", options: options, files: MemoryFileSystem())
        var tree = TreeID(root: PageID(0))
        for round in 0..<4 {
            let transaction = try engine.beginWrite()
            if round == 0 {
                tree = try transaction.createTree()
                transaction.catalogRoot = tree.root
            }
            let value = [UInt8](repeating: UInt8(round), count: 400)
            for number in 0..<600 {
                _ = try transaction.insert(Self.key(number).span, value.span, into: tree)
            }
            try transaction.commit()
            try engine.checkpointNow()
            let snapshot = try engine.snapshot()
            let count = try pagesRead(engine) { try scan(snapshot, tree, count: 600, hot: []) }
            // The root did not change and was evicted when memory was short.
            #expect(count <= 1)
        }
        try engine.close()
    }
}
