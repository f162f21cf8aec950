/// Where the superblock keeps what: spec/01-file.md.
package enum SuperblockLayout {
    package static let magic = 0
    package static let formatVersion = 8
    package static let pageSize = 12
    package static let generation = 16
    package static let uuid = 24
    package static let unitSize = 40
    package static let mapDepth = 44
    package static let featuresCompatible = 48
    package static let featuresReadOnly = 56
    package static let featuresIncompatible = 64
    package static let commitNumber = 72
    package static let commitTime = 80
    package static let pageCount = 88
    package static let catalogRoot = 96
    package static let mapRoot = 104
    package static let allocationRoot = 120
    package static let headOffset = 136
    package static let headLength = 144
    package static let headNumber = 152
    package static let headSalt = 160
    package static let requiredLength = 176
    package static let lineage = 184
    package static let originLineage = 192
    package static let originCommit = 200
    package static let originMark = 208
    package static let sessionCount = 216
    package static let sessions = 224
    package static let hash = 4088
    package static let size = 4096

    /// A session of the history.
    package static let sessionBase = 0
    package static let sessionMark = 8
    package static let sessionSize = 16

    /// "Trellis" and a line feed, which a transfer as text would change.
    package static let magicValue: UInt64 = 0x0A73_696C_6C65_7254
    package static let formatVersionValue: UInt32 = 1
}

/// The permanent identity of a store's file.
package struct StoreUUID: Hashable, Sendable, CustomStringConvertible {
    package var low: UInt64
    package var high: UInt64

    /// 32 hexadecimal digits, for names of files.
    package var description: String {
        [high, low].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// One of the four quarters, the low ones first.
    func part(_ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: (index < 2 ? low : high) >> (UInt64(index & 1) * 32))
    }

    /// The seed of the hash of whatever lies at a place of this file, so that bytes of another
    /// file or of another place never pass.
    func seed(_ first: UInt64, _ second: UInt64 = 0, _ third: UInt64 = 0) -> UInt64 {
        let buffer = ByteBuffer(capacity: 64)
        buffer.appendUInt64(low)
        buffer.appendUInt64(high)
        buffer.appendUInt64(first)
        buffer.appendUInt64(second)
        buffer.appendUInt64(third)
        return Checksum.hash(buffer.view, seed: 0)
    }
}

