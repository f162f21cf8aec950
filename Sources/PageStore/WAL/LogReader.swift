/// What reading the log from a generation's head gave.
struct LogContent {
    /// The newest content of each page that the log changes.
    var pages: [PageID: PageVersion.Content] = [:]
    /// Out-of-line extents that a later commit of the log replaced.
    var replacedExtents: [ExtentAddress] = []
    var freed: Set<PageID> = []
    var commitNumber: UInt64
    var pageCount: UInt64
    var catalogRoot: UInt64
    /// The segments in order, the head first.
    var segments: [LogSegment]
    /// Bytes of valid log.
    var byteCount: UInt64 = 0
}

/// One frame as the log holds it, for tools.
package struct LogFrame: Sendable {
    package var byteOffset: UInt64
    package var length: Int
    package var type: FrameType
    package var segmentNumber: UInt64
    package var pageID: UInt64?
    package var commitNumber: UInt64?
}

/// Reads the log from the head segment on: spec/03-wal.md, recovery.
struct LogReader {
    private let engine: Engine
    private let fileSizeInBytes: UInt64
    private var content: LogContent
    private var pending: [(PageID, PageVersion.Content)] = []
    private(set) var frames: [LogFrame] = []
    private let collectsFrames: Bool

    init(
        engine: Engine, superblock: Superblock, fileSizeInBytes: UInt64,
        collectsFrames: Bool = false
    ) {
        self.engine = engine
        self.fileSizeInBytes = fileSizeInBytes
        self.collectsFrames = collectsFrames
        content = LogContent(
            commitNumber: superblock.commitNumber, pageCount: superblock.pageCount,
            catalogRoot: superblock.catalogRoot, segments: [superblock.head])
    }

    /// Reads to the log's end. Throws `corrupt` when a durable commit behind the first bad frame
    /// shows that the end is damage and not an unfinished write.
    mutating func read() throws(StoreError) -> (LogContent, [LogFrame]) {
        var segment = content.segments[0]
        while true {
            let bytes = try load(segment)
            guard let next = try scan(segment, bytes.view) else { break }
            segment = next
            content.segments.append(next)
        }
        return (content, frames)
    }

    private func load(_ segment: LogSegment) throws(StoreError) -> ReadBuffer {
        guard segment.byteOffset <= fileSizeInBytes,
            segment.sizeInBytes <= fileSizeInBytes - segment.byteOffset
        else {
            throw StoreError(
                .truncated, "the file ends inside its log", byteOffset: fileSizeInBytes)
        }
        let buffer = ReadBuffer(count: Int(segment.sizeInBytes))
        let count = try engine.file.read(into: buffer, at: segment.byteOffset)
        guard count == buffer.count else {
            throw StoreError(
                .truncated, "the file ends inside its log",
                byteOffset: segment.byteOffset + UInt64(count))
        }
        return buffer
    }

    /// Follows the chain through one segment; returns the segment that it links to.
    private mutating func scan(
        _ segment: LogSegment, _ bytes: ByteView
    ) throws(StoreError) -> LogSegment? {
        var position = 0
        var chain = segment.chainStart(engine.uuid)
        while let frame = LogReader.frame(bytes, at: position, chain: chain) {
            chain = bytes.uint64(at: position + FrameLayout.hash)
            let byteOffset = segment.byteOffset + UInt64(position)
            note(frame, byteOffset, segment)
            if frame.type == .link {
                content.byteCount += UInt64(position + frame.bytes.count)
                return try target(frame.bytes, byteOffset)
            }
            try apply(frame, byteOffset, segment)
            position += frame.bytes.count
        }
        pending = []
        content.byteCount += UInt64(position)
        try searchLaterGroups(segment, bytes, from: position)
        return nil
    }

    /// The frame at a position, nil when no frame of this chain is there.
    static func frame(
        _ bytes: ByteView, at position: Int, chain: UInt64
    ) -> (type: FrameType, bytes: ByteView)? {
        guard position <= bytes.count - FrameLayout.size else { return nil }
        let length = Int(bytes.uint32(at: position + FrameLayout.length))
        guard length >= FrameLayout.size, length % 8 == 0, length <= Limits.frameSizeInBytesMax,
            length <= bytes.count - position,
            let type = FrameType(rawValue: bytes[position + FrameLayout.type])
        else { return nil }
        let covered = bytes.slice(from: position + 8, count: length - 8)
        guard Checksum.hash(covered, seed: chain) == bytes.uint64(at: position) else { return nil }
        return (type, bytes.slice(from: position, count: length))
    }

