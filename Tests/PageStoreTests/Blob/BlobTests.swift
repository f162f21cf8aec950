import PageStore
import TestSupport
import Testing

@Suite struct BlobTests {
    static let sizes = [
        0, 1, 496, 497, 65_535, 65_536, 65_537, BlobLayout.chunkPayloadSize,
        BlobLayout.chunkPayloadSize + 1, 3_000_000,
    ]

    private func engine(_ pageSize: Int, _ files: MemoryFileSystem) throws -> Engine {
        var options = Engine.Options()
        options.pageSizeInBytes = pageSize
        options.unitSizeInBytes = min(1024, pageSize)
        return try Engine.open(path: "store", options: options, files: files)
    }

    @Test func `the changed bytes of a transaction include blob chunks`() throws {
        let transaction = try Engine.inMemory().beginWrite()
        _ = try transaction.createBlob([UInt8](repeating: 1, count: 3_000_000).span)
        #expect(transaction.changedBytes >= 3_000_000)
        #expect(transaction.changedBytes < 3_200_000)
    }

    @Test(arguments: sizes, [512, 16_384])
    func `a blob is read whole and in parts, and leaves no page when deleted`(
        _ size: Int, _ pageSize: Int
    ) throws {
        var random = SeededRandom(for: "BlobTests \(size)")
        let files = MemoryFileSystem()
        let bytes = random.bytes(size)
        var blob: BlobID?
        do {
            let engine = try engine(pageSize, files)
            let transaction = try engine.beginWrite()
            blob = try transaction.createBlob(bytes.span)
            _ = try transaction.commit()
            try engine.close()
        }
        let id = try #require(blob)
        #expect(id.sizeInBytes == UInt64(size))
        let engine = try engine(pageSize, files)
        let snapshot = try engine.snapshot()
        #expect(try snapshot.readBlob(id) == bytes)
        for _ in 0..<20 {
            let lower = random.below(size + 1)
            let upper = lower + random.below(size + 1 - lower)
            #expect(
                try snapshot.readBlob(id, UInt64(lower)..<UInt64(upper))
                    == Array(bytes[lower..<upper]))
        }
        #expect(StoreCheck.run(snapshot) == [])
        let transaction = try engine.beginWrite()
        try transaction.deleteBlob(id)
        _ = try transaction.commit()
        // Reading no bytes reads no page.
        if size > 0 {
            #expect(throws: StoreError.self) { try engine.snapshot().readBlob(id) }
        }
        #expect(StoreCheck.run(try engine.snapshot()) == [])
    }
}
