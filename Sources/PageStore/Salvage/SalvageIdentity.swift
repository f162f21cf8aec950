/// The UUID and sizes by which the extents of a file are read. They come from a superblock, even a
/// damaged one, or else from the extents together. Checksums confirm them: no wrong identity gives
/// the right checksum.
package struct SalvageIdentity: Hashable, Sendable {
    /// Nil when nothing says it: then checksums cannot be compared.
    package var uuid: StoreUUID?
    package var pageSizeInBytes: Int
    package var unitSizeInBytes: Int

    /// Nil when the file has nothing that looks like an extent.
    static func find(in window: FileWindow) -> SalvageIdentity? {
        for slot in 0..<2 {
            let offset = UInt64(slot * SuperblockLayout.size)
            let bytes = window.view(at: offset, count: SuperblockLayout.size)
            guard bytes.count == SuperblockLayout.size else { continue }
            let identity = SalvageIdentity(
                uuid: StoreUUID(
                    low: bytes.uint64(at: SuperblockLayout.uuid),
                    high: bytes.uint64(at: SuperblockLayout.uuid + 8)),
                pageSizeInBytes: Int(bytes.uint32(at: SuperblockLayout.pageSize)),
                unitSizeInBytes: Int(bytes.uint32(at: SuperblockLayout.unitSize)))
            guard identity.isPossible else { continue }
            var scan = ExtentScan(window, identity)
            if scan.next() != nil { return identity }
        }
        return ExtentVote(window).winner(in: window)
    }

    private var isPossible: Bool {
        PageSizes.isValid(pageSizeInBytes: pageSizeInBytes, unitSizeInBytes: unitSizeInBytes)
    }

    /// Whether the bytes of an extent have the checksum that they must have at a place. Without a
    /// UUID: whether they are a sound page.
    func accepts(_ bytes: ByteView, _ header: ExtentHeader, at byteOffset: UInt64) -> Bool {
        guard bytes.count == ExtentLayout.size + header.storedLength else { return false }
        guard let uuid else {
            guard header.kind == .page,
                let image = try? ExtentCodec.image(
                    bytes, header, page: nil, byteOffset: byteOffset)
            else { return false }
            return (try? PageCheck.validate(image)) != nil
        }
        let unit = byteOffset / UInt64(unitSizeInBytes)
        return Checksum.hash(bytes.dropFirst(8), seed: uuid.seed(unit))
            == bytes.uint64(at: ExtentLayout.hash)
    }
}

/// Extents of a file in order.
struct ExtentScan {
    private let window: FileWindow
    private let identity: SalvageIdentity
    private var position = UInt64(2 * Limits.blockSizeInBytes)

    init(_ window: FileWindow, _ identity: SalvageIdentity) {
        self.window = window
        self.identity = identity
    }

    /// The next valid extent, and its address; nil at the file's end.
    mutating func next() -> (header: ExtentHeader, address: ExtentAddress)? {
        let unitSize = identity.unitSizeInBytes
        while position < window.fileSizeInBytes {
            let start = window.pastHole(position)
            position = start + UInt64(unitSize)
            guard
                let header = ExtentHeader(likely: window.view(at: start, count: ExtentLayout.size))
            else { continue }
            let size = ExtentLayout.size + header.storedLength
            let bytes = window.view(at: start, count: size)
            guard identity.accepts(bytes, header, at: start) else { continue }
            let unitCount = (size + unitSize - 1) / unitSize
            position = start + UInt64(unitCount * unitSize)
            let address = ExtentAddress(
                hash: bytes.uint64(at: ExtentLayout.hash), unit: start / UInt64(unitSize),
                unitCount: unitCount)
            return (header, address)
        }
        return nil
    }
}

/// Derives the identity from the headers of extents: each has a quarter of the UUID, and each
/// page's size is the store's.
private struct ExtentVote {
    private var parts: [[UInt32: Int]] = Array(repeating: [:], count: 4)
    private var pageSizes: [Int: Int] = [:]
    /// Counts by the largest unit that the place allows.
    private var unitSizes: [Int: Int] = [:]
    /// Places to try an identity at.
    private var samples: [UInt64] = []
    private static let sampleCountMax = 512

