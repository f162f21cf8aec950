/// The groups of the log wherever they lie, without the superblock that leads to them.
///
/// A group's first frame proves itself, and each later frame hashes from the one before. Groups of
/// a log that is no longer needed are older than the extents of their pages, and skipped.
struct LogScan {
    private let window: FileWindow
    private let pages: SalvagedPages
    /// The groups by the first commit in each.
    private var groups: [(commit: UInt64, byteOffset: UInt64)] = []
    /// The commits that were applied.
    private var applied: Set<UInt64> = []

    init(_ window: FileWindow, _ pages: SalvagedPages) {
        self.window = window
        self.pages = pages
    }

    /// Applies every commit above one that is known. Returns those that are missing before the last
    /// one.
    mutating func run(above floor: UInt64) -> [ClosedRange<UInt64>] {
        findGroups()
        groups.sort { $0.commit < $1.commit }
        for group in groups { apply(group.byteOffset, above: floor) }
        var missing: [ClosedRange<UInt64>] = []
        var last = floor
        for commit in applied.sorted() {
            if commit > last + 1 { missing.append(last + 1...commit - 1) }
            last = commit
        }
        return missing
    }

    private mutating func findGroups() {
        var position = UInt64(2 * Limits.blockSizeInBytes)
        while position < window.fileSizeInBytes {
            position = window.pastHole(position)
            defer { position += UInt64(Limits.sectorSizeInBytes) }
            guard isGroup(window.view(at: position, count: FrameLayout.groupSize)) else { continue }
            var first: UInt64?
            forEachFrame(position) { type, bytes in
                guard type == .commit, bytes.count >= FrameLayout.commitSize else { return true }
                first = bytes.uint64(at: FrameLayout.commitNumber)
                return false
            }
            if let first { groups.append((first, position)) }
        }
    }

    private func isGroup(_ bytes: ByteView) -> Bool {
        guard bytes.count == FrameLayout.groupSize,
            bytes[FrameLayout.type] == FrameType.group.rawValue,
            bytes.uint32(at: FrameLayout.length) == UInt32(FrameLayout.groupSize)
        else { return false }
        let covered = bytes.slice(
            from: FrameLayout.length, count: FrameLayout.groupHash - FrameLayout.length)
        return Checksum.hash(covered, seed: 0) == bytes.uint64(at: FrameLayout.groupHash)
    }

    /// Lends the frames after a group's first one, until the body has enough.
    private func forEachFrame(_ start: UInt64, _ body: (FrameType, ByteView) -> Bool) {
        let group = window.view(at: start, count: FrameLayout.groupSize)
        var chain = group.uint64(at: FrameLayout.hash)
        var position = start + UInt64(FrameLayout.groupSize)
        while true {
            let header = window.view(at: position, count: FrameLayout.size)
            guard header.count == FrameLayout.size else { return }
            let length = Int(header.uint32(at: FrameLayout.length))
            guard length <= Limits.frameSizeInBytesMax,
                let frame = LogReader.frame(
                    window.view(at: position, count: length), at: 0, chain: chain)
            else { return }
            chain = frame.bytes.uint64(at: FrameLayout.hash)
            position += UInt64(length)
            guard frame.type != .group, body(frame.type, frame.bytes) else { return }
        }
    }

    /// Applies the transactions of a group frame by frame, because together they may exceed memory.
    /// Which of them have their COMMIT is looked up before.
    private mutating func apply(_ start: UInt64, above floor: UInt64) {
        var commits: [UInt64] = []
        forEachFrame(start) { type, bytes in
            if type == .commit, bytes.count >= FrameLayout.commitSize {
                commits.append(bytes.uint64(at: FrameLayout.commitNumber))
            }
            return true
        }
        var rest = commits[...]
        var done: [UInt64] = []
        forEachFrame(start) { type, bytes in
            guard let number = rest.first else { return false }
            if type == .commit, bytes.count >= FrameLayout.commitSize {
                rest.removeFirst()
                if number > floor {
                    note(number, bytes.uint64(at: FrameLayout.commitCatalogRoot))
                    done.append(number)
                }
            } else if number > floor {
                apply(type, bytes, number)
            }
            return true
        }
        applied.formUnion(done)
    }

    private func note(_ number: UInt64, _ root: UInt64) {
        guard number >= pages.commitNumber else { return }
        pages.commitNumber = number
        if root > 0 { pages.root = PageID(root) }
    }

    private func apply(_ type: FrameType, _ bytes: ByteView, _ commit: UInt64) {
        if type == .free {
            for id in freed(bytes) where pages.commit(of: id) < commit { pages.sources[id] = nil }
            return
        }
        guard [.full, .delta, .extent].contains(type), bytes.count >= FrameLayout.payload else {
            return
        }
        let id = PageID(bytes.uint64(at: FrameLayout.pageID))
        guard id.rawValue > 0, id.rawValue < Limits.pageCountMax else { return }
        if type == .extent {
            apply(ExtentAddress(bytes, at: FrameLayout.extentHash), id, commit)
        } else if pages.commit(of: id) < commit {
            // Reading the base of a delta may move the window.
            let copy = bytes.array()
            if let image = copy.withView({ image(id, type, $0) }) {
                pages.setNewest(image, commit)
            } else {
                pages.noteReplaced(id)
            }
        }
    }

    private func apply(_ address: ExtentAddress, _ id: PageID, _ commit: UInt64) {
        // The scan has met it, and perhaps one of the same commit that was given up.
        guard pages.commit(of: id) <= commit else { return }
        if pages.isReadable(address, of: id) {
            pages.setNewest(.extent(address), of: id, commit)
        } else {
            pages.noteReplaced(id)
        }
    }

    private func freed(_ bytes: ByteView) -> [PageID] {
        guard bytes.count >= FrameLayout.freeIDs else { return [] }
        let count = Int(bytes.uint32(at: FrameLayout.freeCount))
        guard count <= (bytes.count - FrameLayout.freeIDs) / 8 else { return [] }
        return (0..<count).map { PageID(bytes.uint64(at: FrameLayout.freeIDs + 8 * $0)) }
    }

    /// The image of a FULL or DELTA frame, when it is the one that the frame promises.
    private func image(_ id: PageID, _ type: FrameType, _ bytes: ByteView) -> PageBuffer? {
        let stored = Int(bytes.uint32(at: FrameLayout.storedLength))
        guard Int(bytes.uint32(at: FrameLayout.rawLength)) == pages.pageSizeInBytes,
            stored <= bytes.count - FrameLayout.payload
        else { return nil }
        let payload = bytes.slice(from: FrameLayout.payload, count: stored)
        let image = PageBuffer(id: id, count: pages.pageSizeInBytes)
        if type == .delta {
            guard let base = try? pages.page(id),
                Compression.decompress(payload, against: base.view, into: image)
            else { return nil }
        } else if bytes[FrameLayout.flags] & FrameLayout.flagCompressed != 0 {
            guard Compression.decompress(payload, into: image) else { return nil }
        } else {
            guard stored == image.count else { return nil }
            image.copy(payload, to: 0)
        }
        guard
            Checksum.hash(image.view, seed: id.rawValue) == bytes.uint64(at: FrameLayout.imageHash),
            (try? PageCheck.validate(image)) != nil
        else { return nil }
        return image
    }
}
