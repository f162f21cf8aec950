import TestSupport
import Testing

@testable import PageStore

/// A scan reads the same entries from a leaf as a cursor.
@Suite struct LeafEntriesTests {
    private struct Store {
        let engine: Engine
        let tree: TreeID
        var values: [UInt64: [UInt8]]

        func key(_ number: UInt64) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        }
    }

    private static func store(
        _ values: [UInt64: [UInt8]], pageSizeInBytes: Int = 2048,
        cacheSizeInBytes: Int = Engine.Options().cacheSizeInBytes
    ) throws -> Store {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSizeInBytes
        options.unitSizeInBytes = 128
        options.cacheSizeInBytes = cacheSizeInBytes
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        let store = Store(engine: engine, tree: tree, values: values)
        // Every other key first, so that leaves split, and always the same ones.
        let numbers = values.keys.sorted()
        for start in 0..<2 {
            for index in stride(from: start, to: numbers.count, by: 2) {
                let (number, value) = (numbers[index], values[numbers[index]] ?? [])
                _ = try transaction.insert(store.key(number).span, value.span, into: tree)
            }
        }
        _ = try transaction.commit()
        return store
    }

    private static func take(
        _ cursor: Cursor, provedBy proof: UInt64?
    ) throws -> LeafEntries {
        guard let entries = try cursor.takeLeaf(provedBy: proof) else {
            throw StoreError.corrupt(nil, "a key is not a number")
        }
        return entries
    }

    /// Compares all leaves of a tree, a second time from the columns and validation marks that the
    /// first scan has cached.
    private static func expectAll(
        of store: Store, _ view: PageView, provedBy proof: UInt64?,
        at offsets: [Int] = [0, 3, 8, 16, 24, 40, 32, 0]
    ) throws {
        for _ in 0..<2 {
            let cursor = Cursor(view, tree: store.tree)
            var found: [UInt64: [UInt8]] = [:]
            var isAtEntry = try cursor.seekFirst()
            while isAtEntry {
                let entries = try take(cursor, provedBy: proof)
                for (first, second) in zip(offsets, offsets.dropFirst()) {
                    let vectors = entries.vectors(of: ColumnPair(dense: first, sparse: second))
                    for index in 0..<entries.count {
                        let value = entries.value(index)
                        if value.count >= first + 8 {
                            #expect(vectors.dense.words[index] == value.uint64(at: first))
                        }
                        if value.count >= second + 8 {
                            let bits = value.uint64(at: second)
                            let words = vectors.sparse.words
                            #expect((words.isEmpty ? 0 : words[index]) == bits)
                            #expect(vectors.sparse.union & bits == bits)
                        }
                    }
                }
                for index in 0..<entries.count {
                    found[entries.number(index)] = entries.value(index).array()
                }
                if let proof, !entries.hasLargeValues {
                    entries.page.proof = proof
                }
                isAtEntry = try cursor.next()
            }
            #expect(found == store.values)
        }
    }

    @Test(arguments: [1, 256, 1 << 20, 1 << 40, 1 << 60])
    func `a scan lends every entry of every leaf, for any common prefix`(step: UInt64) throws {
        var random = SeededRandom(for: "LeafEntriesTests \(step)")
        var values: [UInt64: [UInt8]] = [:]
        for index in 0..<UInt64(15) + (step < 1 << 50 ? 300 : 0) {
            values[index * step + UInt64(random.below(Int(min(step, 1 << 30))))] =
                random.bytes(random.below(400))
        }
        let store = try Self.store(values)
        try Self.expectAll(of: store, store.engine.snapshot(), provedBy: 7)
        try Self.expectAll(of: store, store.engine.snapshot(), provedBy: nil)
    }

    @Test func `the page cache shrinks to make room for cached columns`() throws {
        let value = [UInt8](repeating: 7, count: 400)
        let store = try Self.store(
            Dictionary(uniqueKeysWithValues: (0..<5000).map { ($0, value) }),
            pageSizeInBytes: 4096, cacheSizeInBytes: 200_000)
        let engine = store.engine
        try engine.checkpointNow()
        // The largest size of the cached columns of all leaves, and the size for the first leaf.
        var (most, ofOne) = (0, 0)
        do {
            let cursor = Cursor(try engine.snapshot(), tree: store.tree)
            var isAtEntry = try cursor.seekFirst()
            while isAtEntry {
                let entries = try Self.take(cursor, provedBy: 7)
                _ = entries.vectors(of: ColumnPair(dense: 0, sparse: 8))
                _ = entries.vectors(of: ColumnPair(dense: 16, sparse: 24))
                most = max(most, engine.parts.pager.keptBytes.count)
                if ofOne == 0 { ofOne = most }
                // The columns of the last page were cached after the cache had evicted others.
                #expect(
                    engine.parts.pager.state.withLock { $0.cache.sizeInBytes }
                        + engine.parts.pager.keptBytes.count <= 200_000 + 4096 / 8)
                isAtEntry = try cursor.next()
            }
        }
        // The columns of half of the leaves whose images would fit; the exact number depends on the
        // order of eviction.
        #expect(ofOne > 0 && most > 200_000 / 4096 / 2 * ofOne)
        engine.parts.pager.state.withLock { $0.cache.removeAll() }
        #expect(engine.parts.pager.keptBytes.count == 0)
        try engine.close()
    }

    @Test func `prefetching a leaf locates its image without reading it`() throws {
        var values: [UInt64: [UInt8]] = [:]
        for number in 0..<UInt64(300) { values[number] = Array(repeating: 1, count: 100) }
        let store = try Self.store(values)
        let engine = store.engine
        // While the versions of a commit are in memory, their images are not in the cache.
        try engine.checkpointNow()
        let snapshot = try engine.snapshot()
        let leaf = try store.key(150).span.withView { key in
            try snapshot.leaf(for: key, in: store.tree).page.id
        }
        func isFound() -> Bool {
            engine.parts.pager.imageAddress(
                of: leaf, generation: snapshot.generation, commit: snapshot.commitNumber) != nil
        }
        let lookups = engine.statistics.pageLookups
        #expect(isFound())
        engine.parts.pager.state.withLock { $0.cache.removeAll() }
        let readCount = engine.statistics.pagesRead
        #expect(!isFound())
        #expect(engine.statistics.pagesRead == readCount)
        #expect(engine.statistics.pageLookups == lookups)
        _ = try snapshot.page(leaf)
        #expect(isFound())
    }

    @Test func `entries lent from a leaf stay the same when the transaction changes it`() throws {
        let store = try Self.store([1: [1, 2, 3], 2: [4, 5, 6], 3: [7, 8, 9]])
        let transaction = try store.engine.beginWrite()
        _ = try transaction.insert(store.key(4).span, [10].span, into: store.tree)
        let cursor = Cursor(transaction, tree: store.tree)
        _ = try cursor.seekFirst()
        let entries = try Self.take(cursor, provedBy: nil)
        for number in 1...3 as ClosedRange<UInt64> {
            _ = try transaction.remove(store.key(number).span, from: store.tree)
        }
        let long = [UInt8](repeating: 99, count: 400)
        _ = try transaction.insert(store.key(4).span, long.span, into: store.tree)
        #expect((0..<entries.count).map { entries.number($0) } == [1, 2, 3, 4])
        #expect(
            (0..<entries.count).map { entries.value($0).array() }
                == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]])
        transaction.rollback()
    }

    @Test func `overflow values are lent in order with the others`() throws {
        var random = SeededRandom(for: "LeafEntriesTests large")
        var values: [UInt64: [UInt8]] = [:]
        for number in 0..<UInt64(200) {
            values[number] = random.bytes(number % 9 == 4 ? 3000 : random.below(40))
        }
        let store = try Self.store(values)
        try Self.expectAll(of: store, store.engine.snapshot(), provedBy: 7)
    }

    @Test func `a key that is not eight bytes is not taken for a number`() throws {
        for key in [[1], Array(repeating: 0, count: 9), Array(repeating: 7, count: 16)]
            as [[UInt8]]
        {
            let engine = try Engine.inMemory()
            let transaction = try engine.beginWrite()
            let tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
            _ = try transaction.insert(key.span, [1, 2].span, into: tree)
            _ = try transaction.insert(Array(repeating: 9, count: 8).span, [3].span, into: tree)
            _ = try transaction.commit()
            let cursor = Cursor(try engine.snapshot(), tree: tree)
            #expect(try cursor.seekFirst())
            let error = #expect(throws: StoreError.self) {
                _ = try Self.take(cursor, provedBy: 7).count
            }
            #expect(error?.message == "a key is not a number")
        }
    }

    @Test func `columns cached from a page are not used after the page changed`() throws {
        var values: [UInt64: [UInt8]] = [:]
        for number in 0..<UInt64(100) { values[number] = Array(repeating: 1, count: 200) }
        var store = try Self.store(values)
        let before = try store.engine.snapshot()
        try Self.expectAll(of: store, before, provedBy: 7)
        // Even leaves as small as these have columns cached.
        #expect(ColumnCache.countMax(entryCount: 2048 / 200, pageSizeInBytes: 2048) >= 2)
        let old = store
        let transaction = try store.engine.beginWrite()
        for number in stride(from: UInt64(0), to: 100, by: 3) {
            store.values[number] = Array(repeating: 2, count: 200)
            _ = try transaction.insert(
                store.key(number).span, Array(repeating: UInt8(2), count: 200).span,
                into: store.tree)
            // The transaction sees the current state of its own pages.
            if number % 30 == 0 { try Self.expectAll(of: store, transaction, provedBy: nil) }
        }
        _ = try transaction.commit()
        try Self.expectAll(of: store, store.engine.snapshot(), provedBy: 7)
        try Self.expectAll(of: old, before, provedBy: 7)
    }
}
