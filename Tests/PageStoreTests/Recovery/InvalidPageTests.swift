import PageStore
import TestSupport
import Testing

/// Invalid pages in frames and extents with correct hashes.
@Suite struct InvalidPageTests {
    /// A store whose catalog page claims more content than fits.
    private func store(isChangedLater: Bool) throws -> (FaultyFileSystem, Engine, PageID) {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: .small, files: files)
        let transaction = try engine.beginWrite()
        let page = try transaction.allocatePage(.overflow)
        transaction.catalogRoot = page.id
        let later: WriteTransaction
        if isChangedLater {
            _ = try transaction.commit()
            later = try engine.beginWrite()
        } else {
            later = transaction
        }
        try later.editablePage(page.id).setUInt32(2000, at: BlobLayout.payloadSize)
        _ = try later.commit()
        return (files, engine, page.id)
    }

    private func reader(_ files: FaultyFileSystem) throws -> Engine {
        var options = Engine.Options.small
        options.mode = .reading
        return try Engine.open(path: "store", options: options, files: files.processDeath())
    }

    @Test(arguments: [false, true]) func `the log's pages are validated when it is read`(
        isDelta: Bool
    ) throws {
        let (files, engine, id) = try store(isChangedLater: isDelta)
        defer { withExtendedLifetime(engine) {} }
        let error = #expect(throws: StoreError.self) { _ = try reader(files) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == id.rawValue)
        let frame = Int(try #require(error?.byteOffset))
        let type: FrameType = isDelta ? .delta : .full
        #expect(files.bytes[frame + FrameLayout.type] == type.rawValue)
    }

    @Test func `a page is validated when it is read from the file`() throws {
        let (files, engine, id) = try store(isChangedLater: false)
        try engine.checkpointNow()
        let reader = try reader(files)
        let error = #expect(throws: StoreError.self) { _ = try reader.snapshot().page(id) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == id.rawValue)
        #expect(error?.message.contains("longer than the page") == true)
    }
}