/// One of the two roots of the file: the newest valid one says where everything is.
package struct Superblock: Hashable, Sendable {
    package var pageSizeInBytes: Int
    package var unitSizeInBytes: Int
    package var generation: UInt64
    package var uuid: StoreUUID
    package var mapDepth: Int
    package var commitNumber: UInt64
    package var commitTime: UInt64
    package var pageCount: UInt64
    package var catalogRoot: UInt64
    package var mapRoot: ExtentAddress
    package var allocationRoot: ExtentAddress
    package var head: LogSegment
    package var requiredLength: UInt64
    /// Features that may be ignored; kept as they were found.
    package var featuresCompatible: UInt64 = 0
    /// Features that only a reader may ignore.
    package var featuresReadOnly: UInt64 = 0
    /// Random, and another one in each copy: from here on their histories may differ.
    package var lineage: UInt64 = 0
    /// Of a copy: the lineage of the store that it is a copy of; else zero.
    package var originLineage: UInt64 = 0
    /// Of a copy: the commit of that store that it shows.
    package var originCommit: UInt64 = 0
    /// Of a copy: the mark of the session in which that commit was made; zero when not known.
    package var originMark: UInt64 = 0
    package var history = History()

    /// The catalog's root, nil in a store that has none.
    var root: PageID? { catalogRoot == 0 ? nil : PageID(catalogRoot) }

    /// The slot of the file that this generation is written to.
    package var byteOffset: UInt64 { (generation & 1) * UInt64(SuperblockLayout.size) }

    package func encoded() -> ByteBuffer {
        typealias Layout = SuperblockLayout
        let page = PageBuffer(id: PageID(0), count: Layout.size)
        page.setUInt64(Layout.magicValue, at: Layout.magic)
        page.setUInt32(Layout.formatVersionValue, at: Layout.formatVersion)
        page.setUInt32(UInt32(pageSizeInBytes), at: Layout.pageSize)
        page.setUInt64(generation, at: Layout.generation)
        page.setUInt64(uuid.low, at: Layout.uuid)
        page.setUInt64(uuid.high, at: Layout.uuid + 8)
        page.setUInt32(UInt32(unitSizeInBytes), at: Layout.unitSize)
        page.setUInt32(UInt32(mapDepth), at: Layout.mapDepth)
        page.setUInt64(featuresCompatible, at: Layout.featuresCompatible)
        page.setUInt64(featuresReadOnly, at: Layout.featuresReadOnly)
        page.setUInt64(commitNumber, at: Layout.commitNumber)
        page.setUInt64(commitTime, at: Layout.commitTime)
        page.setUInt64(pageCount, at: Layout.pageCount)
        page.setUInt64(catalogRoot, at: Layout.catalogRoot)
        mapRoot.store(in: page, at: Layout.mapRoot)
        allocationRoot.store(in: page, at: Layout.allocationRoot)
        page.setUInt64(head.byteOffset, at: Layout.headOffset)
        page.setUInt64(head.sizeInBytes, at: Layout.headLength)
        page.setUInt64(head.number, at: Layout.headNumber)
        page.setUInt64(head.salt.low, at: Layout.headSalt)
        page.setUInt64(head.salt.high, at: Layout.headSalt + 8)
        page.setUInt64(requiredLength, at: Layout.requiredLength)
        page.setUInt64(lineage, at: Layout.lineage)
        page.setUInt64(originLineage, at: Layout.originLineage)
        page.setUInt64(originCommit, at: Layout.originCommit)
        page.setUInt64(originMark, at: Layout.originMark)
        history.store(in: page)
        let covered = page.view.slice(from: 0, count: Layout.hash)
        page.setUInt64(Checksum.hash(covered, seed: 0), at: Layout.hash)
        let buffer = ByteBuffer(capacity: Layout.size)
        buffer.append(page.view)
        return buffer
    }

    /// Reads one copy. Throws its error, with the byte's offset in the file.
    package static func decode(_ bytes: ByteView, slot: Int) throws(StoreError) -> Superblock {
        typealias Layout = SuperblockLayout
        let start = UInt64(slot * Layout.size)
        guard bytes.count == Layout.size else {
            throw StoreError(.truncated, "the file ends inside its superblock", byteOffset: start)
        }
        guard bytes.uint64(at: Layout.magic) == Layout.magicValue else {
            throw StoreError(
                .notAStore, "the file does not begin as a Trellis store", byteOffset: start)
        }
        let covered = bytes.slice(from: 0, count: Layout.hash)
        guard bytes.uint64(at: Layout.hash) == Checksum.hash(covered, seed: 0) else {
            throw .corrupt(
                nil, "the superblock contradicts its checksum",
                byteOffset: start + UInt64(Layout.hash))
        }
        try checkVersion(bytes, start: start)
        let superblock = Superblock(
            pageSizeInBytes: Int(bytes.uint32(at: Layout.pageSize)),
            unitSizeInBytes: Int(bytes.uint32(at: Layout.unitSize)),
            generation: bytes.uint64(at: Layout.generation),
            uuid: StoreUUID(
                low: bytes.uint64(at: Layout.uuid), high: bytes.uint64(at: Layout.uuid + 8)),
            mapDepth: Int(bytes.uint32(at: Layout.mapDepth)),
            commitNumber: bytes.uint64(at: Layout.commitNumber),
            commitTime: bytes.uint64(at: Layout.commitTime),
            pageCount: bytes.uint64(at: Layout.pageCount),
            catalogRoot: bytes.uint64(at: Layout.catalogRoot),
            mapRoot: ExtentAddress(bytes, at: Layout.mapRoot),
            allocationRoot: ExtentAddress(bytes, at: Layout.allocationRoot),
            head: LogSegment(
                byteOffset: bytes.uint64(at: Layout.headOffset),
                sizeInBytes: bytes.uint64(at: Layout.headLength),
                number: bytes.uint64(at: Layout.headNumber),
                salt: StoreUUID(
                    low: bytes.uint64(at: Layout.headSalt),
                    high: bytes.uint64(at: Layout.headSalt + 8))),
            requiredLength: bytes.uint64(at: Layout.requiredLength),
            featuresCompatible: bytes.uint64(at: Layout.featuresCompatible),
            featuresReadOnly: bytes.uint64(at: Layout.featuresReadOnly),
            lineage: bytes.uint64(at: Layout.lineage),
            originLineage: bytes.uint64(at: Layout.originLineage),
            originCommit: bytes.uint64(at: Layout.originCommit),
            originMark: bytes.uint64(at: Layout.originMark),
            history: try History(bytes, start: start))
        try superblock.checkRanges(slot: slot)
        return superblock
    }

    private static func checkVersion(_ bytes: ByteView, start: UInt64) throws(StoreError) {
        typealias Layout = SuperblockLayout
        let version = bytes.uint32(at: Layout.formatVersion)
        guard version == Layout.formatVersionValue else {
            throw StoreError(
                .newerFormat, "the file has format version \(version); this program knows 1",
                byteOffset: start + UInt64(Layout.formatVersion))
        }
        let incompatible = bytes.uint64(at: Layout.featuresIncompatible)
        guard incompatible == 0 else {
            throw StoreError(
                .newerFormat,
                "the file uses features (\(incompatible)) that this program does not know",
                byteOffset: start + UInt64(Layout.featuresIncompatible))
        }
    }

    private func checkRanges(slot: Int) throws(StoreError) {
        let start = UInt64(slot * SuperblockLayout.size)
        func require(_ condition: Bool, _ what: String, _ offset: Int) throws(StoreError) {
            guard condition else {
                throw .corrupt(nil, "the superblock's \(what)", byteOffset: start + UInt64(offset))
            }
        }
        typealias Layout = SuperblockLayout
        try require(
            PageSizes.isValid(pageSizeInBytes: pageSizeInBytes, unitSizeInBytes: unitSizeInBytes),
            "page and unit sizes are not powers of two within the limits", Layout.pageSize)
        try require(
            Int(generation & 1) == slot, "generation is in the wrong slot", Layout.generation)
        try require(
            generation <= Limits.numberMax, "generation is out of range", Layout.generation)
        try require(
            commitNumber <= Limits.numberMax, "commit number is out of range",
            Layout.commitNumber)
        try require(
            head.number <= Limits.numberMax, "segment number is out of range",
            Layout.headNumber)
        try require(
            mapDepth >= 1 && mapDepth <= Limits.mapDepthMax, "map depth is out of range",
            Layout.mapDepth)
        try require(
            pageCount >= 1 && pageCount <= Limits.pageCountMax, "page count is out of range",
            Layout.pageCount)
        try require(
            requiredLength < UInt64(1) << 62, "required length is out of range",
            Layout.requiredLength)
        let block = UInt64(Limits.blockSizeInBytes)
        try require(
            head.byteOffset % block == 0 && head.sizeInBytes % block == 0
                && head.sizeInBytes >= block
                && head.sizeInBytes <= Limits.walSegmentSizeInBytesMax
                && head.byteOffset >= 2 * block
                && head.byteOffset <= requiredLength
                && head.sizeInBytes <= requiredLength - head.byteOffset,
            "log segment lies outside the file", Layout.headOffset)
    }
}

/// The two sizes that a store fixes at its creation.
package enum PageSizes {
    static let pagesPerUnitMax = 4

    package static func isValid(pageSizeInBytes: Int, unitSizeInBytes: Int) -> Bool {
        func isPower(_ number: Int) -> Bool { number > 0 && number & (number - 1) == 0 }
        return isPower(pageSizeInBytes) && isPower(unitSizeInBytes)
            && pageSizeInBytes >= Limits.pageSizeInBytesMin
            && pageSizeInBytes <= Limits.pageSizeInBytesMax
            && unitSizeInBytes >= Limits.unitSizeInBytesMin
            && unitSizeInBytes <= Limits.unitSizeInBytesMax
            && unitSizeInBytes <= pageSizeInBytes * pagesPerUnitMax
    }
}
