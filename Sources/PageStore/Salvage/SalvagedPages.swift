/// The pages that are left of a file: the newest version of each that can be found.
///
/// Where a superblock and its map can be read, they and the log name the pages. All others come
/// from a scan: the newest extent that claims to be the page, and the log's groups. A scan also
/// finds pages that were freed, and cannot tell.
///
/// Memory use is some fifty bytes for each page, and the images that only the log has.
package final class SalvagedPages: PageView {
    struct Source {
        enum Content {
            case extent(ExtentAddress)
            case image(PageBuffer)
            case packed(PackedImage)
        }

        var content: Content
        var commit: UInt64
        /// Whether a map or the log says that this is the page: no scan knows better.
        var isNamed: Bool
    }

    package let identity: SalvageIdentity
    /// Damage found where pages should be.
    package private(set) var damage: [StoreError] = []
    /// Whether map and log could be read, so that no page here was freed before.
    package private(set) var isComplete = false
    /// Valid extents of the file, of whatever kind and age.
    package private(set) var extentCount = 0
    /// The newest commit that was met.
    package internal(set) var commitNumber: UInt64 = 0
    /// Commits that the log has lost between others. Not known without a superblock.
    package private(set) var lostCommits: [ClosedRange<UInt64>] = []
    /// Pages of which only a version is left that was replaced later.
    package private(set) var stalePages: Set<PageID> = []
    /// The identity of the file, and who may use it.
    package let origin: (identity: FileIdentity, access: FileAccess?)
    package var unreadableBytes: UInt64 { window.unreadableBytes }
    var sources: [PageID: Source] = [:]
    var root: PageID?
    private var hasSuperblock = false
    private let file: any StoreFile
    private let window: FileWindow
    /// Of pages whose newest version is known and not met yet: the newest that was met.
    private var replaced: [PageID: Source] = [:]
    /// The pages that the log frees.
    private var freed: Set<PageID> = []
    private var cache = PageCache(budgetInBytes: 16 << 20)

    /// Looks through the file at a path, and writes nothing. Throws `notAStore` when nothing in it
    /// looks like a page, `lockedByOther` when a writer has it open, and `newerFormat`.
    package static func scan(
        path: String, files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> SalvagedPages {
        let engine = try openWhatOpens(path, files)
        defer { try? engine?.close() }
        let file = try files.open(path, .readOnly)
        guard try file.isLockedByWriter() != true else {
            file.close()
            throw StoreError(
                .lockedByOther, "a process has the store open for writing; close it there first")
        }
        let window = try FileWindow(file)
        guard let identity = SalvageIdentity.find(in: window) else {
            file.close()
            throw StoreError(
                .notAStore, "nothing in the file looks like a page of a store", path: path)
        }
        let pages = SalvagedPages(identity, file, try? file.access(), window)
        pages.collect(try engine?.snapshot())
        return pages
    }

    /// The store as far as a superblock leads to it; nil when none does.
    private static func openWhatOpens(
        _ path: String, _ files: any FileSystem
    ) throws(StoreError) -> Engine? {
        var options = Engine.Options()
        options.mode = .readingDamaged
        do throws(StoreError) {
            return try Engine.open(path: path, options: options, files: files)
        } catch {
            // Without both superblocks the rest of the file is looked through.
            let codes: Set<StoreError.Code> = [.corrupt, .truncated, .notAStore, .io]
            guard codes.contains(error.code) else { throw error }
            return nil
        }
    }

    private init(
        _ identity: SalvageIdentity, _ file: any StoreFile, _ access: FileAccess?,
        _ window: FileWindow
    ) {
        self.identity = identity
        origin = (file.identity, access)
        self.file = file
        self.window = window
        super.init(pageSizeInBytes: identity.pageSizeInBytes)
    }

    deinit { file.close() }

    private func collect(_ snapshot: Snapshot?) {
        var unknown: [Range<UInt64>] = [0..<Limits.pageCountMax]
        if let snapshot {
            hasSuperblock = true
            root = snapshot.catalogRoot
            commitNumber = snapshot.commitNumber
            damage = snapshot.pager.withPublished { $0.damage }
            unknown = takeNamed(snapshot)
            isComplete = damage.isEmpty && unknown.isEmpty
        }
        let floor = snapshot == nil ? 0 : commitNumber
        scanExtents(unknown)
        for (id, source) in replaced {
            sources[id] = source
            stalePages.insert(id)
        }
        replaced = [:]
        guard !isComplete else { return }
        var log = LogScan(window, self)
        let missing = log.run(above: floor)
        if hasSuperblock { lostCommits = missing }
    }

    /// Takes over the pages that map and log name. Returns the IDs of the unreadable parts.
    private func takeNamed(_ snapshot: Snapshot) -> [Range<UInt64>] {
        let found = snapshot.namedPages()
        for (id, content) in found.named {
            var commit = snapshot.commitNumber
            // Nothing is known of an extent before the scan meets it.
            if case .extent = content { commit = 0 }
            sources[id] = Source(content: content, commit: commit, isNamed: true)
        }
        freed = found.freed
        return found.unknown
    }

    private func scanExtents(_ unknown: [Range<UInt64>]) {
        var scan = ExtentScan(window, identity)
        while let (header, address) = scan.next() {
            extentCount += 1
            let id = PageID(header.pageID)
            guard header.kind == .page, id.rawValue > 0, id.rawValue < Limits.pageCountMax
            else { continue }
            if let known = sources[id] {
                take(header, address, id, known)
            } else if !freed.contains(id), unknown.contains(where: { $0.contains(id.rawValue) }) {
                insert(header, address, id)
            }
        }
    }

    private func insert(_ header: ExtentHeader, _ address: ExtentAddress, _ id: PageID) {
        sources[id] = Source(content: .extent(address), commit: header.commit, isNamed: false)
        commitNumber = max(commitNumber, header.commit)
    }

    private func take(
        _ header: ExtentHeader, _ address: ExtentAddress, _ id: PageID, _ known: Source
    ) {
        guard known.isNamed else {
            if header.commit >= known.commit { insert(header, address, id) }
            return
        }
        // The map knows the place and the checksum, the extent the commit that made it.
        guard case .extent(let named) = known.content, known.commit == 0 else { return }
        if named.hash == address.hash, named.unit == address.unit {
            sources[id]?.commit = max(header.commit, 1)
            replaced[id] = nil
        } else if header.commit >= replaced[id]?.commit ?? 0 {
            replaced[id] = Source(
                content: .extent(address), commit: header.commit, isNamed: false)
        }
    }

    // MARK: Versions from the log

    /// Takes a version over that the log gives a page. Without a superblock it is not known whether
    /// it is a log of long ago.
    func setNewest(_ content: Source.Content, of id: PageID, _ commit: UInt64) {
        sources[id] = Source(content: content, commit: commit, isNamed: hasSuperblock)
        stalePages.remove(id)
    }

    /// Takes over an image from the log, packed where that makes it smaller.
    func setNewest(_ image: PageBuffer, _ commit: UInt64) {
        setNewest(PackedImage(image).map { .packed($0) } ?? .image(image), of: image.id, commit)
    }

    /// The log has a newer version of a page, but that version cannot be read.
    func noteReplaced(_ id: PageID) {
        guard sources[id] != nil else { return }
        sources[id]?.isNamed = false
        stalePages.insert(id)
    }

    // MARK: Reading

    package override var catalogRoot: PageID? { root }

    /// All pages, in order.
    package var pageIDs: [PageID] { sources.keys.sorted() }

    /// Whether a map or the log says that this is the newest version of a page.
    package func isNewest(_ id: PageID) -> Bool { sources[id]?.isNamed ?? false }

    /// The commit that made a page's version.
    package func commit(of id: PageID) -> UInt64 { sources[id]?.commit ?? 0 }

    package override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        let image = try anyPage(id)
        // A page of a blob is written once: an older version of it is of another blob.
        guard !stalePages.contains(id) || NodeView.isNode(image) else {
            throw .corrupt(id, "the page is lost")
        }
        return image
    }

    private func anyPage(_ id: PageID) throws(StoreError) -> PageBuffer {
        guard let source = sources[id] else { throw .corrupt(id, "the page is lost") }
        switch source.content {
        case .image(let image): return image
        case .packed(let packed): return try packed.unpacked(id, pageSizeInBytes)
        case .extent(let address):
            if let image = cache.image(at: address), image.id == id { return image }
            let image = try read(address, id)
            try PageCheck.validate(image)
            guard image.count == pageSizeInBytes || image[0] == PageKind.blobChunk.rawValue
            else { throw .corrupt(id, "a page has another size") }
            cache.insert(image, at: address)
            return image
        }
    }

    func isReadable(_ address: ExtentAddress, of id: PageID) -> Bool {
        (try? PageCheck.validate(read(address, id))) != nil
    }

    private func read(_ address: ExtentAddress, _ id: PageID) throws(StoreError) -> PageBuffer {
        let byteOffset = address.unit * UInt64(identity.unitSizeInBytes)
        // Not through the window, which a search moves on in order.
        let size = min(
            address.unitCount * identity.unitSizeInBytes, ExtentLayout.sizeInBytesMax)
        let buffer = window.read(at: byteOffset, count: size)
        defer { withExtendedLifetime(buffer) {} }
        let bytes = buffer.view
        let header = try ExtentCodec.decodeHeader(bytes, page: id, byteOffset: byteOffset)
        let whole = bytes.slice(from: 0, count: ExtentLayout.size + header.storedLength)
        guard header.pageID == id.rawValue, header.kind == .page,
            bytes.uint64(at: ExtentLayout.hash) == address.hash,
            identity.accepts(whole, header, at: byteOffset)
        else {
            throw .corrupt(id, "an extent contradicts its checksum", byteOffset: byteOffset)
        }
        return try ExtentCodec.image(bytes, header, page: id, byteOffset: byteOffset)
    }
}
