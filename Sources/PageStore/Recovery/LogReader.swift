/// Reads the log from the head segment on: spec/03-wal.md, recovery.
struct LogReader {
    /// Returns the base of a delta: a page as it was before the log that is read.
    typealias BasePage = (PageID) throws(StoreError) -> PageBuffer

    private let context: StoreContext
    private let extents: ExtentReader
    /// The superblock that leads to the log.
    private let superblock: Superblock
    private let basePage: BasePage
    /// Whether a writer may be active. An incomplete tail is then unfinished, not damaged.
    private let isTailOpen: Bool
    /// The last commit to read.
    private let commitMax: UInt64
    private var fileSizeInBytes: UInt64 = 0
    /// The committed content of the frames read so far.
    private(set) var content: LogContent
    /// The changes of the transaction that is being read.
    private var pending: PendingVersions
    private var limits: LogLimits
    /// Whether the group that is being read has had a COMMIT.
    private var hasCommitInGroup = false
    /// Gets each frame that was read, for tools.
    private let noteFrame: ((LogFrame) -> Void)?

    /// Bytes of a segment, from a position in it on.
    private struct Window {
        var start: Int
        var bytes: ReadBuffer
    }

    /// How much is read at a time, whole sectors: most commits are far smaller, and the allocator
    /// reuses blocks of this size, so that reading into one causes no page faults.
    private static let pieceSizeInBytes = 1 << 16

    init(
        _ context: StoreContext, _ superblock: Superblock, content: LogContent? = nil,
        isTailOpen: Bool = false, commitMax: UInt64 = .max,
        noteFrame: ((LogFrame) -> Void)? = nil, known: ((PageID) -> PackedImage?)? = nil,
        basePage: @escaping BasePage
    ) {
        self.context = context
        extents = ExtentReader(context)
        self.superblock = superblock
        self.content = content ?? LogContent(superblock)
        self.basePage = basePage
        self.isTailOpen = isTailOpen
        self.commitMax = commitMax
        self.noteFrame = noteFrame
        pending = PendingVersions(
            imageBytesMax: context.options.versionBytesMax,
            pageSizeInBytes: context.geometry.pageSizeInBytes, known: known)
        limits = LogLimits(context)
    }

    /// Reads to the log's end. Throws `corrupt` when a durable commit after the first bad frame
    /// shows that the end is damage and not an unfinished write.
    mutating func read() throws(StoreError) -> LogContent {
        content.segments.removeLast(content.segments.count - content.end.segmentCount)
        var end = content.end
        while content.commitNumber < commitMax, let next = try scan(&end) {
            content.segments.append(next)
            end.linkedByteCount += UInt64(end.position)
            end.segmentCount += 1
            end.position = 0
            end.chain = next.chainStart(context.uuid)
            if pending.isEmpty { content.end = end }
        }
        return content
    }

    /// - Parameter sizeInBytes: how much is asked for, where the segment has so much.
    private mutating func load(
        _ segment: LogSegment, from position: Int, _ sizeInBytes: Int
    ) throws(StoreError) -> Window {
        if try isInFile(segment.byteOffset, segment.sizeInBytes) {
            let start = segment.byteOffset + UInt64(position)
            let buffer = ReadBuffer(count: min(sizeInBytes, Int(segment.sizeInBytes) - position))
            let count = try context.file.read(into: buffer, at: start)
            if count == buffer.count { return Window(start: position, bytes: buffer) }
        }
        throw StoreError(
            .truncated, "the file ends inside its log", byteOffset: fileSizeInBytes)
    }

    /// The file grows while it is read.
    private mutating func isInFile(
        _ byteOffset: UInt64, _ count: UInt64
    ) throws(StoreError) -> Bool {
        let (end, overflow) = byteOffset.addingReportingOverflow(count)
        guard !overflow else { return false }
        if end > fileSizeInBytes { fileSizeInBytes = try context.file.size() }
        return end <= fileSizeInBytes
    }

