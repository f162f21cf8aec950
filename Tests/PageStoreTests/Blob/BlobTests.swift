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

    @Test(arguments: sizes, [512, 16_384])
    func `a blob is read back whole and in parts, and leaves nothing behind`(
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

    @Test func `a blob whose size was changed is reported as corrupt`() throws {
        let engine = try engine(512, MemoryFileSystem())
        let transaction = try engine.beginWrite()
        let blobs = try [10, 1000, 100_000, 2_000_000].map { size in
            try transaction.createBlob(Array(repeating: 7 as UInt8, count: size).span)
        }
        for blob in blobs {
            for size in [blob.sizeInBytes + 1, blob.sizeInBytes - 1, 1 << 63, .max] {
                let lie = BlobID(page: blob.page, sizeInBytes: size)
                let error = #expect(throws: StoreError.self) { try transaction.readBlob(lie) }
                #expect(error?.code == .corrupt)
            }
            #expect(try transaction.readBlob(blob).count == Int(blob.sizeInBytes))
        }
    }

    @Test func `a run that goes round in a circle ends`() throws {
        let engine = try engine(512, MemoryFileSystem())
        let transaction = try engine.beginWrite()
        let blob = try transaction.createBlob(Array(repeating: 7 as UInt8, count: 2000).span)
        let first = try transaction.page(blob.page)
        let second = try transaction.editablePage(
            PageID(first.uint64(at: BlobLayout.next)))
        second.setUInt64(blob.page.rawValue, at: BlobLayout.next)
        let lie = BlobID(page: blob.page, sizeInBytes: 60_000)
        #expect(throws: StoreError.self) { try transaction.readBlob(lie) }
        #expect(throws: StoreError.self) { try transaction.readBlob(blob) }
        #expect(throws: StoreError.self) { try transaction.deleteBlob(blob) }
    }

    @Test func `a list that names one chunk again and again is reported as corrupt`() throws {
        let engine = try engine(512, MemoryFileSystem())
        let transaction = try engine.beginWrite()
        let blob = try transaction.createBlob(
            Array(repeating: 7 as UInt8, count: 3 * BlobLayout.chunkPayloadSize).span)
        let list = try transaction.editablePage(blob.page)
        let first = list.uint64(at: BlobLayout.payload)
        list.setUInt64(first, at: BlobLayout.payload + BlobLayout.listEntrySize)
        let error = #expect(throws: StoreError.self) { try transaction.readBlob(blob) }
        #expect(error?.page == first)
    }
}
