import PageStore
import TestSupport
import Testing

/// Whether an insertion reports other keys with equal columns, in whichever leaf they are.
@Suite struct SharedBeginningTests {
    private static func key(_ text: String, _ number: UInt8) -> [UInt8] {
        Array(text.utf8) + [number]
    }

    @Test(arguments: [1, 20, 60])
    func `an insertion reports a neighbour with equal columns, in any leaf`(
        size: Int
    ) throws {
        var random = SeededRandom(for: "SharedBeginningTests \(size)")
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        let engine = try Engine.open(path: "store", options: options, files: MemoryFileSystem())
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let writer = TreeWriter(transaction, tree: tree)
        let value: [UInt8] = [1, 2, 3]
        var model: [String: Set<UInt8>] = [:]
        for _ in 0..<12_000 {
            let text = String(repeating: "x", count: size) + "\(random.below(400))-"
            // One of them has so many keys that they fill several leaves.
            let isLarge = random.below(10) == 0
            let columns = isLarge ? "\(size)" : text
            let number = UInt8(random.below(isLarge ? 256 : 5))
            let key = Self.key(columns, number)
            if random.below(3) == 0 {
                let found = try writer.remove(key.span)
                #expect(found == (model[columns]?.remove(number) != nil), "seed \(random.seed)")
                continue
            }
            let isShared = try key.withView { key throws(StoreError) in
                try value.withView { value throws(StoreError) in
                    try writer.insert(key, value, sharing: key.count - 1)
                }
            }
            let others = model[columns, default: []].subtracting([number])
            #expect(isShared == !others.isEmpty, "\(columns) \(number), seed \(random.seed)")
            model[columns, default: []].insert(number)
        }
        let count = model.values.reduce(0) { $0 + $1.count }
        #expect(try transaction.checkInvariants(of: tree) == count)
    }
}