    /// Follows the chain through the last segment; returns the segment that it links to.
    private mutating func scan(_ end: inout LogEnd) throws(StoreError) -> LogSegment? {
        guard let segment = content.segments.last else { return nil }
        var window = try load(segment, from: end.position, Self.pieceSizeInBytes)
        while let frame = try frame(segment, end, &window) {
            end.chain = frame.bytes.uint64(at: FrameLayout.hash)
            let byteOffset = segment.byteOffset + UInt64(end.position)
            note(frame, byteOffset, segment)
            end.position += frame.bytes.count
            if frame.type == .link {
                content.byteCount = end.linkedByteCount + UInt64(end.position)
                return try target(frame.bytes, byteOffset)
            }
            try apply(frame, byteOffset)
            if pending.isEmpty { content.end = end }
            if content.commitNumber >= commitMax { break }
        }
        pending.forget()
        content.byteCount = end.linkedByteCount + UInt64(end.position)
        guard content.commitNumber < commitMax, !isTailOpen else { return nil }
        try searchLaterGroups(segment, window, end.position)
        if end.position > 0 {
            try LostLinkSearch(context, superblock).run(number: segment.number + 1)
        }
        return nil
    }

    /// The frame at the end of the content read so far, nil when the chain ends there. The window
    /// moves on where it ends before the frame does.
    private mutating func frame(
        _ segment: LogSegment, _ end: LogEnd, _ window: inout Window
    ) throws(StoreError) -> (type: FrameType, bytes: ByteView)? {
        let position = end.position - window.start
        if let frame = Self.frame(window.bytes.view, at: position, chain: end.chain) {
            return frame
        }
        let left = window.bytes.count - position
        guard end.position + left < Int(segment.sizeInBytes) else { return nil }
        var length = FrameLayout.size
        if left >= length {
            length = Int(window.bytes.view.uint32(at: position + FrameLayout.length))
        }
        guard length > left, length <= Limits.frameSizeInBytesMax else { return nil }
        window = try load(segment, from: end.position, max(length, Self.pieceSizeInBytes))
        return Self.frame(window.bytes.view, at: 0, chain: end.chain)
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
        guard let noteFrame else { return }
        let namesPage = [.full, .delta, .extent].contains(frame.type) && frame.bytes.count >= 24
        let isCommit = frame.type == .commit && frame.bytes.count >= FrameLayout.commitSize
        noteFrame(
            LogFrame(
                byteOffset: byteOffset, length: frame.bytes.count, type: frame.type,
                segmentNumber: segment.number,
                pageID: namesPage ? frame.bytes.uint64(at: FrameLayout.pageID) : nil,
                commitNumber: isCommit ? frame.bytes.uint64(at: FrameLayout.commitNumber) : nil))
    }

