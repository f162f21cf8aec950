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

    /// Has the checkpoint store the pages that lie highest once more, where there is room below.
    private func addMoves(
        to plan: inout CheckpointPlan, byteBudget: Int
    ) throws(StoreError) -> Int {
        let known = Set(plan.versions.map(\.id))
        // Later commits go on beside this and are not part of the checkpoint.
        let snapshot = Snapshot(
            parts.pager, try parts.pager.pin(plan.commitNumber, plan.catalogRoot))
        var extents = HighestExtents(try snapshot.places())
        // The highest go first, and each lower than it lies.
        var trial = parts.space.withSpace { $0 }
        trial.searchFromStart()
        var moved = 0
        var moves: [(id: PageID, version: PageVersion)] = []
        var misfitCount = 0
        // A few bytes of the file can be a large image.
        var imageBytes = 0
        while moved < byteBudget, imageBytes < max(byteBudget, Self.imageBytesMin),
            misfitCount < Self.misfitCountMax, let extent = extents.next()
        {
            guard let id = extent.page, !known.contains(id) else { continue }
            guard trial.allocate(Int(extent.unitCount), below: extent.unit) != nil else {
                misfitCount += 1
                continue
            }
            let image = try snapshot.page(id)
            imageBytes += image.count
            let version = PageVersion(commit: plan.commitNumber, content: .image(image))
            moves.append((id: id, version: version))
            plan.moves[id] = extent.unit
            moved += Int(parts.context.geometry.bytes(ofUnits: extent.unitCount))
        }
        plan.versions = moves + plan.versions
        parts.space.withSpace { $0.searchFromStart() }
        return moved
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
