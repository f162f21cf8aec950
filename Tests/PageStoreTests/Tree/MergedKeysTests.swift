import PageStore
import TestSupport
import Testing

/// Keys that a writer merges in batches.
@Suite struct MergedKeysTests {
    private let shape = KeyShape(suffixSizeInBytes: 8)

    struct Shape: Sendable, CustomTestStringConvertible {
        var pageSizeInBytes: Int
        /// The number of edits of each transaction.
        var editCount: Int
        var dirtyPageMax = 1 << 20
        var testDescription: String { "\(editCount) on pages of \(pageSizeInBytes)" }
    }

    static let shapes = [
        Shape(pageSizeInBytes: 512, editCount: 60),
        Shape(pageSizeInBytes: 512, editCount: 300, dirtyPageMax: 8),
        Shape(pageSizeInBytes: 1024, editCount: 200),
        Shape(pageSizeInBytes: 4096, editCount: 600),
        Shape(pageSizeInBytes: 16_384, editCount: 1200),
    ]

    /// Clustered columns, some of them of the largest size, and a number of eight bytes.
    private func key(_ random: inout SeededRandom, _ limit: Int) -> [UInt8] {
        let number = UInt64(random.below(40))
        let columns: [UInt8] =
            switch random.below(12) {
            case 0: []
            case 1: Array(repeating: UInt8(random.below(3)), count: random.below(limit - 7))
            case 2...6: Array("shared/prefix/".utf8) + random.bytes(2)
            case 7: Array("one".utf8)
            default: random.bytes(1 + random.below(20))
            }
        return columns + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private func store(
        pageSizeInBytes: Int
    ) throws -> (engine: Engine, transaction: WriteTransaction, tree: TreeID) {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSizeInBytes
        let engine = try Engine.open(path: "store", options: options, files: MemoryFileSystem())
        let transaction = try engine.beginWrite()
        return (engine, transaction, try transaction.createTree())
    }

    private func apply(
        _ edits: [(key: [UInt8], isRemoval: Bool)], _ writer: TreeWriter
    ) throws -> Set<[UInt8]> {
        var bytes: [UInt8] = []
        for edit in edits { bytes += edit.key }
        return try bytes.withView { view throws(StoreError) in
            var start = 0
            var views: [KeyEdit] = []
            for edit in edits {
                let key = view.slice(from: start, count: edit.key.count)
                views.append(KeyEdit(key, isRemoval: edit.isRemoval))
                start += edit.key.count
            }
            return Set(try writer.apply(views, conflictsBy: shape).map { edits[$0].key })
        }
    }

    @Test(arguments: shapes)
    func `a merged tree equals a sorted array and reports keys with equal columns`(
        _ shape: Shape
    ) throws {
        var random = SeededRandom(for: "MergedKeysTests \(shape.testDescription)")
        let seed = random.seed
        var options = Engine.Options()
        options.pageSizeInBytes = shape.pageSizeInBytes
        options.unitSizeInBytes = min(1024, shape.pageSizeInBytes / 4)
        options.dirtyBytesMax = shape.dirtyPageMax * shape.pageSizeInBytes
        let engine = try Engine.open(path: "store", options: options, files: MemoryFileSystem())
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: shape.pageSizeInBytes)
        var root: TreeID?
        var model: Set<[UInt8]> = []
        for round in 0..<(Sweep.isWhole ? 16 : 8) {
            let transaction = try engine.beginWrite()
            let tree = try root ?? transaction.createTree()
            (root, transaction.catalogRoot) = (tree, tree.root)
            // Phases of growth and of shrinking.
            let removals = round % 8 < 5 ? 2 : 9
            var edits: [(key: [UInt8], isRemoval: Bool)] = []
            let known = model.sorted { $0.lexicographicallyPrecedes($1) }
            for _ in 0..<shape.editCount {
                let isRemoval = random.below(10) < removals
                let isKnown = !known.isEmpty && random.below(8) < (isRemoval ? 7 : 1)
                let key = isKnown ? known[random.below(known.count)] : key(&random, limit)
                edits.append((key, isRemoval))
                // Some keys are removed and inserted in one batch.
                if random.below(12) == 0 { edits.append((key, !isRemoval)) }
            }
            let order = edits.indices.sorted {
                edits[$0].key == edits[$1].key
                    ? $0 < $1 : edits[$0].key.lexicographicallyPrecedes(edits[$1].key)
            }
            let before = model
            for edit in edits {
                if edit.isRemoval { model.remove(edit.key) } else { model.insert(edit.key) }
            }
            let writer = TreeWriter(transaction, tree: tree, isAscending: true)
            let conflictCandidates = try apply(order.map { edits[$0] }, writer)
            try compare(transaction, tree, model, seed)
            let added = model.subtracting(before)
            for group in Dictionary(grouping: model, by: { $0.dropLast(8) }).values
            where group.count > 1 {
                let silent = group.count { added.contains($0) && !conflictCandidates.contains($0) }
                let hasOld = group.contains { !added.contains($0) }
                #expect(silent <= (hasOld ? 0 : 1), "\(group), seed \(seed)")
            }
            for key in conflictCandidates where random.below(8) == 0 {
                // A key without others of equal columns, before and after, shares its columns with
                // none.
                let columns = key.dropLast(8)
                let count = before.union(edits.map(\.key)).count { $0.starts(with: columns) }
                #expect(count > 1, "\(key), seed \(seed)")
            }
            _ = try transaction.commit()
            #expect(StoreCheck.run(try engine.snapshot()) == [])
        }
    }

