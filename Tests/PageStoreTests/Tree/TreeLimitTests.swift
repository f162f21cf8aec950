import PageStore
import Testing

@Suite struct TreeLimitTests {
    static let pageSizes = [512, 1024, 4096, 16_384, 65_536]

    private func transaction(_ pageSize: Int) throws -> WriteTransaction {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSize
        options.unitSizeInBytes = min(1024, pageSize)
        return try Engine.inMemory(options: options).beginWrite()
    }

    @Test(arguments: pageSizes)
    func `keys up to the limit are kept and longer ones are refused`(_ pageSize: Int) throws {
        let transaction = try transaction(pageSize)
        let tree = try transaction.createTree()
        let writer = TreeWriter(transaction, tree: tree)
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: pageSize)
        for size in [0, 1, limit - 1, limit] {
            let key = [UInt8](repeating: 9, count: size)
            #expect(try !transaction.insert(key.span, key.span, into: tree))
            #expect(try transaction.withValue(for: key.span, in: tree) { $0.array() } == key)
        }
        let long = [UInt8](repeating: 9, count: limit + 1)
        for insert in [
            { try transaction.insert(long.span, long.span, into: tree) },
            { try writer.insert(long.span, long.span) },
        ] {
            let error = #expect(throws: StoreError.self) { _ = try insert() }
            #expect(error?.code == .tooLarge)
        }
        #expect(try !transaction.remove(long.span, from: tree))
        #expect(try !writer.remove(long.span))
        #expect(try !transaction.contains(long.span, in: tree))
        #expect(try transaction.checkInvariants(of: tree) == 4)
    }

    /// The worst case: keys of the largest size that differ in the last byte, with values as large
    /// as a leaf takes.
    @Test(arguments: pageSizes)
    func `the largest entries divide and merge`(_ pageSize: Int) throws {
        let transaction = try transaction(pageSize)
        let tree = try transaction.createTree()
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: pageSize)
        let value = [UInt8](
            repeating: 1, count: Limits.inlineValueSizeInBytesMax(pageSizeInBytes: pageSize))
        func key(_ number: Int) -> [UInt8] {
            let start = [UInt8](repeating: UInt8(number % 3), count: limit - 2)
            return start + [UInt8(number / 256), UInt8(number % 256)]
        }
        let numbers = (0..<300).map { $0 * 7 % 300 }
        for number in numbers {
            #expect(try !transaction.insert(key(number).span, value.span, into: tree))
        }
        #expect(try transaction.checkInvariants(of: tree) == 300)
        for number in numbers {
            #expect(try transaction.remove(key(number).span, from: tree))
            if number % 29 == 0 { try transaction.checkInvariants(of: tree) }
        }
        #expect(try transaction.checkInvariants(of: tree) == 0)
    }

    @Test func `a value is read back in and out of overflow pages`() throws {
        let transaction = try transaction(512)
        let tree = try transaction.createTree()
        let key = Array("key".utf8)
        for size in [10, 97, 96, 70_000, 3, 2_500_000, 0] {
            let value = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            try transaction.insert(key.span, value.span, into: tree)
            #expect(try transaction.withValue(for: key.span, in: tree) { $0.array() } == value)
        }
        transaction.catalogRoot = tree.root
        try transaction.checkInvariants(of: tree)
    }

    @Test func `a cursor at no entry has no key`() async {
        await #expect(processExitsWith: .failure) {
            let transaction = try Engine.inMemory().beginWrite()
            _ = Cursor(transaction, tree: try transaction.createTree()).key
        }
    }
}