    private mutating func note(
        _ frame: (type: FrameType, bytes: ByteView), _ byteOffset: UInt64, _ segment: LogSegment
    ) {
        guard collectsFrames else { return }
        let namesPage = [.full, .delta, .extent].contains(frame.type) && frame.bytes.count >= 24
        let isCommit = frame.type == .commit && frame.bytes.count >= FrameLayout.commitSize
        frames.append(
            LogFrame(
                byteOffset: byteOffset, length: frame.bytes.count, type: frame.type,
                segmentNumber: segment.number,
                pageID: namesPage ? frame.bytes.uint64(at: FrameLayout.pageID) : nil,
                commitNumber: isCommit ? frame.bytes.uint64(at: FrameLayout.commitNumber) : nil))
    }

    private mutating func apply(
        _ frame: (type: FrameType, bytes: ByteView), _ byteOffset: UInt64, _ segment: LogSegment
    ) throws(StoreError) {
        let bytes = frame.bytes
        switch frame.type {
        case .full, .delta:
            try applyImage(frame, byteOffset)
        case .extent:
            try require(bytes, FrameLayout.extentSize, byteOffset)
            let address = ExtentAddress(bytes, at: FrameLayout.extentHash)
            try checkPlace(address, byteOffset)
            pending.append((try pageID(bytes, byteOffset), .extent(address)))
        case .free:
            try require(bytes, FrameLayout.freeIDs, byteOffset)
            let count = Int(bytes.uint32(at: FrameLayout.freeCount))
            try require(bytes, FrameLayout.freeIDs + count * 8, byteOffset)
            for index in 0..<count {
                let id = bytes.uint64(at: FrameLayout.freeIDs + index * 8)
                try checkPageID(id, byteOffset)
                pending.append((PageID(id), .freed))
            }
        case .commit:
            try applyCommit(bytes, byteOffset)
        case .group, .link, .pad:
            break
        }
    }

    private mutating func applyCommit(
        _ bytes: ByteView, _ byteOffset: UInt64
    ) throws(StoreError) {
        try require(bytes, FrameLayout.commitSize, byteOffset)
        let number = bytes.uint64(at: FrameLayout.commitNumber)
        guard number == content.commitNumber &+ 1 else {
            throw .corrupt(nil, "commits are not consecutive in the log", byteOffset: byteOffset)
        }
        let pageCount = bytes.uint64(at: FrameLayout.commitPageCount)
        guard pageCount >= 1, pageCount <= Limits.pageCountMax else {
            throw .corrupt(nil, "a commit's page count is out of range", byteOffset: byteOffset)
        }
        for (id, version) in pending {
            if case .extent(let old)? = content.pages[id] { content.replacedExtents.append(old) }
            content.pages[id] = version
            if case .freed = version { content.freed.insert(id) } else { content.freed.remove(id) }
        }
        pending = []
        content.commitNumber = number
        content.pageCount = pageCount
        content.catalogRoot = bytes.uint64(at: FrameLayout.commitCatalogRoot)
    }

    private mutating func applyImage(
        _ frame: (type: FrameType, bytes: ByteView), _ byteOffset: UInt64
    ) throws(StoreError) {
        let bytes = frame.bytes
        try require(bytes, FrameLayout.payload, byteOffset)
        let id = try pageID(bytes, byteOffset)
        let rawLength = Int(bytes.uint32(at: FrameLayout.rawLength))
        let storedLength = Int(bytes.uint32(at: FrameLayout.storedLength))
        try require(bytes, FrameLayout.payload + storedLength, byteOffset)
        guard rawLength == engine.options.pageSizeInBytes else {
            throw .corrupt(id, "a frame's image has another size", byteOffset: byteOffset)
        }
        let image = PageBuffer(id: id, count: rawLength)
        let payload = bytes.slice(from: FrameLayout.payload, count: storedLength)
        let isCompressed = bytes[FrameLayout.flags] & FrameLayout.flagCompressed != 0
        let isWhole: Bool
        if frame.type == .delta {
            let base = try base(of: id, byteOffset)
            isWhole =
                isCompressed && Compression.decompress(payload, against: base.view, into: image)
        } else if isCompressed {
            isWhole = Compression.decompress(payload, into: image)
        } else {
            isWhole = storedLength == rawLength
            if isWhole { image.copy(payload, to: 0) }
        }
        guard isWhole else {
            throw .corrupt(id, "a frame's payload is no page", byteOffset: byteOffset)
        }
        let hash = Checksum.hash(image.view, seed: id.rawValue)
        guard hash == bytes.uint64(at: FrameLayout.imageHash) else {
            throw .corrupt(id, "a frame's image contradicts its hash", byteOffset: byteOffset)
        }
        do throws(StoreError) {
            try PageCheck.validate(image)
        } catch {
            var located = error
            located.byteOffset = byteOffset
            throw located
        }
        pending.append((id, .image(image)))
    }

