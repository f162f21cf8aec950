import TestSupport
import Testing

@testable import PageStore

/// The version of a page that a salvage uses.
@Suite struct SalvagedPagesTests {
    /// A bug: the extent that the log named had a bad sector, and the older version had been
    /// dropped for it.
    @Test func `an older version replaces one that the log names and cannot be read`() throws {
        let files = MemoryFileSystem()
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        options.outOfLineBytesMin = 4 * 4096
        options.checkpointsInBackground = false
        let engine = try Engine.open(path: "store", options: options, files: files)
        var random = SeededRandom(for: "SalvagedPagesTests")
        let first = try engine.beginWrite()
        let tree = try first.createTree()
        func fill(_ transaction: WriteTransaction) throws {
            for key in 0..<200 as Range<UInt8> {
                try transaction.insert([key].span, random.bytes(200).span, into: tree)
            }
        }
        try fill(first)
        first.catalogRoot = tree.root
        _ = try first.commit()
        try engine.checkpointNow()
        let second = try engine.beginWrite()
        try fill(second)
        _ = try second.commit()
        #expect(try engine.logFrames().contains { $0.type == .extent })

        // The current bytes of the medium: closing would make a checkpoint.
        let file = try files.open("store", .readOnly)
        let buffer = ReadBuffer(count: Int(try file.size()))
        _ = try file.read(into: buffer, at: 0)
        var bytes = buffer.view.array()
        let window = try FileWindow(file)
        let identity = try #require(SalvageIdentity.find(in: window))
        var scan = ExtentScan(window, identity)
        var lost: PageID?
        while lost == nil, let (header, address) = scan.next() {
            guard header.kind == .page, header.commit == 2 else { continue }
            lost = PageID(header.pageID)
            let start = Int(address.unit) * identity.unitSizeInBytes
            let end = start + address.unitCount * identity.unitSizeInBytes
            bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        }
        bytes.replaceSubrange(0..<8192, with: repeatElement(0, count: 8192))
        let damaged = try files.open("damaged", .create)
        try bytes.withView { view throws(StoreError) in try damaged.write(view, at: 0) }
        let id = try #require(lost)
        let pages = try SalvagedPages.scan(path: "damaged", files: files)
        #expect(pages.stalePages.contains(id) && !pages.isNewest(id))
        #expect(try pages.page(id).id == id)
        #expect(pages.stalePages.count == 1)
    }
}
