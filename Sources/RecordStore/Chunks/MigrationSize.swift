import PageStore

/// Estimates how much a plan writes into a file: an upper bound of its records, and whether they
/// exceed what one transaction should write.
struct MigrationSize {
    /// Estimated size of a link or of an index entry: numbers, and short text.
    private static let entrySizeInBytes: UInt64 = 32

    let engine: Engine
    let catalog: Catalog
    let plan: MigrationPlan
    /// The file's schema.
    let stored: Schema

    private var options: Engine.Options { engine.options }

    // MARK: Records

    /// The records of all hierarchies in which any may be written.
    func recordCount() throws(StoreError) -> Int { try recordCount(plan.steps) }

    /// The records of all hierarchies whose trees are named.
    func recordCount(copying names: Set<String>) throws(StoreError) -> Int {
        let snapshot = try engine.snapshot()
        var count = 0
        for entity in stored.entities {
            let root = stored.knownEntity(tag: entity.hierarchy.rootTag)
            guard names.contains(TreeTable.recordsName(root.name)) else { continue }
            count += try self.count(entity, snapshot)
        }
        return count
    }

    private func recordCount(_ steps: some Sequence<VersionPlan>) throws(StoreError) -> Int {
        let snapshot = try engine.snapshot()
        var count = 0
        for entity in try TouchedTrees(steps).entities(of: stored) {
            count += try self.count(entity, snapshot)
        }
        return count
    }

    private func count(_ entity: EntityLayout, _ view: PageView) throws(StoreError) -> Int {
        Int(min(try catalog.counter(Catalog.countKey(entity.tag), of: view), 1 << 40))
    }

    /// Whether the later model is written beside the earlier one: if more records may be written
    /// than one transaction should write, or if a closure finishes a step, because its transaction
    /// must be able to read the migrated records as they were before it.
    ///
    /// Throws `tooLarge` for a closure if the names of the trees are too long for that.
    func isChunked() throws(StoreError) -> Bool {
        guard plan.hasFinishing else { return try mayWriteMany() }
        guard canBeNamed else {
            throw StoreError(
                .tooLarge,
                "a closure finishes the migration, for which the names of the model's entities, "
                    + "relationships or indexes are too long")
        }
        return true
    }

    private func mayWriteMany() throws(StoreError) -> Bool {
        let limit = options.migrationRowsMax
        guard canBeNamed, try recordCount() > limit else { return false }
        guard case .layout(let first) = plan.steps.first else { return true }
        // A layout plan may write few of the records, so those are counted one by one.
        let count = try recordCount(plan.steps.dropFirst())
        guard count <= limit else { return true }
        let snapshot = try engine.snapshot()
        let (trees, missing) = try TreeTable.open(stored, catalog, snapshot)
        if let name = missing.first(where: { !TreeTable.isIndex($0) }) {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree \(name)")
        }
        let reader = RecordReader(schema: stored, view: snapshot, catalog: catalog, trees: trees)
        return try first.writtenCount(reader, upTo: limit + 1 - count) > limit - count
    }

