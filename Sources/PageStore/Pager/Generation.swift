/// One version of a page that a commit made since the generation's checkpoint.
struct PageVersion {
    enum Content {
        /// The whole image, in memory until the next checkpoint stores it.
        case image(PageBuffer)
        /// An image unpacked for each use: of a log with more images than memory should hold.
        case packed(PackedImage)
        /// Bytes that were written straight to their extent.
        case extent(ExtentAddress)
        /// The page was freed.
        case freed
    }

    var commit: UInt64
    var content: Content
    // Small, so that a table's slot is: a chain ends at 64 deltas and half a page.
    private var chainCount: UInt8
    private var chainSizeInBytes: UInt16

    init(commit: UInt64, content: Content, chain: DeltaChain = DeltaChain()) {
        self.commit = commit
        self.content = content
        chainCount = UInt8(clamping: chain.count)
        chainSizeInBytes = UInt16(clamping: chain.sizeInBytes)
    }

    /// Empty for all but an image that the log holds as a delta.
    var chain: DeltaChain {
        DeltaChain(count: Int(chainCount), sizeInBytes: Int(chainSizeInBytes))
    }

    /// The bytes that its image takes.
    var imageSizeInBytes: Int {
        switch content {
        case .image(let image): image.count
        case .packed(let packed): packed.count
        case .extent, .freed: 0
        }
    }

    /// Where its image lies.
    var location: ImageAddress? {
        if case .image(let image) = content { ImageAddress(image) } else { nil }
    }
}

/// A completed checkpoint and the later commits: the state in which snapshots look pages up.
///
/// Snapshots keep the generation that they started in alive; commits append to the newest one only.
/// All access is under the pager's lock.
final class Generation: @unchecked Sendable {
    let number: UInt64
    /// The last commit that the map covers.
    let checkpointCommit: UInt64
    let map: PageMap
    /// Nil until the first version is added. Changed outside of the property, because then each
    /// lookup reads it without a check for exclusivity.
    private var table: VersionTable?
    /// Bytes of the images in `versions`.
    private(set) var imageBytes = 0
    /// Units of the out-of-line extents that its commits wrote.
    private(set) var extentUnits: UInt64 = 0
    /// Out-of-line extents that a later commit of this generation replaced; `commit` made them.
    private(set) var replaced: [(address: ExtentAddress, commit: UInt64)] = []
    /// How many snapshots show each commit of it.
    private var pins: [UInt64: Int] = [:]
    /// How many snapshots show it, and since when there has been one.
    private(set) var pinCount = 0
    var pinnedSince = ContinuousClock.now
    /// When the youngest of its snapshots began.
    var lastPinned = ContinuousClock.now
    /// Whether space that its readers may need was given up.
    var isRevoked = false
    /// The newest generation when this one was read: itself, but for the one before.
    var newestWhenRead: UInt64

    init(number: UInt64, checkpointCommit: UInt64, map: PageMap) {
        self.number = number
        newestWhenRead = number
        self.checkpointCommit = checkpointCommit
        self.map = map
    }

    /// The next generation: drops the versions that its map covers, and keeps later ones.
    init(number: UInt64, checkpointCommit: UInt64, map: PageMap, after last: Generation) {
        self.number = number
        newestWhenRead = number
        self.checkpointCommit = checkpointCommit
        self.map = map
        let later = last.versions.behind(checkpointCommit)
        if !later.entries.isEmpty { table = later }
        later.visit(count)
        replaced = last.replaced.filter { $0.commit > checkpointCommit }
    }

    var versions: VersionTable { table ?? VersionTable() }

    /// The newest version at or before a commit.
    func version(of id: PageID, upTo commit: UInt64) -> PageVersion? {
        guard let place = table?.entries.index(of: id.rawValue),
            let last = table?.entries.slots[place].value?.newest.commit
        else { return nil }
        guard last <= commit else {
            let link = table?.entries.slots[place].value?.older
            return table?.older.version(from: link, upTo: commit)
        }
        // Handing the image out waits for its count of references, and then for its header.
        table?.entries.slots[place].value?.location?.prefetchNode()
        return table?.entries.slots[place].value?.newest
    }

    /// The chain that a delta against a page's newest version would extend.
    func chain(of id: PageID) -> DeltaChain {
        guard let place = table?.entries.index(of: id.rawValue) else { return DeltaChain() }
        return table?.entries.slots[place].value?.newest.chain ?? DeltaChain()
    }

    func noteReplaced(_ address: ExtentAddress, commit: UInt64) {
        replaced.append((address, commit))
    }

    /// The visible commits: those of snapshots, and those that are named, which the next
    /// snapshots will show.
    func shown(besides commits: [UInt64]) -> VisibleCommits { VisibleCommits(commits + pins.keys) }

    /// Adds a page's newest version, and prunes those that no reader can see any more.
    func append(_ version: PageVersion, of id: PageID, keeping shown: VisibleCommits) {
        count(version)
        var changed = table.take() ?? VersionTable()
        let (replaced, freedBytes) = changed.append(version, of: id, keeping: shown)
        table = changed
        imageBytes -= freedBytes
        if let replaced, case .extent(let address) = replaced.content {
            noteReplaced(address, commit: replaced.commit)
        }
    }

    /// Prunes the versions of all pages that no reader can see any more: of each page that was
    /// not written again, one may be left.
    func trim(keeping shown: VisibleCommits) {
        guard var changed = table.take() else { return }
        imageBytes -= changed.trim(keeping: shown)
        table = changed
    }

    private static let retiredBytesMin = 1 << 20

    /// Keeps what its snapshots show, once no snapshot can begin in it any more but of the same
    /// commits: they may stay for long.
    ///
    /// - Parameter commit: the last one that the checkpoint after it covers. The newest images up
    ///   to there are in the cache from now on, and count there.
    func retire(covering commit: UInt64) {
        // Of a few images no copy of the table is made.
        guard pinCount > 0, imageBytes >= Self.retiredBytesMin, let known = table.take() else {
            imageBytes = 0
            return
        }
        let commits = VisibleCommits(Array(pins.keys))
        let shown = known.shown(by: commits)
        imageBytes = 0
        shown.visit { imageBytes += $0.imageSizeInBytes }
        for (_, newest) in known.newest
        where newest.commit <= commit && commits.contains(from: newest.commit, until: .max) {
            imageBytes -= newest.imageSizeInBytes
        }
        if !shown.entries.isEmpty { table = shown }
    }

    private func count(_ version: PageVersion) {
        imageBytes += version.imageSizeInBytes
        if case .extent(let address) = version.content {
            extentUnits += UInt64(address.unitCount)
        }
    }

    // MARK: Pins

    func pin(_ commit: UInt64) {
        pinCount += 1
        pins[commit, default: 0] += 1
    }

    func unpin(_ commit: UInt64) {
        pinCount -= 1
        guard let count = pins[commit] else { preconditionFailure("a snapshot ends once") }
        pins[commit] = count > 1 ? count - 1 : nil
    }
}
