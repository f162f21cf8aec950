import PageStore
import Testing

/// Blobs with damaged pages.
@Suite struct BlobDamageTests {
    private func transaction() throws -> WriteTransaction {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 512
        return try Engine.inMemory(options: options).beginWrite()
    }

    @Test func `a blob whose size was changed is reported as corrupt`() throws {
        let transaction = try transaction()
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

    @Test func `reading a blob whose pages form a cycle ends with an error`() throws {
        let transaction = try transaction()
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
        let transaction = try transaction()
        let blob = try transaction.createBlob(
            Array(repeating: 7 as UInt8, count: 3 * BlobLayout.chunkPayloadSize).span)
        let list = try transaction.editablePage(blob.page)
        let first = list.uint64(at: BlobLayout.payload)
        list.setUInt64(first, at: BlobLayout.payload + BlobLayout.listEntrySize)
        let error = #expect(throws: StoreError.self) { try transaction.readBlob(blob) }
        #expect(error?.page == first)
    }
}
