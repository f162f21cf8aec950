/// A generation as it was read from the file, and the later content of its log.
struct FileState {
    var superblock: Superblock
    /// The generation in the other superblock.
    var previousGeneration: UInt64
    var generation: Generation
    /// Nil for an earlier generation: its log leads to the newest commit.
    var log: LogContent?
    /// Damage that was skipped because the mode asks for it.
    var damage: [StoreError] = []
}

/// Reads the current state of the file: when it is opened, and again and again beside a writer of
/// another process. Writes nothing: spec/03-wal.md, recovery, read part.
struct StoreReader {
    private let context: StoreContext
    private let pager: Pager

    init(_ context: StoreContext, _ pager: Pager) {
        self.context = context
        self.pager = pager
    }

    private var mode: OpenMode { context.options.mode }

    /// A generation from its superblock on.
    func read(_ choice: SuperblockChoice, isTailOpen: Bool) throws(StoreError) -> FileState {
        // The superblock that is shown.
        let superblock = try choice.shown(mode)
        var damage: [StoreError] = []
        // Its map, of which the root alone is read now.
        let map = try tolerating(&damage) { () throws(StoreError) in
            try pager.extents.readMap(superblock)
        }
        let generation = Generation(
            number: superblock.generation, checkpointCommit: superblock.commitNumber,
            map: map ?? PageMap(pageSizeInBytes: context.geometry.pageSizeInBytes))
        if mode.toleratesDamage {
            let size = try context.file.size()
            if superblock.requiredLength > size {
                damage.append(SuperblockChoice.truncated(superblock, sizeInBytes: size))
            }
        }
        var found = FileState(
            superblock: superblock, previousGeneration: choice.previousGeneration,
            generation: generation)
        // Its log, up to the last commit.
        if !mode.showsPrevious {
            var reader = LogReader(
                context, superblock, isTailOpen: isTailOpen,
                basePage: basePage(of: generation, superblock.commitNumber))
            _ = try tolerating(&damage) { () throws(StoreError) in try reader.read() }
            // After skipped damage: the commits before it.
            found.log = reader.content
        }
        found.damage = damage
        return found
    }

    /// A generation that is published already, and the commits that its log has got since.
    func readOn(
        _ choice: SuperblockChoice, from known: LogContent?, isTailOpen: Bool
    ) throws(StoreError) -> FileState {
        let generation = pager.generation
        var found = FileState(
            superblock: choice.newest, previousGeneration: choice.previousGeneration,
            generation: generation)
        guard let known else { return found }
        var reader = LogReader(
            context, choice.newest, content: known, isTailOpen: isTailOpen,
            basePage: basePage(of: generation, known.commitNumber))
        found.log = try reader.read()
        return found
    }

    /// Lends the log's frames up to the first damage; returns that damage.
    func readFrames(
        _ body: @escaping (LogFrame) -> Void
    ) throws(StoreError) -> StoreError? {
        let (superblock, generation, commit) = pager.withPublished {
            ($0.superblock, $0.generation, $0.commitNumber)
        }
        // Commits that another process has added since belong to no snapshot.
        let isTailOpen = mode.isReadOnly ? try context.file.isLockedByWriter() ?? true : false
        var reader = LogReader(
            context, superblock, isTailOpen: isTailOpen,
            commitMax: isTailOpen ? commit : .max, noteFrame: body, known: packedImage,
            basePage: basePage(of: generation, superblock.commitNumber))
        do throws(StoreError) {
            _ = try reader.read()
            return nil
        } catch {
            return error
        }
    }

    /// What the opening has packed is not kept twice.
    private func packedImage(_ id: PageID) -> PackedImage? {
        pager.withPublished { published in
            guard case .packed(let image)? = published.generation.versions.newest(of: id)?.content
            else { return nil }
            return image
        }
    }

    /// Without later versions: the log is also read while its commits are in memory.
    private func basePage(of generation: Generation, _ commit: UInt64) -> LogReader.BasePage {
        { [pager] id throws(StoreError) in
            try pager.page(id, generation: generation, commit: commit)
        }
    }

    /// Reads a part of the state; records and skips its error when the mode tolerates damage.
    private func tolerating<Result>(
        _ damage: inout [StoreError], _ part: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        do throws(StoreError) {
            return try part()
        } catch {
            guard mode.toleratesDamage else { throw error }
            damage.append(error)
            return nil
        }
    }
}
