/// Copies of a store: a backup beside running transactions, and a file without gaps.
extension Engine {
    /// How many pages vacuum tries in vain before it says that nothing fits.
    private static let misfitCountMax = 100

    /// Writes the newest commit into a new file, page behind page, as a store of its own with the
    /// same identity. Transactions go on meanwhile; the copy is of the moment when it began.
    ///
    /// Throws `invalidArgument` when there is a file at the path already. The path names a file
    /// only when the copy is whole and durable.
    package func copy(to path: String) throws(StoreError) {
        let snapshot = try snapshot()
        guard try files.identity(path) == nil else {
            throw StoreError(
                .invalidArgument, "there is a file of that name already", path: path)
        }
        let unfinished = path + ".part"
        if try files.identity(unfinished) != nil { try files.unlink(unfinished) }
        do throws(StoreError) {
            try write(snapshot, to: unfinished)
            try files.rename(unfinished, to: path)
            try files.syncDirectory(of: path)
        } catch {
            try? files.unlink(unfinished)
            throw error.at(path: path)
        }
    }

    private func write(_ snapshot: Snapshot, to path: String) throws(StoreError) {
        let options = copyOptions
        let file = MeteredFile(try files.open(path, .create))
        try OpenStores.register(file.identity, path: path)
        let copy: Engine
        do throws(StoreError) {
            copy = try Engine.create(
                path: path, options: options, files: files, file: file, uuid: uuid)
        } catch {
            OpenStores.unregister(file.identity)
            file.close()
            throw error
        }
        copy.note(origin: superblock, snapshot.commitNumber)
        try copy.fill(from: snapshot)
        try copy.close()
    }

    /// What a copy is written with.
    var copyOptions: Options {
        var options = options
        options.isReadOnly = false
        options.toleratesDamage = false
        options.opensPreviousGeneration = false
        options.checkpointsInBackground = false
        options.cacheSizeInBytes = 1 << 20
        return options
    }

    /// Says in the next superblock which store this is a copy of, and as of when.
    func note(origin: Superblock, _ commit: UInt64) {
        lock.withLock { _ in
            state.superblock.originLineage = origin.lineage
            state.superblock.originCommit = commit
        }
    }

    /// Takes all pages of a snapshot over under their names. The engine is new and nobody else's.
    private func fill(from snapshot: Snapshot) throws(StoreError) {
        let pages = try snapshot.content().pages
        var output = ExtentWriter(engine: self, isRecent: false)
        let shown = state.generation.shown(besides: [])
        for id in pages {
            let image = try snapshot.page(id)
            let address = try output.append(
                image.view, id: id.rawValue, kind: .page, generation: newestGeneration,
                commit: snapshot.commitNumber)
            state.generation.append(
                PageVersion(commit: snapshot.commitNumber, content: .extent(address)), of: id,
                keeping: shown)
        }
        try output.flush()
        takeNames(of: pages)
        state.commitNumber = snapshot.commitNumber
        state.catalogRoot = snapshot.catalogRoot
        try checkpoint()
        try writeTwin()
    }

    /// Moves pages from the file's end to gaps before it, about as many bytes as the budget says,
    /// and gives the end back to the system as far as no reader needs it. Returns the bytes moved:
    /// zero when there is nothing to gain.
    package func vacuum(byteBudget: Int) throws(StoreError) -> Int {
        // The gaps are what is free when the generation before is gone.
        for _ in 0..<2 { try checkpointNow() }
        var moved = 0
        try checkpointNow { engine, plan throws(StoreError) in
            moved = try engine.addMoves(to: &plan, byteBudget: byteBudget)
        }
        // What was left behind is free after the next checkpoint, and the end is cut off when
        // neither superblock needs it.
        for _ in 0..<3 { try checkpointNow() }
        return moved
    }

    /// Has the checkpoint store the pages that lie highest once more, where there is room below.
    private func addMoves(
        to plan: inout CheckpointPlan, byteBudget: Int
    ) throws(StoreError) -> Int {
        let known = Set(plan.versions.map(\.id))
        // Later commits go on beside this and are no part of what the checkpoint stores.
        let snapshot = try snapshot(of: plan)
        let places = try snapshot.content().places
        // The highest go first, and each lower than it lies.
        var trial = space.withLock { $0 }
        trial.searchFromStart()
        var moved = 0
        var moves: [(id: PageID, version: PageVersion)] = []
        var misfitCount = 0
        for place in places.sorted(by: { $0.unit > $1.unit }) {
            guard moved < byteBudget, misfitCount < Self.misfitCountMax else { break }
            guard let id = place.page, !known.contains(id) else { continue }
            guard trial.allocate(Int(place.unitCount), below: place.unit) != nil else {
                misfitCount += 1
                continue
            }
            let version = PageVersion(
                commit: plan.commitNumber, content: .image(try snapshot.page(id)))
            moves.append((id: id, version: version))
            plan.moves[id] = place.unit
            moved += Int(place.unitCount) * options.unitSizeInBytes
        }
        plan.versions = moves + plan.versions
        space.withLock { $0.searchFromStart() }
        return moved
    }
}