    /// The page's version before, in the order of the log.
    private func base(of id: PageID, _ byteOffset: UInt64) throws(StoreError) -> PageBuffer {
        let version = pending.last { $0.0 == id }?.1 ?? content.pages[id]
        switch version {
        case .image(let previous): return previous
        case .extent(let address): return try engine.page(id, at: address)
        case .freed: throw .corrupt(id, "a delta follows a freed page", byteOffset: byteOffset)
        case nil:
            // The map alone: the log is also read while its commits are in memory.
            let generation = engine.state.generation
            return try engine.page(
                id, generation: generation, commit: generation.checkpointCommit)
        }
    }

    private func target(
        _ bytes: ByteView, _ byteOffset: UInt64
    ) throws(StoreError) -> LogSegment {
        try require(bytes, FrameLayout.linkSize, byteOffset)
        let segment = LogSegment(
            byteOffset: bytes.uint64(at: FrameLayout.linkOffset),
            sizeInBytes: bytes.uint64(at: FrameLayout.linkLength),
            number: bytes.uint64(at: FrameLayout.linkNumber),
            salt: StoreUUID(
                low: bytes.uint64(at: FrameLayout.linkSalt),
                high: bytes.uint64(at: FrameLayout.linkSalt + 8)))
        let block = UInt64(Limits.blockSizeInBytes)
        guard let last = content.segments.last, segment.number == last.number &+ 1,
            segment.byteOffset % block == 0, segment.sizeInBytes % block == 0,
            segment.sizeInBytes >= block, segment.byteOffset >= 2 * block,
            segment.byteOffset <= fileSizeInBytes,
            segment.sizeInBytes <= fileSizeInBytes - segment.byteOffset,
            !content.segments.contains(where: {
                $0.byteOffset < segment.byteOffset + segment.sizeInBytes
                    && segment.byteOffset < $0.byteOffset + $0.sizeInBytes
            })
        else {
            throw .corrupt(nil, "a link of the log leads astray", byteOffset: byteOffset)
        }
        return segment
    }

    /// A later group of this segment that knew a commit durable which was not reached means that
    /// the log is damaged before it: never silently a shorter history.
    private func searchLaterGroups(
        _ segment: LogSegment, _ bytes: ByteView, from position: Int
    ) throws(StoreError) {
        let sector = Limits.sectorSizeInBytes
        var start = (position + sector - 1) / sector * sector
        while start <= bytes.count - FrameLayout.groupSize {
            defer { start += sector }
            guard bytes[start + FrameLayout.type] == FrameType.group.rawValue,
                bytes.uint64(at: start + FrameLayout.groupSalt) == segment.salt.low,
                bytes.uint64(at: start + FrameLayout.groupSalt + 8) == segment.salt.high
            else { continue }
            let covered = bytes.slice(
                from: start + FrameLayout.length,
                count: FrameLayout.groupHash - FrameLayout.length)
            guard
                Checksum.hash(covered, seed: 0) == bytes.uint64(at: start + FrameLayout.groupHash),
                bytes.uint64(at: start + FrameLayout.groupDurableCommit) > content.commitNumber
            else { continue }
            throw .corrupt(
                nil, "the log is damaged before a commit that was durable",
                byteOffset: segment.byteOffset + UInt64(position))
        }
    }

    // MARK: Checks

    private func require(
        _ bytes: ByteView, _ count: Int, _ byteOffset: UInt64
    ) throws(StoreError) {
        guard bytes.count >= count else {
            throw .corrupt(nil, "a frame is shorter than its content", byteOffset: byteOffset)
        }
    }

    private func pageID(_ bytes: ByteView, _ byteOffset: UInt64) throws(StoreError) -> PageID {
        let id = bytes.uint64(at: FrameLayout.pageID)
        try checkPageID(id, byteOffset)
        return PageID(id)
    }

    private func checkPageID(_ id: UInt64, _ byteOffset: UInt64) throws(StoreError) {
        guard id > 0, id < Limits.pageCountMax else {
            throw .corrupt(nil, "a frame names an impossible page", byteOffset: byteOffset)
        }
    }

    private func checkPlace(
        _ address: ExtentAddress, _ byteOffset: UInt64
    ) throws(StoreError) {
        let unitSize = UInt64(engine.options.unitSizeInBytes)
        guard address.unitCount > 0,
            (address.unit + UInt64(address.unitCount)) * unitSize <= fileSizeInBytes,
            address.unit * unitSize >= UInt64(2 * SuperblockLayout.size)
        else {
            throw .corrupt(nil, "a frame names a place outside the file", byteOffset: byteOffset)
        }
    }
}
