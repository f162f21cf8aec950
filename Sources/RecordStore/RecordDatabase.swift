import Foundation
import PageStore
import Synchronization

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
    /// For a reader: what the catalog said of the schema, and the last commit known to say so.
    private let schemaText: [UInt8]?
    private let checkedCommit = Mutex<UInt64>(0)

    private init(
        engine: Engine, schema: Schema, catalog: Catalog, trees: TreeTable,
        schemaText: [UInt8]? = nil
    ) {
        self.engine = engine
        self.schema = schema
        self.catalog = catalog
        self.trees = trees
        self.schemaText = schemaText
    }

    /// Opens a store for a program's schema. A new file takes the schema over; a file with the
    /// same schema is opened, and indexes that only one of the two has are built or dropped; any
    /// other file throws `schemaMismatch`, which names the first difference.
    package static func open(
        _ location: Location, schema description: SchemaDescription,
        options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> RecordDatabase {
        let schema = try Schema(description)
        let engine =
            switch location {
            case .file(let path): try Engine.open(path: path, options: options, files: files)
            case .memory: try Engine.inMemory(options: options)
            }
        do throws(StoreError) {
            return try open(engine, schema)
        } catch {
            try? engine.close()
            throw error.at(path: engine.path)
        }
    }

    private static func open(
        _ engine: Engine, _ schema: Schema
    ) throws(StoreError) -> RecordDatabase {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else {
            return try create(engine, schema)
        }
        let text = try catalog.schemaText(snapshot)
        // What says the same needs no decoding.
        if text != SchemaText(schema.description).bytes {
            try checkUse(of: catalog.schema(snapshot), by: schema)
        }
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        // Only an index can be made anew from the rest.
        if let lost = missing.first(where: { !TreeTable.isIndex($0) }) {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree \(lost)")
        }
        let surplus = try surplusIndexes(schema, catalog, snapshot)
        guard missing.isEmpty && surplus.isEmpty else {
            return try rebuild(engine, schema, catalog, missing: missing, surplus: surplus)
        }
        return RecordDatabase(
            engine: engine, schema: schema, catalog: catalog, trees: trees,
            schemaText: engine.options.isReadOnly ? text : nil)
    }

    /// Throws unless a program with a schema can use a file with another.
    private static func checkUse(
        of stored: SchemaDescription, by schema: Schema
    ) throws(StoreError) {
        if let difference = SchemaDifference.first(from: stored, to: schema.description) {
            throw StoreError(.schemaMismatch, "the file has another schema: \(difference)")
        }
        let resolved = try Schema(stored)
        for (old, new) in zip(resolved.relationships, schema.relationships)
        where old.inverseID != new.inverseID {
            let source = schema.knownEntity(tag: new.sourceTag).name
            throw StoreError(
                .schemaMismatch,
                "the file has another schema: \(source).\(new.name) has another inverse")
        }
    }

    private static func create(
        _ engine: Engine, _ schema: Schema
    ) throws(StoreError) -> RecordDatabase {
        let editor = try engine.beginWrite()
        let catalog = try Catalog.create(editor)
        try catalog.setSchema(schema.description, in: editor)
        let (_, names) = try TreeTable.open(schema, catalog, editor)
        for name in names { _ = try catalog.createTree(name, in: editor) }
        let (trees, _) = try TreeTable.open(schema, catalog, editor)
        _ = try editor.commit()
        return RecordDatabase(engine: engine, schema: schema, catalog: catalog, trees: trees)
    }

    private static func surplusIndexes(
        _ schema: Schema, _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) -> [String] {
        let known = Set(schema.indexes.map(\.treeName))
        return try catalog.treeNames(view).filter {
            TreeTable.isIndex($0) && !known.contains($0)
        }
    }

    /// Builds the indexes that the file lacks and drops those that the schema does not have.
    private static func rebuild(
        _ engine: Engine, _ schema: Schema, _ catalog: Catalog, missing: [String],
        surplus: [String]
    ) throws(StoreError) -> RecordDatabase {
        let editor = try engine.beginWrite()
        for name in surplus { try catalog.removeTree(name, in: editor) }
        for name in missing { _ = try catalog.createTree(name, in: editor) }
        try catalog.setSchema(schema.description, in: editor)
        let (trees, _) = try TreeTable.open(schema, catalog, editor)
        let transaction = RecordTransaction(
            schema: schema, editor: editor, catalog: catalog, trees: trees)
        for index in schema.indexes where missing.contains(index.treeName) {
            try build(index, in: transaction)
        }
        _ = try editor.commit()
        return RecordDatabase(engine: engine, schema: schema, catalog: catalog, trees: trees)
    }

    private static func build(
        _ index: IndexLayout, in transaction: RecordTransaction
    ) throws(StoreError) {
        let entity = transaction.schema.knownEntity(tag: index.entityTag)
        let cursor = transaction.recordCursor(entity.hierarchy)
        let edits = TreeEdits()
        var key = transaction.keyEncoder(columnCount: index.columns.count)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            key.removeAll()
            try transaction.append(index.columns, of: row, to: &key)
            key.append(cursor.number)
            edits.insert(key.bytes)
        }
        var order = KeyOrder.Memory()
        try edits.apply(
            to: transaction.trees.indexes[index.id], of: transaction.editor, with: &order)
    }

    /// Opens a file with its own schema, without writing a byte: for tools and for looking ahead
    /// at migrations.
    package static func openReadOnly(
        path: String, options: Engine.Options = Engine.Options()
    ) throws(StoreError) -> RecordDatabase {
        var options = options
        options.isReadOnly = true
        let engine = try Engine.open(path: path, options: options)
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
        let schema = try Schema(try catalog.schema(snapshot))
        let (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        if let name = missing.first {
            throw .corrupt(nil, "the catalog does not name the tree \(name)")
        }
        return RecordDatabase(engine: engine, schema: schema, catalog: catalog, trees: trees)
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
    package func beginWrite() throws(StoreError) -> RecordTransaction {
        RecordTransaction(
            schema: schema, editor: try engine.beginWrite(), catalog: catalog, trees: trees)
    }

    package func checkpoint() throws(StoreError) { try engine.checkpointNow() }
    package func copy(to path: String) throws(StoreError) { try engine.copy(to: path) }
    /// See ``Engine/updateCopy(at:files:)``.
    @discardableResult
    package func updateCopy(at path: String) throws(StoreError) -> Int {
        try engine.updateCopy(at: path)
    }
    package func vacuum(byteBudget: Int) throws(StoreError) -> Int {
        try engine.vacuum(byteBudget: byteBudget)
    }
    package func close() throws(StoreError) { try engine.close() }
}
