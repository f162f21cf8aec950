import PageStore

/// How much a plan would write into a file: how many records at most, and whether that is more than
/// one transaction should.
struct MigrationSize {
    /// A link, or an entry of an index that is built: numbers, and short texts.
    private static let entrySizeInBytes: UInt64 = 32

    let engine: Engine
    let catalog: Catalog
    let plan: MigrationPlan
    /// The file's schema.
    let stored: Schema

    private var options: Engine.Options { engine.options }

    // MARK: Records

    /// The records of all hierarchies in which some may be written.
    func recordCount() throws(StoreError) -> Int { try recordCount(plan.steps) }

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

    /// Whether more records may be written than one transaction should.
    func mayWriteMany() throws(StoreError) -> Bool {
        let limit = options.migrationRowsMax
        guard canBeNamed, try recordCount() > limit else { return false }
        guard case .layout(let first) = plan.steps.first else { return true }
        // Most records may have nothing that goes, and no nil that is filled.
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

    /// Whether the catalog has room for the names of all trees below `next/`: some may be as long
    /// as a key can be. A migration of those is one transaction.
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

    /// What the file and its file system must have room for while both models are there.
    ///
    /// - Parameter isChunked: whether the trees are copied that the plan may change; else they are
    ///   where a step writes records anew.
    func forecast(isChunked: Bool) throws(StoreError) -> SpaceForecast {
        let snapshot = try engine.snapshot()
        let isCopied =
            isChunked
            || plan.steps.contains { step in
                if case .rewrite = step { true } else { false }
            }
        var copied: UInt64 = 0
        if isCopied {
            for name in try plan.copiedTrees(of: stored) {
                guard let tree = try catalog.tree(name, of: snapshot) else { continue }
                copied = sum(copied, try snapshot.estimatedSize(of: tree))
            }
        }
        // In one transaction every page may be written anew. In chunks the copies are changed in
        // place, but for hierarchies whose records go to other trees.
        let isWrittenTwice =
            isChunked
            && plan.steps.contains { step in
                guard case .rewrite(let plan) = step else { return false }
                return !plan.lineage.movedRoots.before.isEmpty
            }
        let written = sum(sum(copied, isWrittenTwice ? copied : 0), try builtSize(snapshot))
        // What is written again is free only after the next checkpoints, and so is the log.
        let (limits, log) = (options.outOfLineBytesMax, options.logBytesMax)
        let again = min(sum(UInt64(options.migrationChunkBytesMax), limits), sum(copied, copied))
        return SpaceForecast(
            recordCount: isCopied ? try recordCount() : 0,
            neededBytes: sum(
                sum(written, written / 20 * 3), sum(again, min(sum(log, log), copied))),
            freeBytesInFile: try engine.freeBytesInFile(), freeBytesOnDisk: engine.freeBytesOnDisk)
    }

    /// Of indexes and links that the file does not have by their names.
    private func builtSize(_ snapshot: Snapshot) throws(StoreError) -> UInt64 {
        guard let last = plan.steps.last?.schema else { return 0 }
        let trees =
            last.indexes.map { ($0.treeName, $0.entityTag) }
            + last.relationships.filter { !$0.mirrorsToOne }.map { ($0.treeName, $0.sourceTag) }
        var size: UInt64 = 0
        for (name, tag) in trees where try catalog.tree(name, of: snapshot) == nil {
            var count = 0
            for tag in last.knownEntity(tag: tag).tags {
                guard let entity = last.entity(tag: tag) else { continue }
                // Hierarchies that become others have other tags.
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

/// The room that a migration takes, and the room that there is.
package struct SpaceForecast: Sendable {
    /// The records of all hierarchies that are written anew.
    package var recordCount: Int
    /// About, and rather too many.
    package var neededBytes: UInt64
    package var freeBytesInFile: UInt64
    /// Nil where the file system cannot tell.
    package var freeBytesOnDisk: UInt64?

    package var fits: Bool {
        guard let freeBytesOnDisk else { return true }
        return neededBytes <= freeBytesInFile || neededBytes - freeBytesInFile <= freeBytesOnDisk
    }

    /// Throws `diskFull` where there is no room.
    func check() throws(StoreError) {
        guard !fits, let freeBytesOnDisk else { return }
        throw StoreError(
            .diskFull,
            "the migration needs about \(neededBytes) bytes; \(freeBytesInFile) are free in the "
                + "file and \(freeBytesOnDisk) on its file system")
    }
}

extension Schema {
    /// The names of all trees.
    fileprivate var treeNames: [String] {
        entities.filter { $0.superentityTag == nil }.map { TreeTable.recordsName($0.name) }
            + indexes.map(\.treeName)
            + relationships.filter { !$0.mirrorsToOne }.map(\.treeName)
    }
}
