import Foundation
import PageStore
import Primitives

/// The front door of the room: one store with its schema.
package final class RecordDatabase: Sendable {
    package enum Location: Sendable {
        case file(String)
        case memory
    }

    package let schema: Schema
    private let engine: Engine
    private let catalog: Catalog
    private let trees: TreeTable
    private let numbers: NumberReserve
    /// For a reader: what the catalog said of the schema, and the last commit known to say so.
    private let schemaText: [UInt8]?
    private let checkedCommit = Mutex<UInt64>(0)

    init(
        engine: Engine, schema: Schema, catalog: Catalog, trees: TreeTable,
        numbers: NumberReserve? = nil, schemaText: [UInt8]? = nil
    ) {
        self.engine = engine
        self.schema = schema
        self.catalog = catalog
        self.trees = trees
        self.numbers = numbers ?? NumberReserve(schema, catalog)
        self.schemaText = schemaText
    }

    /// Opens a store for a program's schema. A new file takes the schema over; a file with the
    /// same schema, in whatever order, is opened, and indexes that only one of the two has are
    /// built or dropped. An opening for reading writes nothing: it reads by the file's indexes,
    /// and where the file lacks one it scans, as `explain` says. A file of an earlier schema that
    /// its catalog alone can leave follows: see ``LayoutPlan``. Any other file throws
    /// `schemaMismatch`, which names the first difference, and a file that had the program's schema
    /// before its own throws `newerModel`: see ``ModelHistory``.
    ///
    /// - Parameter recreatesOnMismatch: a file that cannot follow, unless it is opened for reading
    ///   only, is replaced by a new one instead: see ``mustRecreate(_:to:_:)`` and `replace`.
    /// - Parameter route: the versions by which a file follows; directly without one.
    /// - Parameter earlier: schemas that the program knows to come before its own; asked for where
    ///   the file gets a schema.
    /// - Parameter limit: how much of a migration this opening may do.
    /// - Parameter isOneStep: whether a way through several versions is refused.
    /// - Parameter control: hears how far it is, and may end it.
    package static func open(
        _ location: Location, schema description: SchemaDescription,
        options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared, recreatesOnMismatch: Bool = false,
        route: MigrationRoute? = nil,
        earlier: @autoclosure @escaping () -> [SchemaDescription] = [],
        limit: MigrationLimit = .mappings, isOneStep: Bool = false,
        control: MigrationControl? = nil
    ) throws(StoreError) -> RecordDatabase {
        let schema = try Schema(description)
        let terms = MigrationTerms(
            route: route, limit: limit, isOneStep: isOneStep, earlier: earlier, control: control)
        return try open(
            location, schema, options: options, files: files, terms,
            recreatesOnMismatch: recreatesOnMismatch)
    }

    /// - Parameter schema: the schema as a new file is to have it.
    static func open(
        _ location: Location, _ schema: Schema, options: Engine.Options, files: any FileSystem,
        _ terms: MigrationTerms = MigrationTerms(), recreatesOnMismatch: Bool = false
    ) throws(StoreError) -> RecordDatabase {
        let engine =
            switch location {
            case .file(let path): try Engine.open(path: path, options: options, files: files)
            case .memory: try Engine.inMemory(options: options)
            }
        do throws(StoreError) {
            return try open(engine, schema, terms)
        } catch {
            defer { try? engine.close() }
            guard error.code == .schemaMismatch, recreatesOnMismatch, !options.mode.isReadOnly,
                try mustRecreate(engine, to: schema, terms)
            else {
                throw error.at(path: engine.path)
            }
            try replace(engine, schema, files: files, terms)
        }
        return try open(location, schema, options: options, files: files, terms)
    }

    /// Makes an empty store for a schema and gives it the path of an open one, whose writer's lock
    /// the caller holds, and its owner and permissions.
    ///
    /// The old file keeps its name until the new one is whole and durable, and loses it in one
    /// step: whenever the process or the power ends, the path leads to the one or the other, and a
    /// failure before that step leaves the old one. Until then the new file's name has the old
    /// store's ID, of 128 random bits, so that no other file has it: one that is there was left by
    /// a try of this store's that did not come to its end, and is removed.
    private static func replace(
        _ old: Engine, _ schema: Schema, files: any FileSystem, _ terms: MigrationTerms
    ) throws(StoreError) {
        // A symbolic link to the store stays one.
        let path = try files.target(of: old.path)
        let unfinished = unfinishedPath(of: old, at: path)
        if try files.identity(unfinished) != nil { try files.unlink(unfinished) }
        try files.open(unfinished, .createNew).close()
        do throws(StoreError) {
            try open(.file(unfinished), schema, options: old.options, files: files, terms)
                .close()
            try files.replace(path, with: unfinished)
        } catch {
            try? files.unlink(unfinished)
            throw error.at(path: path)
        }
        try files.syncDirectory(of: path)
    }

    private static func unfinishedPath(of old: Engine, at path: String) -> String {
        let digits = [old.uuid.high, old.uuid.low].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return "\(path).\(digits.joined()).new"
    }

    /// - Parameter declared: the schema as a new file would have it.
    static func open(
        _ engine: Engine, _ declared: Schema, _ terms: MigrationTerms = MigrationTerms()
    ) throws(StoreError) -> RecordDatabase {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else {
            return try create(engine, declared, terms)
        }
        let text = try catalog.schemaText(snapshot)
        var stored = declared.description
        // What says the same needs no decoding.
        if text != SchemaText(declared.description).bytes {
            // A later version's schema is told before the layout is missed.
            let layout = try? catalog.layout(snapshot)
            stored = try DecodedSchemas.shared.description(text, layout) { () throws(StoreError) in
                try catalog.resolvedSchema(snapshot).description
            }
            if SchemaDifference.needsMigration(from: stored, to: declared.description) {
                let schema = try catalog.resolvedSchema(snapshot)
                let plan = try MigrationPlan(
                    from: schema, to: declared.description, catalog.history(snapshot), terms)
                return try migrate(
                    engine, catalog, declared, plan, from: schema, of: text, terms)
            }
        }
        var isCopyLeft = false
        if !engine.options.mode.isReadOnly, try catalog.migration(snapshot) != nil {
            isCopyLeft = !Migration.clear(catalog, of: engine)
        }
        let layout = try catalog.layout(snapshot)
        let schema =
            layout == StoredLayout.bytes(of: declared)
            ? declared
            : try Schema(declared.description, layout: layout, page: catalog.root.root)
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        // Only an index can be made anew from the rest.
        if let lost = missing.first(where: { !TreeTable.isIndex($0) }) {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree \(lost)")
        }
        let surplus = isCopyLeft ? [] : try surplusIndexes(schema, catalog, snapshot)
        let isReadOnly = engine.options.mode.isReadOnly
        if missing.isEmpty && surplus.isEmpty {
            return RecordDatabase(
                engine: engine, schema: schema, catalog: catalog, trees: trees,
                schemaText: isReadOnly ? text : nil)
        }
        guard isReadOnly else {
            return try rebuild(
                engine, schema, catalog, trees, missing: missing, surplus: surplus)
        }
        let own = declared.description.withIndexes(
            of: stored, among: Set(try catalog.treeNames(snapshot)))
        let usable = try Schema(own, layout: layout, page: catalog.root.root)
        return RecordDatabase(
            engine: engine, schema: usable, catalog: catalog,
            trees: try TreeTable.open(usable, catalog, snapshot).table, schemaText: text)
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
            engine: engine, schema: schema, catalog: catalog, trees: trees, numbers: numbers)
    }

    static func surplusIndexes(
        _ schema: Schema, _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) -> [String] {
        let known = Set(schema.indexes.map(\.treeName))
        return try catalog.treeNames(view).filter {
            TreeTable.isIndex($0) && !known.contains($0)
        }
    }

    /// Builds the indexes that the file lacks and drops those that the schema does not have, in one
    /// transaction. Throws `duplicateValues` before a byte is written when stored objects break a
    /// unique constraint that is new.
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
                var build = IndexBuild(index, in: transaction)
                try build.run()
            }
            try editor.commit()
            return RecordDatabase(
                engine: engine, schema: schema, catalog: catalog, trees: trees, numbers: numbers)
        } catch {
            editor.rollback()
            throw error
        }
    }

    /// Opens a file with its own schema, without writing a byte: for tools and for looking ahead
    /// at migrations.
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

    /// The same for an engine that stays its opener's when this throws.
    package static func openReadOnly(_ engine: Engine) throws(StoreError) -> RecordDatabase {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else {
            throw .corrupt(nil, "the store has no catalog: it was never used")
        }
        let schema = try catalog.resolvedSchema(snapshot)
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        if let name = missing.first {
            throw .corrupt(nil, "the catalog does not name the tree \(name)")
        }
        return RecordDatabase(engine: engine, schema: schema, catalog: catalog, trees: trees)
    }

    /// Removes a store's file for ever: see ``Engine/erase(path:files:)``.
    package static func erase(
        _ path: String, files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) {
        try Engine.erase(path: path, files: files)
    }

    // MARK: Use

    /// What names the store for life, wherever its file is.
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
    /// What names the open file for the system.
    package var fileIdentity: FileIdentity { engine.fileIdentity }

    /// What tells a program's model from the one that the store is open with, defaults and indexes
    /// included; nil where they are the same, in whatever order they are declared.
    ///
    /// - Throws: `invalidModel` for a model that contradicts itself.
    package func difference(to description: SchemaDescription) throws(StoreError) -> String? {
        schema.description.difference(to: try Schema(description).description)
    }

    package var statistics: StoreStatistics { engine.statistics }

    package func snapshot() throws(StoreError) -> RecordSnapshot {
        let snapshot = try engine.snapshot()
        try checkSchema(snapshot)
        return RecordSnapshot(schema: schema, snapshot: snapshot, catalog: catalog, trees: trees)
    }

    /// Another process may have built or dropped indexes: its trees are not those known here.
    private func checkSchema(_ snapshot: Snapshot) throws(StoreError) {
        guard let schemaText, checkedCommit.withLock({ $0 }) < snapshot.commitNumber else { return }
        guard try catalog.schemaText(snapshot) == schemaText else {
            throw StoreError(
                .schemaMismatch, "another process has changed the file's schema; open it anew",
                path: path)
        }
        checkedCommit.withLock { $0 = max($0, snapshot.commitNumber) }
    }

    /// Calls back after each commit of another process with its number, or once with the reason
    /// why there will be no more: see ``Engine/follow(_:)``.
    package func follow(
        _ observer: @escaping @Sendable (Result<UInt64, StoreError>) -> Void
    ) {
        _ = engine.follow(observer)
    }

    /// Begins the one write transaction; waits for the one before to end.
    /// - Parameter notesChanges: whether what changes is noted, for the staged commit to say.
    package func beginWrite(
        notesChanges: Bool = false
    ) throws(StoreError) -> RecordTransaction {
        RecordTransaction(
            schema: schema, editor: try numbers.beginWrite(engine), catalog: catalog,
            trees: trees, numbers: numbers, notesChanges: notesChanges)
    }

    /// Makes durable what was committed without waiting: see ``Engine/secureRelaxedCommits()``.
    package func secureRelaxedCommits() throws(StoreError) { try engine.secureRelaxedCommits() }

    /// Takes object numbers without a write transaction; waits for none, but where nothing was
    /// written since the store was opened, or since ``checkpoint()``. No object has them, or will
    /// have them but by who took them, after a crash too. Between the beginnings of two
    /// transactions there are 2³¹ at least.
    package func reserveNumbers(
        _ count: Int, in hierarchy: HierarchyID
    ) throws(StoreError) -> NumberBlock {
        try numbers.take(count, in: hierarchy, reservingIn: engine)
    }

    /// Gives back what is left of a block, so that numbers lie close together.
    package func returnNumbers(_ block: NumberBlock) { numbers.giveBack(block) }

    /// Counts the numbers up to one as given out: for a store that takes over what another one
    /// had promised.
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
