/// Moves pages from the file's end to gaps before it, and gives the end back to the system.
struct Vacuum {
    /// How many pages are tried in vain before nothing is said to fit.
    private static let misfitCountMax = 100
    /// Bytes of images that one step may always hold.
    private static let imageBytesMin = 16 << 20
    /// The pages that a step moves are in memory at once.
    private static let stepBytesMax = 64 << 20

    private let parts: StoreParts

    init(_ parts: StoreParts) { self.parts = parts }

    /// Moves about as many bytes as the budget says. Returns the bytes moved: zero when there is
    /// nothing to gain.
    func run(byteBudget: Int) throws(StoreError) -> Int {
        var moved = 0
        while true {
            let budget = min(byteBudget - moved, Self.stepBytesMax)
            let step = try runStep(byteBudget: budget)
            moved += step
            if step == 0 || moved >= byteBudget { return moved }
        }
    }

    private func runStep(byteBudget: Int) throws(StoreError) -> Int {
        // The gaps are the space that is free without the generation before.
        for _ in 0..<2 { try parts.checkpointNow() }
        var moved = 0
        try parts.checkpointNow { plan throws(StoreError) in
            moved = try addMoves(to: &plan, byteBudget: byteBudget)
        }
        // The old extents are free after the next checkpoint; the file is truncated once neither
        // superblock needs its end.
        for _ in 0..<3 { try parts.checkpointNow { $0.cutsTail = true } }
        return moved
    }

    /// Has the checkpoint store what lies highest once more, if there is room below it. Returns the
    /// bytes of pages alone: each of them comes to lie lower, which ends the vacuum, but
    /// checkpoints store nodes and zones again and again, and anywhere.
    private func addMoves(
        to plan: inout CheckpointPlan, byteBudget: Int
    ) throws(StoreError) -> Int {
        // Later commits go on beside this and are not part of the checkpoint.
        let snapshot = Snapshot(
            parts.pager, try parts.pager.pin(plan.commitNumber, plan.catalogRoot))
        var places = try snapshot.places()
        // The highest go first, and each lower than it lies.
        var (trial, zoneAddresses) = parts.space.withSpace { ($0, $0.zoneAddresses) }
        trial.searchFromStart()
        for (zone, address) in zoneAddresses.enumerated() where !address.isNone {
            places.append(StoreContent.Place(address, .zone(zone)))
        }
        var extents = HighestExtents(places)
        var moves = VacuumMoves(snapshot, plan, trial)
        // A few bytes of the file can be a large image.
        while moves.unitCount * unitSize < byteBudget,
            moves.imageBytes < max(byteBudget, Self.imageBytesMin),
            moves.misfitCount < Self.misfitCountMax, let extent = extents.next()
        {
            try moves.add(extent)
        }
        plan.moves = moves.moves
        plan.versions = moves.versions + plan.versions
        parts.space.withSpace { space in
            space.noteUnsaved(Array(plan.moves.zones.keys))
            space.searchFromStart()
        }
        return moves.unitCount * unitSize
    }

    private var unitSize: Int { parts.context.geometry.unitSizeInBytes }
}

/// What one step of a vacuum moves.
private struct VacuumMoves {
    private let snapshot: Snapshot
    private let commitNumber: UInt64
    /// The space as the checkpoint will find it, with what was added so far.
    private var trial: SpaceMap
    /// The pages that the checkpoint stores.
    private var stored: Set<PageID>
    private(set) var moves = CheckpointPlan.Moves()
    private var images: [(id: PageID, version: PageVersion)] = []
    /// Pages that stay where they are: naming one anew stores the nodes above it once more.
    private var named: [PageID: ExtentAddress] = [:]
    /// The units of the pages that lay high.
    private(set) var unitCount = 0
    private(set) var imageBytes = 0
    /// How many extents found no room.
    private(set) var misfitCount = 0

    init(_ snapshot: Snapshot, _ plan: CheckpointPlan, _ trial: SpaceMap) {
        self.snapshot = snapshot
        self.trial = trial
        commitNumber = plan.commitNumber
        stored = Set(plan.versions.map(\.id))
    }

    mutating func add(_ extent: StoreContent.Place) throws(StoreError) {
        let count = extent.unitCount
        switch extent.holder {
        case .page(let id):
            guard !stored.contains(id), hasRoom(count, below: extent.unit) else { return }
            try store(id, below: extent.unit)
            unitCount += Int(count)
        case .node(let id, let below?):
            guard hasRoom(count, below: extent.unit) else { return }
            if !stored.contains(below.page) { named[below.page] = below.address }
            moves.nodes[id] = extent.unit
        case .zone(let zone):
            guard hasRoom(count, below: extent.unit) else { return }
            moves.zones[zone] = extent.unit
        case .node(_, nil): break
        }
    }

    /// What the checkpoint stores besides its own pages.
    var versions: [(id: PageID, version: PageVersion)] {
        images
            + named.map { id, address in
                (id, PageVersion(commit: commitNumber, content: .extent(address)))
            }
    }

    /// Takes a run of units for a trial.
    private mutating func hasRoom(_ count: UInt64, below limit: UInt64) -> Bool {
        if trial.allocate(Int(count), below: limit) != nil { return true }
        misfitCount += 1
        return false
    }

    private mutating func store(_ id: PageID, below limit: UInt64) throws(StoreError) {
        let image = try snapshot.page(id)
        imageBytes += image.count
        images.append((id, PageVersion(commit: commitNumber, content: .image(image))))
        moves.pages[id] = limit
        stored.insert(id)
        named[id] = nil
    }
}

/// Extents from the highest down. They are sorted part by part, because a step needs only a few of
/// them.
struct HighestExtents {
    private var rest: [StoreContent.Place]
    /// The next ones, the last first.
    private var sorted: [StoreContent.Place] = []
    /// How many units the next part has. It doubles, so that a sparse file takes few parts.
    private var partUnitCount: UInt64 = 4096

    init(_ extents: [StoreContent.Place]) { rest = extents }

    mutating func next() -> StoreContent.Place? {
        while sorted.isEmpty {
            guard let highest = rest.lazy.map(\.unit).max() else { return nil }
            let start = highest - min(highest, partUnitCount)
            let pivot = rest.partition { $0.unit >= start }
            sorted = rest[pivot...].sorted { $0.unit < $1.unit }
            rest.removeSubrange(pivot...)
            partUnitCount *= 2
        }
        return sorted.popLast()
    }
}
