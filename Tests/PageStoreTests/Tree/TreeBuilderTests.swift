import PageStore
import TestSupport
import Testing

/// Trees that are built bottom-up from sorted entries.
@Suite struct TreeBuilderTests {
    private struct Entry {
        var key: [UInt8]
        var value: [UInt8]
    }

    private func options() -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 128
        return options
    }

    /// Ascending keys with long or short common prefixes; some values are overflow values.
    private func entries(_ count: Int, _ random: inout SeededRandom) -> [Entry] {
        var keys: Set<[UInt8]> = []
        let isNarrow = random.below(2) == 0
        while keys.count < count {
            let prefix = [UInt8](repeating: 9, count: random.below(isNarrow ? 2 : 60))
            let digits = random.bytes(1 + random.below(isNarrow ? 9 : 40))
            keys.insert(prefix + digits.map { isNarrow ? $0 & 3 : $0 })
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
            let size = random.below(20) == 0 ? random.below(3000) : random.below(120)
            return Entry(key: key, value: random.bytes(size))
        }
    }

    private func build(
        _ entries: [Entry], _ editor: PageEditor, isFinal: Bool = true
    ) throws -> TreeID {
        let tree = try editor.createTree()
        var builder = try TreeBuilder(editor, tree: tree, isFinal: isFinal)
        for entry in entries {
            try entry.key.withView { key in
                try entry.value.withView { try builder.append(key, $0) }
            }
        }
        try builder.finish()
        return tree
    }

    private func content(_ view: PageView, _ tree: TreeID) throws -> [Entry] {
        let cursor = Cursor(view, tree: tree)
        var found: [Entry] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            found.append(Entry(key: cursor.key.array(), value: try cursor.value().array()))
            isThere = try cursor.next()
        }
        return found
    }

    /// A bug: pages that one tree had finished were written out where room was made for the other,
    /// and written again with their own run. Nothing freed the first place.
    @Test func `trees that are built in turns leave no space that nothing uses`() throws {
        var random = SeededRandom(for: "tree builder in turns")
        let seed = random.seed
        let entries = entries(3000, &random)
        var options = options()
        options.dirtyBytesMax = 8 << 10
        let files = MemoryFileSystem()
        let writer = try Engine.open(path: "store", options: options, files: files)
        let transaction = try writer.beginWrite()
        let trees = [try transaction.createTree(), try transaction.createTree()]
        var first = try TreeBuilder(transaction, tree: trees[0])
        var second = try TreeBuilder(transaction, tree: trees[1])
        for entry in entries {
            try entry.key.withView { key in
                try entry.value.withView { value in
                    try first.append(key, value)
                    try second.append(key, value)
                }
            }
        }
        try first.finish()
        try second.finish()
        transaction.catalogRoot = trees[0].root
        try transaction.commit()
        try writer.close()
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let snapshot = try engine.snapshot()
        for tree in trees {
            #expect(try content(snapshot, tree).map(\.key) == entries.map(\.key), "seed \(seed)")
        }
        #expect(StoreCheck.run(snapshot, knownTrees: trees) == [], "seed \(seed)")
        try engine.close()
    }

    @Test(arguments: 0..<10)
    func `a built tree contains its entries and can be changed`(round: Int) throws {
        var random = SeededRandom(for: "tree builder \(round)")
        let sizes = [0, 1, 2, 3, 9, 30]
        let count = round < sizes.count ? sizes[round] : 200 + random.below(3000)
        let entries = entries(min(count, 3000), &random)
        let engine = try Engine.inMemory(options: options())
        let transaction = try engine.beginWrite()
        let tree = try build(entries, transaction, isFinal: round % 2 == 0)
        transaction.catalogRoot = tree.root
        #expect(try transaction.checkInvariants(of: tree) == entries.count)
        try transaction.commit()
        let snapshot = try engine.snapshot()
        let found = try content(snapshot, tree)
        #expect(found.map(\.key) == entries.map(\.key), "seed \(random.seed)")
        #expect(found.map(\.value) == entries.map(\.value), "seed \(random.seed)")
        #expect(StoreCheck.run(snapshot, knownTrees: [tree]) == [])
        let editor = try engine.beginWrite()
        for entry in entries.shuffled(using: &random) {
            #expect(try editor.remove(entry.key.span, from: tree))
            let other = entry.key + [0]
            if random.below(4) == 0 { try editor.insert(other.span, entry.key.span, into: tree) }
        }
        _ = try editor.checkInvariants(of: tree)
        editor.rollback()
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: [tree]) == [])
    }

    @Test func `a built tree is written once and packed`() throws {
        var options = Engine.Options()
        options.isCompressed = false
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        var entries: [Entry] = []
        for number in 0..<100_000 {
            let key = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            entries.append(Entry(key: key, value: [UInt8](repeating: 1, count: 100)))
        }
        let before = engine.statistics.bytesWritten
        let tree = try build(entries, transaction)
        transaction.catalogRoot = tree.root
        try transaction.commit()
        let written = engine.statistics.bytesWritten - before
        var check = TreeCheck(try engine.snapshot())
        check.checkTree(tree)
        let pages = UInt64(check.visited.count)
        // An extent is a page and its header, in whole units.
        let extent = UInt64(options.pageSizeInBytes + options.unitSizeInBytes)
        #expect(written < pages * extent + 256 << 10, "\(written) bytes for \(pages) pages")
        let size = entries.count * (NodeLayout.slotSize + NodeLayout.cellKey + 108)
        #expect(Double(size) / Double(pages) > 0.9 * Double(options.pageSizeInBytes))
    }

    @Test func `a tree that will change stays in memory until the commit`() throws {
        var random = SeededRandom(for: "tree builder memory")
        let engine = try Engine.inMemory(options: options())
        let transaction = try engine.beginWrite()
        let before = engine.statistics.bytesWritten
        _ = try build(entries(2000, &random), transaction, isFinal: false)
        // Some values are too long for a node, and are written at once.
        let early = engine.statistics.bytesWritten - before
        _ = try build(entries(2000, &random), transaction, isFinal: true)
        #expect(engine.statistics.bytesWritten - before - early > early + 65_536)
        transaction.rollback()
    }

    @Test func `building into a tree with entries is refused`() throws {
        let engine = try Engine.inMemory(options: options())
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        try transaction.insert([1].span, [2].span, into: tree)
        let error = #expect(throws: StoreError.self) {
            _ = try TreeBuilder(transaction, tree: tree)
        }
        #expect(error?.code == .invalidArgument)
        transaction.rollback()
    }

    @Test func `a rolled back build leaves nothing`() throws {
        var random = SeededRandom(for: "tree builder rollback")
        let engine = try Engine.inMemory(options: options())
        let first = try engine.beginWrite()
        let kept = try first.createTree()
        first.catalogRoot = kept.root
        try first.commit()
        let before = engine.statistics.freeBytes
        let second = try engine.beginWrite()
        _ = try build(entries(2000, &random), second)
        second.rollback()
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: [kept]) == [])
        #expect(engine.statistics.freeBytes > before)
    }
}
