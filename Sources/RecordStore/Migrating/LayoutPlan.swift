import PageStore

/// How a file follows a later schema by its catalog: what a record lacks has an initial value, and
/// what it has too many is nil. No record is written but those that have values of a property that
/// is gone, or nil where a value is required from now on. So it costs the same for every size of
/// the file, but for indexes that are built and properties that must be searched for.
struct LayoutPlan {
    /// The later schema, by the layout that the file has then.
    private(set) var schema: Schema
    /// Trees with another name in the later schema.
    private(set) var renamedTrees: [(old: String, new: String)] = []
    /// Indexes whose keys have another form in the later schema, by their new names.
    private(set) var staleIndexes: Set<String> = []
    /// Properties that the later schema requires and that may be nil in the file.
    private(set) var required: [PropertyPath] = []
    /// Properties that are new, required and without a default, so that no object may lack them.
    private(set) var withoutDefault: [PropertyPath] = []
    /// Properties that are gone, by their earlier names, and entities.
    private(set) var removed: [PropertyPath] = []
    private(set) var removedEntities: [String] = []
    /// The trees that go with them.
    private(set) var deadTrees: [String] = []
    /// The counters of entities that are gone.
    private(set) var deadCounters: [String] = []
    /// Defaults of properties that may not be nil any more, by their earlier names.
    private(set) var fills: [(PropertyPath, Value)] = []
    /// Nothing is to be done, but for indexes.
    let isEmpty: Bool
    /// The stored values that may be dropped.
    let allowedLoss: LossPermission
    /// The earlier schema.
    let stored: Schema

    private let wanted: SchemaDescription
    private let later: LayoutEdits

    /// What entities and properties are named later.
    var names: LaterNames { later.names }

    /// Whether records are looked through before the catalog changes.
    var writesRecords: Bool { !removed.isEmpty || !removedEntities.isEmpty || !fills.isEmpty }

    /// The trees that are dropped when the catalog follows, of those that the file has: of what is
    /// gone, and indexes that have another form later or that the later schema does not have.
    func endingTrees(among names: [String]) -> Set<String> {
        let later = Dictionary(renamedTrees.map { ($0.old, $0.new) }) { first, _ in first }
        let kept = Set(schema.indexes.map(\.treeName)).subtracting(staleIndexes)
        let indexes = names.filter { name in
            TreeTable.isIndex(name) && !kept.contains(later[name] ?? name)
        }
        return Set(deadTrees).intersection(names).union(indexes)
    }

    /// Throws `schemaMismatch` for a schema that the file cannot follow in this way, with the
    /// first difference that asks for more.
    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        let wanted = step.schema
        self.wanted = wanted
        self.stored = stored
        allowedLoss = step.allowedLoss
        schema = stored
        later = LayoutEdits(from: stored, to: wanted)
        let (edits, impossible) = (later.edits, later.impossible)
        isEmpty = edits.isEmpty
        guard impossible.isEmpty else { throw Self.mismatch(impossible) }
        guard !isEmpty else {
            // Of another version name, and with other indexes.
            let layout = stored.storedLayout ?? StoredLayout(declaredBy: stored)
            schema = try Schema(wanted, layout: layout.bytes, page: PageID(0))
            return
        }
        renamedTrees = later.names.renamedTrees(of: stored)
        var editor = LayoutEditor(
            stored.storedLayout ?? StoredLayout(declaredBy: stored), wanted)
        editor.remove(edits, of: stored)
        editor.rename(by: later.names)
        try editor.add(edits)
        schema = try Schema(wanted, layout: editor.edited.bytes, page: PageID(0))
        noteChecks(edits)
        noteStaleIndexes(edits)
        noteRemovals(edits)
    }

    static func mismatch(_ edits: [SchemaEdit]) -> StoreError {
        let first = edits.first.map { "\($0)" } ?? ""
        let more =
            switch edits.count {
            case 1: ""
            case 2: ", and one more difference"
            default: ", and \(edits.count - 1) more differences"
            }
        return StoreError(
            .schemaMismatch, "the model is not the one of the file: \(first)\(more)")
    }

    // MARK: What the transaction must see to

    private mutating func noteChecks(_ edits: [SchemaEdit]) {
        for edit in edits {
            switch edit {
            case .optionalityChanged(let path, isOptional: false):
                let value = later.attribute(path)?.defaultValue ?? .null
                if value == .null {
                    required.append(path)
                } else {
                    fills.append((earlier(path), value))
                }
            case .propertyAdded(let path):
                let isOldEntity = !edits.contains(.entityAdded(path.entityName))
                guard isOldEntity, let attribute = later.attribute(path), !attribute.isOptional,
                    attribute.defaultValue == .null
                else { continue }
                withoutDefault.append(path)
            default: break
            }
        }
    }

    /// The earlier name of a property that was there.
    private func earlier(_ path: PropertyPath) -> PropertyPath {
        for entity in stored.entities where later.names.entity(entity.name) == path.entityName {
            for field in entity.ownFields
            where later.names.property(PropertyPath(path.entityName, field.name)) == path.name {
                return PropertyPath(entity.name, field.name)
            }
        }
        return path
    }

    private mutating func noteRemovals(_ edits: [SchemaEdit]) {
        for edit in edits {
            switch edit {
            case .entityRemoved(let name): removedEntities.append(name)
            case .propertyRemoved(let path): removed.append(path)
            default: break
            }
        }
        guard !removed.isEmpty || !removedEntities.isEmpty else { return }
        let gone = Set(removedEntities)
        for entity in stored.entities where gone.contains(entity.name) {
            deadCounters.append(Catalog.countKey(entity.tag))
            guard entity.superentityTag == nil else { continue }
            deadTrees.append(TreeTable.recordsName(entity.name))
            deadCounters.append(Catalog.numberKey(entity.hierarchy))
            deadCounters.append(Catalog.reservedKey(entity.hierarchy))
        }
        let paths = Set(removed)
        for relationship in stored.relationships where !relationship.mirrorsToOne {
            let source = stored.knownEntity(tag: relationship.sourceTag).name
            if gone.contains(source) || paths.contains(PropertyPath(source, relationship.name)) {
                deadTrees.append(relationship.treeName)
            }
        }
        for index in stored.indexes {
            let line = stored.knownEntity(tag: index.entityTag).ancestorTags
                .map { stored.knownEntity(tag: $0).name }
            let isDead = index.columns.contains { column in
                line.contains { paths.contains(PropertyPath($0, column.name)) }
            }
            if isDead || gone.contains(line[0]) { deadTrees.append(index.treeName) }
        }
    }

    private mutating func noteStaleIndexes(_ edits: [SchemaEdit]) {
        var changed: Set<PropertyPath> = []
        for case .typeChanged(let path, let old, let new) in edits
        where old.isSigned != new.isSigned {
            changed.insert(path)
        }
        guard !changed.isEmpty else { return }
        for entity in wanted.entities {
            for (lists, isUnique) in [(entity.uniqueConstraints, true), (entity.indexes, false)] {
                for columns in lists
                where columns.contains(where: { isColumn($0, of: entity, in: changed) }) {
                    staleIndexes.insert(
                        IndexLayout.treeName(entity.name, columns, isUnique: isUnique))
                }
            }
        }
    }

    private func isColumn(
        _ name: String, of entity: EntityDescription, in paths: Set<PropertyPath>
    ) -> Bool {
        var current: EntityDescription? = entity
        while let owner = current {
            if paths.contains(PropertyPath(owner.name, name)) { return true }
            current = owner.superentityName.flatMap { later.entity($0) }
        }
        return false
    }
}
