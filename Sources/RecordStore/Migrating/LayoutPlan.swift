import PageStore

/// A migration by the catalog: existing records read a new property as its initial value, and slots
/// of removed properties are nil. It writes only records that have a value of a removed property,
/// or nil where a value is now required. So its cost does not depend on the size of the file,
/// except for indexes that are built and properties that must be searched for.
struct LayoutPlan {
    /// The later schema, with the layout that the file then has.
    private(set) var schema: Schema
    /// Trees whose names differ in the later schema.
    private(set) var renamedTrees: [(old: String, new: String)] = []
    /// Indexes whose keys are encoded differently in the later schema, by their new names.
    private(set) var staleIndexes: Set<String> = []
    /// Properties that become required, with nothing to replace nil: no object may have it.
    private(set) var required: [PropertyPath] = []
    /// Properties that are new, required and without a default: no object may be stored.
    private(set) var withoutDefault: [PropertyPath] = []
    /// Removed properties, by their earlier names, and removed entities.
    private(set) var removed: [PropertyPath] = []
    private(set) var removedEntities: [String] = []
    /// The trees of removed entities and properties.
    private(set) var deadTrees: [String] = []
    /// The counters of removed entities.
    private(set) var deadCounters: [String] = []
    /// What replaces nil in properties that become required, by their earlier names: the default,
    /// or else what the program makes for each object.
    private(set) var fills: [(PropertyPath, any InitialValue)] = []
    /// Whether nothing changes except indexes.
    let isEmpty: Bool
    /// The stored values that may be dropped.
    let allowedLoss: LossPermission
    /// The earlier schema.
    let stored: Schema

    private let wanted: SchemaDescription
    private let later: LayoutEdits

    /// Maps earlier names to later names.
    var names: LaterNames { later.names }

    /// What becomes of the entities: see ``MovedObjects``.
    var moves: [MovedObjects.Move] {
        let removed = Set(removedEntities)
        return stored.entities.map { entity in
            MovedObjects.Move(
                entity.name, removed.contains(entity.name) ? nil : names.entity(entity.name))
        }
    }

    /// Whether records are scanned before the catalog changes.
    var writesRecords: Bool { !removed.isEmpty || !removedEntities.isEmpty || !fills.isEmpty }

    /// Whether the records need not be read either: neither values nor their absence matter.
    var needsNoRecords: Bool { !writesRecords && required.isEmpty && withoutDefault.isEmpty }

    /// The trees among `names` that are dropped when the catalog changes: those of removed entities
    /// and properties, and indexes that the later schema lacks or encodes differently.
    func endingTrees(among names: [String]) -> Set<String> {
        let later = Dictionary(renamedTrees.map { ($0.old, $0.new) }) { first, _ in first }
        let kept = Set(schema.indexes.map(\.treeName)).subtracting(staleIndexes)
        let indexes = names.filter { name in
            TreeTable.isIndex(name) && !kept.contains(later[name] ?? name)
        }
        return Set(deadTrees).intersection(names).union(indexes)
    }

    /// Throws `schemaMismatch`, naming the first difference, if the catalog cannot express a
    /// change.
    ///
    /// - Parameter hasLaterNames: whether the earlier schema has the later names already, so that
    ///   nothing is renamed, whatever the earlier names are that the later schema states.
    init(
        from stored: Schema, to step: MigrationStep, hasLaterNames: Bool = false
    ) throws(StoreError) {
        let wanted = hasLaterNames ? step.schema.withoutPreviousNames : step.schema
        try self.init(from: stored, to: step, LayoutEdits(from: stored, to: wanted))
    }

    /// - Parameter later: the differences of the step's schema from the earlier one.
    init(
        from stored: Schema, to step: MigrationStep, _ later: LayoutEdits
    ) throws(StoreError) {
        let wanted = step.schema
        self.wanted = wanted
        self.stored = stored
        allowedLoss = step.allowedLoss
        schema = stored
        self.later = later
        let (edits, impossible) = (later.edits, later.impossible)
        isEmpty = edits.isEmpty
        guard impossible.isEmpty else { throw Self.mismatch(impossible) }
        guard !isEmpty else {
            // Only the version name and the indexes may differ.
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
        noteChecks(edits, step)
        noteStaleIndexes(edits)
        noteRemovals(edits)
    }

    /// The plan without what the rewriting of records has done: attributes that all of them have
    /// lost, and those that all of them have a value of.
    ///
    /// - Parameter rewrites: by the earlier schema.
    func without(_ rewrites: [EntityRewrite]) -> LayoutPlan {
        let byTag = Dictionary(rewrites.map { ($0.source.tag, $0) }) { first, _ in first }
        let removed = Set(removedEntities)
        func isDone(_ path: PropertyPath, _ does: (EntityRewrite, FieldLayout) -> Bool) -> Bool {
            guard let owner = stored.entity(named: path.entityName),
                let field = owner.field(named: path.name)
            else { return false }
            return owner.tags.allSatisfy { tag in
                // Records of removed entities are deleted.
                removed.contains(stored.knownEntity(tag: tag).name)
                    || byTag[tag].map { does($0, field) } == true
            }
        }
        var plan = self
        plan.removed.removeAll { isDone($0) { $0.clears($1) } }
        plan.fills.removeAll { isDone($0.0) { $0.fills($1) } }
        return plan
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

    // MARK: Work beyond the catalog

    private mutating func noteChecks(_ edits: [SchemaEdit], _ step: MigrationStep) {
        for edit in edits {
            switch edit {
            case .optionalityChanged(let path, isOptional: false):
                let value = later.attribute(path)?.defaultValue ?? .null
                if value != .null {
                    fills.append((later.earlier(path) ?? path, DefaultFill(defaultValue: value)))
                } else if let initialValue = step.initialValues[path] {
                    fills.append((later.earlier(path) ?? path, initialValue))
                } else {
                    required.append(path)
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

/// A property's default where nil is replaced.
private struct DefaultFill: InitialValue {
    let defaultValue: Value

    func value() -> Value { defaultValue }
}
