import Foundation
import PageStore
import Primitives

/// The entry point of the record store: one store with its schema.
package final class RecordDatabase: Sendable {
    package enum Location: Sendable {
        case file(String)
        case memory
    }

    package let schema: Schema
    private let engine: Engine
    package var isReadOnly: Bool { engine.options.mode.isReadOnly }
    private let catalog: Catalog
    private let trees: TreeTable
    package let identities: ObjectIdentities
    private let numbers: NumberReserve
    /// For a read-only opening by a program's schema: the trees of later commits.
    private let followed: FollowedTrees?

    init(
        engine: Engine, schema: Schema, catalog: Catalog, trees: TreeTable,
        identities: ObjectIdentities, numbers: NumberReserve? = nil, structure: [UInt8]? = nil
    ) {
        self.engine = engine
        self.schema = schema
        self.catalog = catalog
        self.trees = trees
        self.identities = identities
        self.numbers = numbers ?? NumberReserve(schema, catalog)
        followed = structure.map {
            FollowedTrees(schema, catalog, trees, identities.moved, of: $0)
        }
    }

    /// Opens a store with a program's schema. A new file adopts the schema. A file with an equal
    /// schema, in any order of declarations, is opened; indexes that only one of the two has are
    /// built or dropped. A read-only opening writes nothing: it uses the file's indexes, and scans
    /// if the file lacks one, as `explain` shows. A file of an earlier schema is migrated if
    /// `route` and `limit` allow it; a read-only opening reads it unchanged if the migration would
    /// change only the catalog. Any other file throws `schemaMismatch`, which names the first
    /// difference, and a file that had the program's schema before its own throws `newerModel`: see
    /// ``ModelHistory``.
    ///
    /// - Parameter recreatesOnMismatch: replaces a file that cannot be migrated by a new one,
    ///   unless it is opened read-only: see ``RecreationReason`` and `replace`.
    /// - Parameter route: the versions through which a file is migrated; directly if nil.
    /// - Parameter earlier: schemas that the program knows to precede its own; evaluated only if
    ///   the file gets a schema.
    /// - Parameter limit: how much of a migration this opening may do.
    /// - Parameter readsEarlierModel: whether a read-only opening may read a file of an earlier
    ///   model as it is: see ``UnmigratedFile``.
    /// - Parameter isOneStep: whether a route through several versions is refused.
    /// - Parameter backup: the path of a new file into which the store is written before this
    ///   opening migrates it, builds or drops indexes, or replaces it. Otherwise none is written.
    ///   Throws `invalidArgument` and changes nothing if there is a file already.
    /// - Parameter control: receives the progress of a migration, and may cancel it.
    /// - Parameter planned: a plan that was made with the same schema and route.
    package static func open(
        _ location: Location, schema description: SchemaDescription,
        options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared, recreatesOnMismatch: Bool = false,
        route: MigrationRoute? = nil,
        earlier: @autoclosure @escaping () -> [SchemaDescription] = [],
        limit: MigrationLimit = .mappings, isOneStep: Bool = false,
        readsEarlierModel: Bool = true, backup: String? = nil, control: MigrationControl? = nil,
        planned: PlannedMigration? = nil
    ) throws(StoreError) -> RecordDatabase {
        let schema = try DeclaredSchema(description)
        let terms = MigrationTerms(
            route: route, limit: limit, isOneStep: isOneStep,
            readsEarlierModel: readsEarlierModel, backup: backup, earlier: earlier,
            control: control, planned: planned)
        return try open(
            location, schema, options: options, files: files, terms,
            recreatesOnMismatch: recreatesOnMismatch)
    }

    static func open(
        _ location: Location, _ schema: DeclaredSchema, options: Engine.Options,
        files: any FileSystem, _ terms: MigrationTerms = MigrationTerms(),
        recreatesOnMismatch: Bool = false
    ) throws(StoreError) -> RecordDatabase {
        let engine =
            switch location {
            case .file(let path): try Engine.open(path: path, options: options, files: files)
            case .memory: try Engine.inMemory(options: options)
            }
        do throws(StoreError) {
            return try open(engine, schema, terms)
        } catch {
            defer { try? engine.close(leavesUnwritten: true) }
            guard error.code == .schemaMismatch, recreatesOnMismatch, !options.mode.isReadOnly,
                let reason = try recreationReason(engine, to: schema, terms, after: error)
            else {
                throw error.at(path: engine.path)
            }
            // A migration that has begun has written the backup.
            if let backup = terms.backup, reason == .noMigration { try engine.copy(to: backup) }
            try replace(engine, schema, files: files, terms)
        }
        return try open(location, schema, options: options, files: files, terms)
    }

    /// Creates an empty store for a schema, and gives it the path, owner and permissions of an open
    /// one. The caller holds the writer's lock on the open file.
    ///
    /// The old file keeps its name until the new one is complete and durable, and is then replaced
    /// atomically: after a crash the path names one or the other, and a failure before that step
    /// leaves the old one. Until then the new file's name contains the old store's ID, of 128
    /// random bits, so that it is unique: an existing file of that name was left by an interrupted
    /// attempt for this store, and is removed.
    private static func replace(
        _ old: Engine, _ schema: DeclaredSchema, files: any FileSystem, _ terms: MigrationTerms
    ) throws(StoreError) {
        // A symbolic link to the store is kept.
        let path = try files.target(of: old.path)
        let unfinished = unfinishedPath(of: old, at: path)
        if try files.identity(unfinished) != nil { try files.unlink(unfinished) }
        try files.open(unfinished, .createNew).close()
        do throws(StoreError) {
            try open(.file(unfinished), schema, options: old.options, files: files, terms)
                .close()
            // Another file may have taken the name meanwhile, and nothing is known of it.
            guard try files.identity(path) == old.fileIdentity else {
                throw StoreError(
                    .fileReplaced, "another file took the store's path while it was made anew")
            }
            try files.replace(path, with: unfinished)
        } catch {
            try? files.unlink(unfinished)
            throw error.at(path: path)
        }
        try files.syncDirectory(of: path)
    }

    private static func unfinishedPath(of old: Engine, at path: String) -> String {
        "\(path).\(old.uuid).new"
    }

    static func open(
        _ engine: Engine, _ declared: DeclaredSchema, _ terms: MigrationTerms = MigrationTerms()
    ) throws(StoreError) -> RecordDatabase {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else {
            return try create(engine, declared.schema, terms)
        }
        let text = try catalog.schemaText(snapshot)
        if let planned = terms.planned, !engine.options.mode.isReadOnly,
            try planned.isFor(catalog, snapshot, of: text, to: declared.description, terms)
        {
            return try migrate(
                engine, catalog, declared, planned.plan, from: planned.stored, of: text, terms)
        }
        var stored = declared.description
        // An equal schema needs no decoding.
        if text != SchemaText(declared.description).bytes {
            // A later version's schema is reported before a missing layout.
            let layout = try? catalog.layout(snapshot)
            stored = try DecodedSchemas.shared.description(text, layout) { () throws(StoreError) in
                try catalog.resolvedSchema(snapshot).description
            }
            if terms.needsMigration(from: stored, to: declared.description) {
                return try openOther(engine, catalog, declared, snapshot, of: text, terms)
            }
            if stored.modelVersion != declared.description.modelVersion {
                try NameCheck.refuseExchange(from: stored, through: terms.route?(stored) ?? [])
            }
        }
        return try openCurrent(engine, declared, stored, catalog, snapshot, terms)
    }

    /// Opens a file that needs no migration; it may have other indexes than the program's schema.
    private static func openCurrent(
        _ engine: Engine, _ declared: DeclaredSchema, _ stored: SchemaDescription,
        _ catalog: Catalog, _ snapshot: Snapshot, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        var isCopyLeft = false
        if !engine.options.mode.isReadOnly, try catalog.migration(snapshot) != nil {
            isCopyLeft = !Migration.clear(catalog, of: engine)
        }
        let layout = try catalog.layout(snapshot)
        let schema = try declared.schema(layout: layout, page: catalog.root.root)
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        // Only an index can be rebuilt from other trees.
        if let lost = missing.first(where: { !TreeTable.isIndex($0) }) {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree \(lost)")
        }
        let surplus = isCopyLeft ? [] : try surplusIndexes(schema, catalog, snapshot)
        let isReadOnly = engine.options.mode.isReadOnly
        if missing.isEmpty && surplus.isEmpty {
            return RecordDatabase(
                engine: engine, schema: schema, catalog: catalog, trees: trees,
                identities: ObjectIdentities(try catalog.movedObjects(snapshot)),
                structure: isReadOnly ? try catalog.structure(snapshot) : nil)
        }
        guard isReadOnly else {
            if let backup = terms.backup { try engine.copy(to: backup) }
            return try rebuild(
                engine, schema, catalog, trees, missing: missing, surplus: surplus)
        }
        let own = declared.description.withIndexes(
            of: stored, among: Set(try catalog.treeNames(snapshot)))
        let usable = try Schema(own, layout: layout, page: catalog.root.root)
        return RecordDatabase(
            engine: engine, schema: usable, catalog: catalog,
            trees: try TreeTable.open(usable, catalog, snapshot).table,
            identities: ObjectIdentities(try catalog.movedObjects(snapshot)),
            structure: try catalog.structure(snapshot))
    }

    private static func create(
        _ engine: Engine, _ schema: Schema, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        let editor = try engine.beginWrite()
        let catalog = try Catalog.create(editor)
        try catalog.setSchema(schema.description, in: editor)
        try catalog.setLayout(StoredLayout.bytes(of: schema), in: editor)
        let earlier = terms.earlier()
        if !earlier.isEmpty {
            try catalog.noteModels(
                [schema.description], after: nil, earlier: earlier, at: engine.now(), in: editor)
        }
        let (_, names) = try TreeTable.open(schema, catalog, editor)
        for name in names { _ = try catalog.createTree(name, in: editor) }
        let (trees, _) = try TreeTable.open(schema, catalog, editor)
        let numbers = NumberReserve(schema, catalog)
        try numbers.create(in: editor)
        return RecordDatabase(
            engine: engine, schema: schema, catalog: catalog, trees: trees,
            identities: ObjectIdentities(), numbers: numbers)
    }

    static func surplusIndexes(
        _ schema: Schema, _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) -> [String] {
        let known = Set(schema.indexes.map(\.treeName))
        return try catalog.treeNames(view).filter {
            TreeTable.isIndex($0) && !known.contains($0)
        }
    }

    /// Builds the indexes that the file lacks and drops those that the schema lacks, in one
    /// transaction. Throws `duplicateValues` before anything is written if stored objects violate a
    /// new unique constraint.
    private static func rebuild(
        _ engine: Engine, _ schema: Schema, _ catalog: Catalog, _ found: TreeTable,
        missing: [String], surplus: [String]
    ) throws(StoreError) -> RecordDatabase {
        let reader = RecordReader(
            schema: schema, view: try engine.snapshot(), catalog: catalog, trees: found)
        for index in schema.indexes where index.isUnique && missing.contains(index.treeName) {
            try DuplicateSearch(index, reader).refusePairs()
        }
        let editor = try engine.beginWrite()
        do throws(StoreError) {
            for name in surplus { try catalog.removeTree(name, in: editor) }
            for name in missing { _ = try catalog.createTree(name, in: editor) }
            try catalog.setSchema(schema.description, in: editor)
            let (trees, _) = try TreeTable.open(schema, catalog, editor)
            let numbers = NumberReserve(schema, catalog)
            let transaction = RecordTransaction(
                schema: schema, editor: editor, catalog: catalog, trees: trees, numbers: numbers)
            for index in schema.indexes where missing.contains(index.treeName) {
                try IndexBuild(index, in: transaction, isFinal: false).run()
            }
            try editor.commit()
            return RecordDatabase(
                engine: engine, schema: schema, catalog: catalog, trees: trees,
                identities: ObjectIdentities(try catalog.movedObjects(reader.view)),
                numbers: numbers)
        } catch {
            editor.rollback()
            throw error
        }
    }

    /// Opens a file with its own schema, without writing: for tools and for forecasts of
    /// migrations.
    package static func openReadOnly(
        path: String, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> RecordDatabase {
        var options = options
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options, files: files)
        do throws(StoreError) {
            return try openReadOnly(engine)
        } catch {
            try? engine.close()
            throw error.at(path: path)
        }
    }

    /// Opens an engine in the same way; if this throws, the engine still belongs to the caller.
    /// Throws `notFound` for a store without a commit, in which nothing is wrong.
    package static func openReadOnly(_ engine: Engine) throws(StoreError) -> RecordDatabase {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else {
            throw StoreError(
                .notFound, "the store has no schema, because no program has used it yet")
        }
        let schema = try catalog.resolvedSchema(snapshot)
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        if let name = missing.first {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree \(name)")
        }
        return RecordDatabase(
            engine: engine, schema: schema, catalog: catalog, trees: trees,
            // Damage to them is reported by the check, and keeps no tool from the objects.
            identities: ObjectIdentities(
                (try? catalog.movedObjects(snapshot)) ?? MovedObjects()))
    }

    /// Removes a store's file permanently: see ``Engine/erase(path:files:)``.
    package static func erase(
        _ path: String, files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) {
        try Engine.erase(path: path, files: files)
    }

    // MARK: Use

    /// Identifies the store for its lifetime, wherever its file is.
    package var storeID: UUID {
        var bytes: [UInt8] = []
        for number in [engine.uuid.low, engine.uuid.high] {
            for index in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
            }
        }
        return bytes.withView { UUIDBytes.uuid($0) } ?? UUID()
    }

    package var path: String { engine.path }
    /// Identifies the open file in the system.
    package var fileIdentity: FileIdentity { engine.fileIdentity }

    /// Describes the first difference between a program's model and the store's, including defaults
    /// and indexes; nil if they are equal, in any order of declarations.
    ///
    /// - Throws: `invalidModel` for a model that contradicts itself.
    package func difference(to description: SchemaDescription) throws(StoreError) -> String? {
        schema.description.difference(to: try Schema(description).description)
    }

    package var statistics: StoreStatistics { engine.statistics }

    package func snapshot() throws(StoreError) -> RecordSnapshot {
        let snapshot = try engine.snapshot()
        guard let followed else {
            return RecordSnapshot(
                schema: schema, snapshot: snapshot, catalog: catalog, trees: trees)
        }
        guard let trees = try followed.trees(of: snapshot) else {
            throw StoreError(
                .schemaMismatch, "another process has changed the file's schema; open it anew",
                path: path)
        }
        return RecordSnapshot(schema: schema, snapshot: snapshot, catalog: catalog, trees: trees)
    }

    /// Calls the observer after each commit of another process with its number, or once with the
    /// reason why there will be no more: see ``Engine/follow(_:)``.
    package func follow(
        _ observer: @escaping @Sendable (Result<UInt64, StoreError>) -> Void
    ) {
        _ = engine.follow(observer)
    }

    /// Begins the only write transaction; waits for the previous one to end.
    /// - Parameter notesChanges: whether changes are recorded for the staged commit.
    package func beginWrite(
        notesChanges: Bool = false
    ) throws(StoreError) -> RecordTransaction {
        RecordTransaction(
            schema: schema, editor: try numbers.beginWrite(engine), catalog: catalog,
            trees: trees, numbers: numbers, notesChanges: notesChanges)
    }

    /// Makes relaxed commits durable: see ``Engine/secureRelaxedCommits()``.
    package func secureRelaxedCommits() throws(StoreError) { try engine.secureRelaxedCommits() }

    /// Takes object numbers without a write transaction. Waits for one only if nothing was written
    /// since the store was opened, or since ``checkpoint()``. No object has these numbers, and only
    /// their holder can assign them, even after a crash. At least 2³¹ are available between the
    /// beginnings of two transactions.
    package func reserveNumbers(
        _ count: Int, in hierarchy: HierarchyID
    ) throws(StoreError) -> NumberBlock {
        try numbers.take(count, in: hierarchy, reservingIn: engine)
    }

    /// Returns the rest of a block, so that numbers stay close together.
    package func returnNumbers(_ block: NumberBlock) { numbers.giveBack(block) }

    /// Marks numbers up to `last` as given out: for a store that takes over numbers that another
    /// one had reserved.
    package func passNumbers(upTo last: UInt64, in hierarchy: HierarchyID) {
        numbers.pass(last, in: hierarchy)
    }

    package func checkpoint() throws(StoreError) {
        numbers.lower(engine)
        try engine.checkpointNow()
    }
    package func copy(to path: String, files: (any FileSystem)? = nil) throws(StoreError) {
        try engine.copy(to: path, files: files)
    }
    /// See ``Engine/updateCopy(at:files:)``.
    @discardableResult
    package func updateCopy(
        at path: String, files: (any FileSystem)? = nil
    ) throws(StoreError) -> Int {
        try engine.updateCopy(at: path, files: files)
    }
    package func vacuum(byteBudget: Int) throws(StoreError) -> Int {
        try engine.vacuum(byteBudget: byteBudget)
    }

    package func close() throws(StoreError) {
        let isChanged = numbers.close(engine)
        try engine.close(makesCheckpoint: isChanged)
    }
}