    /// Whether the catalog can name all trees below `next/`: some names may already be as long as a
    /// key can be. A migration with such names runs in one transaction.
    private var canBeNamed: Bool {
        let schemas =
            [stored]
            + plan.steps.flatMap { step in
                switch step {
                case .layout(let plan): [plan.schema]
                case .rewrite(let plan): plan.first.map(\.schema) + [plan.both, plan.last.schema]
                }
            }
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: options.pageSizeInBytes)
        let size = limit - MigrationShadow.prefix.utf8.count - Catalog.treePrefix.utf8.count
        return schemas.allSatisfy { schema in
            schema.treeNames.allSatisfy { $0.utf8.count <= size }
        }
    }

    // MARK: Space

    /// The space that the file and its file system need while both models exist.
    ///
    /// - Parameter isChunked: whether the trees that the plan may change are copied; otherwise they
    ///   are only if a step rewrites records.
    func forecast(isChunked: Bool) throws(StoreError) -> SpaceForecast {
        let snapshot = try engine.snapshot()
        let isCopied =
            isChunked
            || plan.steps.contains { step in
                if case .rewrite = step { true } else { false }
            }
        var (copied, copiedFirst): (UInt64, UInt64) = (0, 0)
        var dropped: Set<String> = []
        if isCopied {
            let names = try plan.copiedTrees(of: stored)
            dropped = names.dropped
            for name in names.first.union(names.later) {
                guard let tree = try catalog.tree(name, of: snapshot) else { continue }
                let size = try snapshot.estimatedSize(of: tree)
                copied = sum(copied, size)
                if names.first.contains(name) { copiedFirst = sum(copiedFirst, size) }
            }
        }
        copied = sum(copied, try widening(snapshot))
        // One transaction may rewrite every page once. Chunks change in place what is copied before
        // the first pass, where every node may be split, and write the records of hierarchies that
        // move to other trees.
        let again = isMoving ? copied : copiedFirst
        let written = sum(sum(copied, isChunked ? again : 0), try builtSize(dropped, snapshot))
        // Pages that are written again, and the log, become free only after the next checkpoints.
        let (limits, log) = (options.outOfLineBytesMax, options.logBytesMax)
        let pending = min(sum(UInt64(options.migrationChunkBytesMax), limits), sum(copied, copied))
        return SpaceForecast(
            recordCount: isCopied ? try recordCount() : 0,
            neededBytes: sum(
                sum(written, written / 20 * 3), sum(pending, min(sum(log, log), copied))),
            freeBytesInFile: try engine.freeBytesInFile(), freeBytesOnDisk: engine.freeBytesOnDisk)
    }

    /// Whether records of any hierarchy move to other trees.
    private var isMoving: Bool {
        plan.steps.contains { step in
            guard case .rewrite(let plan) = step else { return false }
            return !plan.lineage.movedRoots.before.isEmpty
        }
    }

    /// By how much records grow at most: a property of another type, and a link to an object that
    /// moves, gets another slot; records of an earlier layout get all that were added since.
    private func widening(_ snapshot: Snapshot) throws(StoreError) -> UInt64 {
        // By the file's tags; an entity that moves has another one afterwards.
        var growths: [UInt16: Int] = [:]
        var storedTags: [UInt16: UInt16] = [:]
        for case .rewrite(let plan) in plan.steps {
            let numbers = try NumberMaps(plan.lineage, plan.both) { _ in 0 }
            for entity in plan.rewrites(numbers).flatMap(\.entities) where entity.isNeeded {
                let tag = storedTags[entity.source.tag] ?? entity.source.tag
                storedTags[entity.destination.tag] = tag
                guard let former = stored.entity(tag: tag) else { continue }
                let least = former.widening?.leastFixedSize ?? former.fixedSize
                growths[tag] = max(growths[tag] ?? 0, entity.destination.fixedSize - least)
            }
        }
        var size: UInt64 = 0
        for (tag, growth) in growths {
            let count = UInt64(try count(stored.knownEntity(tag: tag), snapshot))
            size = sum(size, count * UInt64(growth))
        }
        return size
    }

    /// The estimated size of indexes and links for which the file has no tree of that name, or one
    /// that is dropped before.
    private func builtSize(
        _ dropped: Set<String>, _ snapshot: Snapshot
    ) throws(StoreError) -> UInt64 {
        guard let last = plan.steps.last?.schema else { return 0 }
        let trees =
            last.indexes.map { ($0.treeName, $0.entityTag) }
            + last.relationships.filter { !$0.mirrorsToOne }.map { ($0.treeName, $0.sourceTag) }
        var size: UInt64 = 0
        for (name, tag) in trees {
            if let tree = try catalog.tree(name, of: snapshot) {
                guard dropped.contains(name) else { continue }
                size = sum(size, try snapshot.estimatedSize(of: tree))
                continue
            }
            var count = 0
            for tag in last.knownEntity(tag: tag).tags {
                guard let entity = last.entity(tag: tag) else { continue }
                // Hierarchies that move have other tags.
                for former in stored.entities
                where former.tag == tag || former.name == entity.name {
                    count += try self.count(former, snapshot)
                }
            }
            size = sum(size, UInt64(count) * Self.entrySizeInBytes)
        }
        return size
    }

    private func sum(_ first: UInt64, _ second: UInt64) -> UInt64 {
        let (sum, isTooLarge) = first.addingReportingOverflow(second)
        return isTooLarge ? .max : sum
    }
}

/// The space that a migration needs, and the space that is free.
package struct SpaceForecast: Sendable {
    /// The records of all hierarchies that are rewritten.
    package var recordCount: Int
    /// An estimate that is rather too high.
    package var neededBytes: UInt64
    package var freeBytesInFile: UInt64
    /// Nil if the file system cannot tell.
    package var freeBytesOnDisk: UInt64?

    package var fits: Bool {
        guard let freeBytesOnDisk else { return true }
        return neededBytes <= freeBytesInFile || neededBytes - freeBytesInFile <= freeBytesOnDisk
    }

    /// Throws `diskFull` if there is too little space.
    func check() throws(StoreError) {
        guard !fits, let freeBytesOnDisk else { return }
        throw StoreError(
            .diskFull,
            "the migration needs about \(neededBytes) bytes; \(freeBytesInFile) are free in the "
                + "file and \(freeBytesOnDisk) on its file system")
    }
}

extension Schema {
    fileprivate var treeNames: [String] {
        entities.filter { $0.superentityTag == nil }.map { TreeTable.recordsName($0.name) }
            + indexes.map(\.treeName)
            + relationships.filter { !$0.mirrorsToOne }.map(\.treeName)
    }
}
