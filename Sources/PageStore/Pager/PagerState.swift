/// The state that readers share with the writer; accessible only under the pager's lock.
struct PagerState: ~Copyable {
    var cache: PageCache
    var published: PublishedState
    var readers = SnapshotRegistry()
    var isClosed = false
    /// Bytes of the private copies of the transaction that runs.
    var dirtyBytes = 0
    var pagesRead: UInt64 = 0
    /// Bytes of map nodes that were read, since all of them were dropped.
    var nodeBytes = 0
    /// Whether the system was told that the rest of the file will be read.
    var didRequestReadAhead = false

    init(cache: consuming PageCache, _ published: PublishedState) {
        self.cache = cache
        self.published = published
    }

    /// When versions or private copies have changed: the cache gives way.
    mutating func reserveMemory() {
        let heldBytes = readers.imageBytes(besides: published.generation)
        cache.reserve(published.generation.imageBytes + heldBytes + dirtyBytes)
    }
}

/// The newest published state, which the next snapshot shows.
struct PublishedState {
    var generation: Generation
    /// The newest commit that readers see, and its catalog.
    var commitNumber: UInt64
    var catalogRoot: PageID?
    /// Commits that are staged and that no reader sees yet: each of them may be the next to be
    /// published, as the last of the group that is written.
    var stagedCommits: [UInt64] = []
    /// The last commit that a running checkpoint covers.
    var plannedCommit: UInt64?
    /// The newest superblock of the file.
    var superblock: Superblock
    /// The generation in the other superblock, and the file's length that it needs.
    var previousGeneration: UInt64
    var previousRequiredLength: UInt64 = 0
    /// The log's segments from the superblock's head on.
    var segments: [LogSegment]
    /// Damage that a tolerant opening skipped.
    var damage: [StoreError] = []
    var commits: UInt64 = 0
    var checkpoints: UInt64 = 0

    init(generation: Generation, superblock: Superblock, previousGeneration: UInt64) {
        self.generation = generation
        self.superblock = superblock
        self.previousGeneration = previousGeneration
        commitNumber = superblock.commitNumber
        catalogRoot = superblock.root
        segments = [superblock.head]
    }

    /// The commits that snapshots to come may show, besides those that are not staged yet.
    var visibleCommits: [UInt64] {
        stagedCommits + [commitNumber] + (plannedCommit.map { [$0] } ?? [])
    }

    /// A superblock has been written: it is the newest now, and the one before is the other copy.
    mutating func advance(to next: Superblock) {
        previousGeneration = superblock.generation
        previousRequiredLength = superblock.requiredLength
        superblock = next
    }
}