    private func compare(
        _ view: PageView, _ tree: TreeID, _ model: Set<[UInt8]>, _ seed: UInt64
    ) throws {
        #expect(try view.checkInvariants(of: tree) == model.count, "seed \(seed)")
        let cursor = Cursor(view, tree: tree)
        var isMore = try cursor.seekFirst()
        for key in model.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try #require(isMore, "seed \(seed)")
            #expect(cursor.key.array() == key, "seed \(seed)")
            isMore = try cursor.next()
        }
        #expect(!isMore, "seed \(seed)")
    }

    @Test func `keys that fill a leaf several times over go into leaves that are filled evenly`()
        throws
    {
        let (_, transaction, tree) = try store(pageSizeInBytes: 4096)
        func key(_ number: Int) -> [UInt8] {
            [7, 7] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        let writer = TreeWriter(transaction, tree: tree, isAscending: true)
        let sparse = (0..<2000).map { (key: key($0 * 40), isRemoval: false) }
        _ = try apply(sparse, writer)
        var check = TreeCheck(transaction)
        check.checkTree(tree)
        let before = check.visited.count
        let dense = (20_000..<36_000).filter { $0 % 40 != 0 }.map {
            (key: key($0), isRemoval: false)
        }
        _ = try apply(dense, TreeWriter(transaction, tree: tree, isAscending: true))
        #expect(try transaction.checkInvariants(of: tree) == 17_600)
        check = TreeCheck(transaction)
        check.checkTree(tree)
        // A slot, the size of the value, and the part of the key after any prefix.
        let added = dense.count * (8 + 2 + 3) / 4096
        let count = check.visited.count - before
        #expect(count < added * 5 / 4, "\(count) leaves for what fills \(added)")
    }

    @Test func `an overflow value is freed when a key without a value replaces its entry`()
        throws
    {
        let (engine, transaction, tree) = try store(pageSizeInBytes: 512)
        transaction.catalogRoot = tree.root
        let large = [UInt8](repeating: 1, count: 3000)
        let keys = (0..<60).map { [UInt8($0), 0, 0, 0, 0, 0, 0, 0, 0] }
        for key in keys {
            try transaction.insert(key.span, (key[0] % 10 == 3 ? large : []).span, into: tree)
        }
        let writer = TreeWriter(transaction, tree: tree, isAscending: true)
        _ = try apply(keys.map { (key: $0, isRemoval: $0[0] % 4 == 3) }, writer)
        #expect(try transaction.checkInvariants(of: tree) == 45)
        _ = try transaction.commit()
        #expect(StoreCheck.run(try engine.snapshot()) == [])
    }
}
