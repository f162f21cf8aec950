import Foundation
import TestSupport

@testable import PageStore
@testable import RecordStore

/// A store in a file of its own whose extents, log and superblocks are replaced by others with the
/// right hashes, as no program writes them.
final class CraftedFile {
    let path: String
    private(set) var superblock: Superblock
    private let file: any StoreFile
    /// Where the next extent goes: behind all others.
    private var end: UInt64

    /// Begins with a small store of authors and books.
    /// - Parameter portraitBytes: how long a value of zeros each author has.
    init(pageSize: Int = 65_536, unitSize: Int = 1024, portraitBytes: Int = 3) throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("crafted-\(UUID().uuidString).trellis").path
        var options = Engine.Options()
        options.pageSizeInBytes = pageSize
        options.unitSizeInBytes = unitSize
        let database = try RecordDatabase.open(
            .file(path), schema: SampleStore.schema, options: options)
        try SampleStore.fill(database, 1, portrait: [UInt8](repeating: 0, count: portraitBytes))
        try database.close()
        let engine = try Engine.open(path: path)
        try engine.checkpointNow()
        try engine.close()
        file = try DiskFileSystem.shared.open(path, .readWrite)
        let copies = try SuperblockCopy.read(path: path).copies.map { try $0.outcome.get() }
        superblock = copies[0].generation > copies[1].generation ? copies[0] : copies[1]
        end = try file.size()
    }

    deinit {
        file.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    var geometry: Geometry { Geometry(superblock) }

    /// Changes the superblock that ``finish()`` writes.
    func change(_ body: (inout Superblock) -> Void) { body(&superblock) }

    // MARK: Extents

    private func alignEnd(_ alignment: UInt64) {
        end = (end + alignment - 1) / alignment * alignment
    }

    /// Writes an extent behind all others.
    func append(
        _ image: ByteView, id: UInt64, kind: ExtentKind, isCompressed: Bool = true
    ) throws -> ExtentAddress {
        let unitSize = geometry.unitSizeInBytes
        alignEnd(UInt64(unitSize))
        let buffer = ByteBuffer(capacity: 4096)
        ExtentCodec.encode(
            image, id: id, kind: kind, generation: superblock.generation,
            commit: superblock.commitNumber, compresses: isCompressed, into: buffer)
        let unit = end / UInt64(unitSize)
        let address = ExtentCodec.seal(
            buffer, from: 0, unit: unit, unitCount: geometry.unitCount(holding: buffer.count),
            unitSizeInBytes: unitSize, uuid: superblock.uuid)
        try file.write(buffer.view, at: end)
        withExtendedLifetime(buffer) {}
        end += UInt64(buffer.count)
        return address
    }

    /// Leaves a hole.
    func skip(_ byteCount: UInt64) { end += byteCount }

    // MARK: The log

    /// Puts one group with these frames into a new head segment behind all extents.
    func setLog(_ body: (ByteBuffer) -> Void) throws {
        alignEnd(4096)
        let salt = StoreUUID(low: 17, high: 39)
        let group = ByteBuffer(capacity: 1 << 20)
        FrameCodec.appendGroup(salt: salt, number: 1, durableCommit: 0, into: group)
        body(group)
        FrameCodec.appendPad(into: group)
        let size = (UInt64(group.count) + 8191) / 4096 * 4096
        var head = LogSegment(
            byteOffset: end, sizeInBytes: size, number: superblock.head.number + 1, salt: salt)
        head.born = superblock.generation
        _ = FrameCodec.seal(group, chain: head.chainStart(superblock.uuid))
        try file.write(group.view, at: end)
        withExtendedLifetime(group) {}
        end += size
        superblock.head = head
    }

    func appendCommit(to group: ByteBuffer, pageCount: UInt64 = 1 << 40) {
        FrameCodec.appendCommit(
            number: superblock.commitNumber + 1, pageCount: pageCount,
            catalogRoot: superblock.catalogRoot, time: 0, into: group)
    }

    // MARK: The end

    /// Writes both superblocks. Returns the bytes that the file takes on the disk.
    @discardableResult
    func finish() throws -> Int {
        alignEnd(4096)
        try file.truncate(to: end)
        superblock.requiredLength = end
        for _ in 0..<2 {
            superblock.generation += 1
            let bytes = superblock.encoded()
            try file.write(bytes.view, at: superblock.byteOffset)
            withExtendedLifetime(bytes) {}
        }
        return Int(try file.storedBytes())
    }

    /// Like a page of zeros: a run's first page without a byte.
    func emptyPage(_ id: UInt64) -> PageBuffer {
        let page = PageBuffer(id: PageID(id), count: geometry.pageSizeInBytes)
        page[0] = PageKind.overflow.rawValue
        page[1] = BlobLayout.flagFirst
        return page
    }
}
