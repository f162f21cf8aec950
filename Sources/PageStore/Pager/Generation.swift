/// One version of a page that a commit made since the generation's checkpoint.
struct PageVersion {
    enum Content {
        /// The whole image, in memory until the next checkpoint stores it.
        case image(PageBuffer)
        /// Bytes that were written straight to their extent.
        case extent(ExtentAddress)
        /// The page was freed.
        case freed
    }

    var commit: UInt64
    var content: Content
    /// Empty for all but an image that the log holds as a delta.
    var chain = DeltaChain()
}

/// What a lookup asks of a page's newest version.
private struct NewestVersion {
    let version: PageVersion
    /// Of an image.
    let location: ImageAddress?

    init(_ version: PageVersion) {
        self.version = version
        location = if case .image(let image) = version.content { ImageAddress(image) } else { nil }
    }
}

/// A completed checkpoint and what was committed since: what snapshots look pages up in.
///
/// Snapshots keep the generation that they started in alive; commits append to the newest one
/// only. All access is under the engine's lock.
final class Generation: @unchecked Sendable {
    let number: UInt64
    /// The last commit that the map covers.
    let checkpointCommit: UInt64
    let map: PageMap
    /// The versions of each page in order of commit.
    private(set) var versions: [PageID: [PageVersion]] = [:]
    /// The last of each list in `versions`, which is nearly always what a lookup wants: found
    /// without a dictionary's hash, and without a reference to the list.
    private var newest = NumberTable<NewestVersion>()
    /// False until the first is added, which each lookup asks.
    private var hasHadVersions = false
    /// Bytes of the images in `versions`.
    private(set) var imageBytes = 0
    /// Units of the out-of-line extents that its commits wrote.
    private(set) var extentUnits: UInt64 = 0
    /// Out-of-line extents that a later commit of this generation replaced; `commit` made them.
    private(set) var replaced: [(address: ExtentAddress, commit: UInt64)] = []
    /// How many snapshots show each commit of it.
    private var pins: [UInt64: Int] = [:]
    /// How many snapshots show it, and since when there has been one: nanoseconds since 1970.
    private(set) var pinCount = 0
    var pinnedSince: UInt64 = 0
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

    /// The next generation: what its map covers is left out, what was committed since goes on.
    init(number: UInt64, checkpointCommit: UInt64, map: PageMap, after last: Generation) {
        self.number = number
        newestWhenRead = number
        self.checkpointCommit = checkpointCommit
        self.map = map
        for (id, list) in last.versions {
            let later = list.filter { $0.commit > checkpointCommit }
            guard let newest = later.last else { continue }
            hasHadVersions = true
            self.newest[id.rawValue] = NewestVersion(newest)
            versions[id] = later
            for version in later { count(version) }
        }
        replaced = last.replaced.filter { $0.commit > checkpointCommit }
    }

    /// The newest version at or before a commit.
    func version(of id: PageID, upTo commit: UInt64) -> PageVersion? {
        guard hasHadVersions, let place = newest.place(of: id.rawValue),
            let last = newest.contents[place]?.version.commit
        else { return nil }
        guard last <= commit else { return versions[id]?.last { $0.commit <= commit } }
        // Handing the image out waits for its count of references, and then for its header.
        newest.contents[place]?.location?.prefetchNode()
        return newest.contents[place]?.version
    }

    /// What a delta against the newest version of a page would build on.
    func chain(of id: PageID) -> DeltaChain { newest[id.rawValue]?.version.chain ?? DeltaChain() }

    func noteReplaced(_ address: ExtentAddress, commit: UInt64) {
        replaced.append((address, commit))
    }

    /// Adds a page's newest version, and lets go of those that nobody can see any more: neither a
    /// snapshot, nor one of the commits that are named, which the next snapshots will show.
    func append(_ version: PageVersion, of id: PageID, keeping commits: [UInt64]) {
        hasHadVersions = true
        newest[id.rawValue] = NewestVersion(version)
        count(version)
        guard let index = versions.index(forKey: id) else {
            versions[id] = [version]
            return
        }
        if let last = versions.values[index].last, case .extent(let old) = last.content {
            noteReplaced(old, commit: last.commit)
        }
        // The last one is what snapshots show until the new commit is published.
        letGo(of: &versions.values[index], keeping: commits)
        versions.values[index].append(version)
    }

    /// Lets go of the versions of all pages that nobody can see any more: of each page that was
    /// not written again, one may be left.
    func trim(keeping commits: [UInt64]) {
        var index = versions.startIndex
        while index != versions.endIndex {
            if versions.values[index].count > 1 {
                letGo(of: &versions.values[index], keeping: commits)
            }
            versions.formIndex(after: &index)
        }
    }

    private func letGo(of list: inout [PageVersion], keeping commits: [UInt64]) {
        for index in (0..<(list.count - 1)).reversed() {
            let shown = list[index].commit..<list[index + 1].commit
            guard !commits.contains(where: shown.contains),
                !pins.keys.contains(where: shown.contains)
            else { continue }
            if case .image(let image) = list[index].content { imageBytes -= image.count }
            list.remove(at: index)
        }
    }

    private func count(_ version: PageVersion) {
        switch version.content {
        case .image(let image): imageBytes += image.count
        case .extent(let address): extentUnits += UInt64(address.unitCount)
        case .freed: break
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
