import PageStore
import TestSupport
import Testing

/// A sorted array and a tree that get the same edits.
struct TreeModel {
    private(set) var keys: [[UInt8]] = []
    private(set) var values: [[UInt8]: [UInt8]] = [:]

    func position(_ key: [UInt8]) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    mutating func insert(_ key: [UInt8], _ value: [UInt8]) -> Bool {
        if values.updateValue(value, forKey: key) != nil { return true }
        keys.insert(key, at: position(key))
        return false
    }

    mutating func remove(_ key: [UInt8]) -> Bool {
        guard values.removeValue(forKey: key) != nil else { return false }
        keys.remove(at: position(key))
        return true
    }
}

@Suite struct TreeModelTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var pageSizeInBytes: Int
        var operationCount: Int
        /// Pages that a transaction may hold before it writes some out.
        var dirtyPageMax = 1 << 20
        var testDescription: String { "pages of \(pageSizeInBytes), \(dirtyPageMax) in memory" }
    }

    static let shapes = [
        Shape(pageSizeInBytes: 512, operationCount: 12_000),
        Shape(pageSizeInBytes: 512, operationCount: 12_000, dirtyPageMax: 8),
        Shape(pageSizeInBytes: 1024, operationCount: 12_000, dirtyPageMax: 24),
        Shape(pageSizeInBytes: 4096, operationCount: 12_000),
        Shape(pageSizeInBytes: 16_384, operationCount: 12_000),
        Shape(pageSizeInBytes: 65_536, operationCount: 12_000),
    ]

    private func options(_ shape: Shape) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = shape.pageSizeInBytes
        options.unitSizeInBytes = min(1024, shape.pageSizeInBytes / 4)
        options.dirtyBytesMax = shape.dirtyPageMax * shape.pageSizeInBytes
        return options
    }

    /// Clustered keys: shared prefixes, the empty key, the longest key, zeros at the end.
    private func key(_ random: inout SeededRandom, _ limit: Int) -> [UInt8] {
        switch random.below(10) {
        case 0: return []
        case 1: return Array(repeating: UInt8(random.below(3)), count: random.below(limit + 1))
        case 2:
            let start = Array(repeating: UInt8(97), count: limit - 3)
            return start + random.bytes(3).map { $0 & 7 }
        case 3...5:
            return Array("shared/prefix/".utf8) + random.bytes(2)
        case 6, 7:
            return (0..<8).map { UInt8(truncatingIfNeeded: random.below(4000) >> (8 * (7 - $0))) }
        default: return random.bytes(random.below(min(limit, 24)))
        }
    }

    private func value(_ random: inout SeededRandom, _ pageSize: Int) -> [UInt8] {
        switch random.below(40) {
        case 0: return random.bytes(pageSize / 4 + random.below(pageSize * 3))
        case 1: return random.bytes(pageSize / 4 - 33)
        case 2: return []
        default: return random.bytes(random.below(40))
        }
    }

    @Test(arguments: shapes)
    func `a tree equals a sorted array after random edits`(
        _ shape: Shape
    ) throws {
        var random = SeededRandom(for: "TreeModelTests \(shape.testDescription)")
        let files = MemoryFileSystem()
        var engine = try Engine.open(path: "store", options: options(shape), files: files)
        var transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        var writer = TreeWriter(transaction, tree: tree)
        var model = TreeModel()
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: shape.pageSizeInBytes)
        for step in 0..<shape.operationCount {
            // Phases of growth and of shrinking, down to nothing at the end.
            let season = step * 6 / shape.operationCount
            let isGrowing = season == 5 ? false : random.below(10) < (season % 2 == 0 ? 8 : 3)
            let isByWriter = random.below(2) == 0
            if !isByWriter { writer = TreeWriter(transaction, tree: tree) }
            if isGrowing {
                let key = key(&random, limit)
                let value = value(&random, shape.pageSizeInBytes)
                let replaced =
                    isByWriter
                    ? try writer.insert(key.span, value.span)
                    : try transaction.insert(key.span, value.span, into: tree)
                #expect(replaced == model.insert(key, value))
            } else {
                let isKnown = !model.keys.isEmpty && random.below(8) > 0
                let key =
                    isKnown ? model.keys[random.below(model.keys.count)] : key(&random, limit)
                let found =
                    isByWriter
                    ? try writer.remove(key.span) : try transaction.remove(key.span, from: tree)
                #expect(found == model.remove(key))
            }
            guard step % (shape.operationCount / 24) == 0 else { continue }
            try compare(transaction, tree, model, &random, limit)
            _ = try transaction.commit()
            if random.below(3) == 0 {
                try engine.close()
                engine = try Engine.open(path: "store", options: options(shape), files: files)
            }
            let snapshot = try engine.snapshot()
            try compare(snapshot, tree, model, &random, limit)
            #expect(StoreCheck.run(snapshot) == [])
            transaction = try engine.beginWrite()
            writer = TreeWriter(transaction, tree: tree)
        }
        for key in model.keys.shuffled(using: &random) {
            #expect(try transaction.remove(key.span, from: tree))
        }
        #expect(try transaction.checkInvariants(of: tree) == 0)
        _ = try transaction.commit()
        let snapshot = try engine.snapshot()
        #expect(try !Cursor(snapshot, tree: tree).seekFirst())
        #expect(StoreCheck.run(snapshot) == [])
    }

    private func compare(
        _ view: PageView, _ tree: TreeID, _ model: TreeModel, _ random: inout SeededRandom,
        _ limit: Int
    ) throws {
        #expect(try view.checkInvariants(of: tree) == model.keys.count)
        let cursor = Cursor(view, tree: tree)
        var position = 0
        var isMore = try cursor.seekFirst()
        while isMore {
            try #require(position < model.keys.count)
            #expect(cursor.key.array() == model.keys[position])
            #expect(try cursor.value().array() == model.values[model.keys[position]])
            position += 1
            isMore = try cursor.next()
        }
        #expect(position == model.keys.count && !cursor.isValid)
        isMore = try cursor.seekLast()
        while isMore {
            position -= 1
            try #require(position >= 0)
            #expect(cursor.key.array() == model.keys[position])
            isMore = try cursor.previous()
        }
        #expect(position == 0)
        for _ in 0..<20 {
            let key = key(&random, limit)
            let place = model.position(key)
            let isEqual = place < model.keys.count && model.keys[place] == key
            #expect(try cursor.seek(key.span) == isEqual)
            #expect(cursor.isValid == (place < model.keys.count))
            if cursor.isValid {
                #expect(cursor.key.array() == model.keys[place])
                #expect(try cursor.previous() == (place > 0))
                if place > 0 { #expect(cursor.key.array() == model.keys[place - 1]) }
            }
            let found = try view.withValue(for: key.span, in: tree) { $0.array() }
            #expect(found == model.values[key])
            #expect(try view.contains(key.span, in: tree) == isEqual)
        }
    }
}