    private mutating func apply(
        _ frame: (type: FrameType, bytes: ByteView), _ byteOffset: UInt64
    ) throws(StoreError) {
        let bytes = frame.bytes
        switch frame.type {
        case .full, .delta:
            try applyImage(frame, byteOffset)
        case .extent:
            try require(bytes, FrameLayout.extentSize, byteOffset)
            let address = ExtentAddress(bytes, at: FrameLayout.extentHash)
            try checkExtent(address, byteOffset)
            try limits.noteExtent(byteOffset)
            pending.note(try pageID(bytes, byteOffset), .extent(address))
        case .free:
            try require(bytes, FrameLayout.freeIDs, byteOffset)
            let count = Int(bytes.uint32(at: FrameLayout.freeCount))
            try require(bytes, FrameLayout.freeIDs + count * 8, byteOffset)
            try limits.noteFreed(count, byteOffset)
            for index in 0..<count {
                let id = bytes.uint64(at: FrameLayout.freeIDs + index * 8)
                try checkPageID(id, byteOffset)
                pending.note(PageID(id), .freed)
            }
        case .commit:
            try applyCommit(bytes, byteOffset)
            hasCommitInGroup = true
        case .group: hasCommitInGroup = false
        case .link, .pad: break
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
        // A checkpoint of it would be a superblock that nothing accepts.
        guard number <= Limits.numberMax else {
            throw .corrupt(nil, "a commit's number is out of range", byteOffset: byteOffset)
        }
        let pageCount = bytes.uint64(at: FrameLayout.commitPageCount)
        guard pageCount >= 1, pageCount <= Limits.pageCountMax else {
            throw .corrupt(nil, "a commit's page count is out of range", byteOffset: byteOffset)
        }
        pending.commit(to: &content)
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
        guard rawLength == context.geometry.pageSizeInBytes else {
            throw .corrupt(id, "a frame's image has another size", byteOffset: byteOffset)
        }
        let payload = bytes.slice(from: FrameLayout.payload, count: storedLength)
        let isCompressed = bytes[FrameLayout.flags] & FrameLayout.flagCompressed != 0
        let base = frame.type == .delta ? try base(of: id, byteOffset) : nil
        let image = PageBuffer(id: id, count: rawLength) { image in
            if isCompressed {
                return Compression.decompress(payload, against: base?.view, into: image)
            }
            guard base == nil, storedLength == rawLength else { return false }
            image.copy(payload, to: 0)
            return true
        }
        withExtendedLifetime(base) {}
        guard let image else {
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
        if frame.type == .full { limits.noteImage() }
        pending.note(image, compressed: isCompressed && base == nil ? payload : nil)
    }

    /// The page's version before, in the order of the log. Chunks have no deltas.
    private func base(of id: PageID, _ byteOffset: UInt64) throws(StoreError) -> PageBuffer {
        let base = try version(of: id, byteOffset)
        guard base.count == context.geometry.pageSizeInBytes else {
            throw .corrupt(id, "a delta follows a chunk", byteOffset: byteOffset)
        }
        return base
    }

    private func version(of id: PageID, _ byteOffset: UInt64) throws(StoreError) -> PageBuffer {
        let version = pending[id] ?? content.pages[id]
        switch version {
        case .image(let previous): return previous
        case .packed(let bytes): return try bytes.unpacked(id, context.geometry.pageSizeInBytes)
        case .extent(let address): return try extents.readPage(id, at: address)
        case .freed: throw .corrupt(id, "a delta follows a freed page", byteOffset: byteOffset)
        case nil: return try basePage(id)
        }
    }

    private mutating func target(
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
            segment.number <= Limits.numberMax,
            segment.byteOffset % block == 0, segment.sizeInBytes % block == 0,
            segment.sizeInBytes >= block, segment.byteOffset >= 2 * block,
            segment.sizeInBytes <= Limits.walSegmentSizeInBytesMax,
            try isInFile(segment.byteOffset, segment.sizeInBytes),
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
    /// the log is damaged before it, and so does the group of a LINK, which is written when all
    /// before it is durable: never silently a shorter history.
    private mutating func searchLaterGroups(
        _ segment: LogSegment, _ window: Window, _ position: Int
    ) throws(StoreError) {
        let (sector, size) = (Limits.sectorSizeInBytes, Int(segment.sizeInBytes))
        var start = (position + sector - 1) / sector * sector
        let inWindow = (window.start + window.bytes.count - start) / sector * sector
        if inWindow > 0 {
            let rest = window.bytes.view.slice(from: start - window.start, count: inWindow)
            try searchLaterGroups(segment, rest, position)
            start += inWindow
        }
        while start < size {
            let piece = try load(segment, from: start, Self.pieceSizeInBytes)
            try searchLaterGroups(segment, piece.bytes.view, position)
            start += piece.bytes.count
        }
    }

    /// - Parameter bytes: whole sectors of the segment.
    private func searchLaterGroups(
        _ segment: LogSegment, _ bytes: ByteView, _ position: Int
    ) throws(StoreError) {
        let sector = Limits.sectorSizeInBytes
        // A group that knew the last commit durable knew so of its whole group.
        let isInsideItsGroup = hasCommitInGroup && position % sector != 0
        let known = isInsideItsGroup ? content.commitNumber : content.commitNumber &+ 1
        var start = 0
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
                bytes.uint64(at: start + FrameLayout.groupDurableCommit) >= known
                    || isFollowedByLink(bytes, start)
            else { continue }
            throw .corrupt(
                nil, "the log is damaged before a commit that was durable",
                byteOffset: segment.byteOffset + UInt64(position))
        }
    }

    /// Whether a LINK chains from the group: an older log may have left one where this group's
    /// frames were never written.
    private func isFollowedByLink(_ bytes: ByteView, _ start: Int) -> Bool {
        let group = bytes.uint64(at: start + FrameLayout.hash)
        let frame = Self.frame(bytes, at: start + FrameLayout.groupSize, chain: group)
        return frame?.type == .link
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

    private mutating func checkExtent(
        _ address: ExtentAddress, _ frameOffset: UInt64
    ) throws(StoreError) {
        let byteOffset = context.geometry.byteOffset(of: address)
        let byteCount = context.geometry.bytes(ofUnits: UInt64(address.unitCount))
        guard address.unitCount > 0, try isInFile(byteOffset, byteCount),
            byteOffset >= UInt64(2 * SuperblockLayout.size)
        else {
            throw .corrupt(nil, "a frame names a place outside the file", byteOffset: frameOffset)
        }
    }
}