    init(_ window: FileWindow) {
        var position = UInt64(2 * Limits.blockSizeInBytes)
        while position < window.fileSizeInBytes {
            position = window.pastHole(position)
            defer { position += UInt64(Limits.unitSizeInBytesMin) }
            let bytes = window.view(at: position, count: ExtentLayout.size)
            guard let header = ExtentHeader(likely: bytes) else { continue }
            let isPage = header.kind == .page || header.kind == .map
            guard isPage, header.rawLength & (header.rawLength - 1) == 0 else { continue }
            parts[Int(header.pageID & 3)][bytes.uint32(at: ExtentLayout.uuidPart), default: 0] += 1
            pageSizes[header.rawLength, default: 0] += 1
            let alignment = 1 << min(position.trailingZeroBitCount, 12)
            unitSizes[min(alignment, Limits.unitSizeInBytesMax), default: 0] += 1
            if samples.count < Self.sampleCountMax { samples.append(position) }
        }
    }

    func winner(in window: FileWindow) -> SalvageIdentity? {
        let sizes = pageSizes.filter { size, _ in
            PageSizes.isValid(
                pageSizeInBytes: size, unitSizeInBytes: Limits.unitSizeInBytesMin)
        }
        guard let pageSize = sizes.max(by: { $0.value < $1.value })?.key else { return nil }
        let unitSizeMax = min(
            Limits.unitSizeInBytesMax, pageSize * PageSizes.pagesPerUnitMax)
        var unitSize = unitSizeMax
        while unitSize >= Limits.unitSizeInBytesMin {
            defer { unitSize /= 2 }
            let identity = SalvageIdentity(
                uuid: uuid, pageSizeInBytes: pageSize, unitSizeInBytes: unitSize)
            if samples.contains(where: { isProof($0, of: identity, in: window) }) {
                return identity
            }
        }
        return SalvageIdentity(
            uuid: nil, pageSizeInBytes: pageSize,
            unitSizeInBytes: min(likelyUnitSize, unitSizeMax))
    }

    private var uuid: StoreUUID {
        let words = parts.map { part in
            UInt64(part.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? 0)
        }
        return StoreUUID(low: words[0] | words[1] << 32, high: words[2] | words[3] << 32)
    }

    /// Half of all extents begin at an odd unit.
    private var likelyUnitSize: Int {
        let total = unitSizes.values.reduce(0, +)
        return unitSizes.filter { $0.value * 8 > total }.keys.min() ?? Limits.unitSizeInBytesMin
    }

    private func isProof(
        _ byteOffset: UInt64, of identity: SalvageIdentity, in window: FileWindow
    ) -> Bool {
        guard byteOffset % UInt64(identity.unitSizeInBytes) == 0,
            let header = ExtentHeader(likely: window.view(at: byteOffset, count: ExtentLayout.size))
        else { return false }
        let size = ExtentLayout.size + header.storedLength
        return identity.accepts(window.view(at: byteOffset, count: size), header, at: byteOffset)
    }
}

extension ExtentHeader {
    /// A header that could be one. Nearly all other bytes fail this, so that few are hashed.
    init?(likely bytes: ByteView) {
        guard bytes.count == ExtentLayout.size, bytes.uint64(at: ExtentLayout.hash) != 0,
            let kind = ExtentKind(rawValue: bytes.uint16(at: ExtentLayout.kind))
        else { return nil }
        let storedLength = Int(bytes.uint32(at: ExtentLayout.storedLength))
        let rawLength = Int(bytes.uint32(at: ExtentLayout.rawLength))
        let flags = bytes.uint16(at: ExtentLayout.flags)
        guard flags <= ExtentLayout.flagCompressed, storedLength > 0,
            rawLength <= Limits.chunkSizeInBytesMax,
            flags == 0 ? storedLength == rawLength : storedLength < rawLength
        else { return nil }
        self.init(
            pageID: bytes.uint64(at: ExtentLayout.pageID),
            generation: bytes.uint64(at: ExtentLayout.generation),
            commit: bytes.uint64(at: ExtentLayout.commit), storedLength: storedLength,
            rawLength: rawLength, isCompressed: flags == ExtentLayout.flagCompressed, kind: kind)
    }
}
