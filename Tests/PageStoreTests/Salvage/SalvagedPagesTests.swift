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

    /// A bug: sizes that no store has ended the process that opened a store of them.
    @Test(arguments: [256, 512]) func `no sizes are guessed that a store cannot have`(
        pageSizeInBytes: Int
    ) throws {
        let files = MemoryFileSystem()
        let file = try files.open("store", .create)
        let bytes = ByteBuffer(capacity: 1 << 16)
        bytes.appendZeros(1 << 16)
        for start in stride(from: 8192, to: 1 << 16, by: 4096) {
            bytes.setUInt64(1, at: start + ExtentLayout.hash)
            bytes.setUInt64(UInt64(start / 4096), at: start + ExtentLayout.pageID)
            bytes.setUInt32(UInt32(pageSizeInBytes), at: start + ExtentLayout.storedLength)
            bytes.setUInt32(UInt32(pageSizeInBytes), at: start + ExtentLayout.rawLength)
            // Not compressed: the flags are the lower half.
            bytes.setUInt32(
                UInt32(ExtentKind.page.rawValue) << 16, at: start + ExtentLayout.flags)
        }
        try file.write(bytes.view, at: 0)
        let found = SalvageIdentity.find(in: try FileWindow(file))
        #expect(found?.pageSizeInBytes == (pageSizeInBytes == 512 ? 512 : nil))
        if let found {
            #expect(
                PageSizes.isValid(
                    pageSizeInBytes: found.pageSizeInBytes,
                    unitSizeInBytes: found.unitSizeInBytes))
        }
    }
}
