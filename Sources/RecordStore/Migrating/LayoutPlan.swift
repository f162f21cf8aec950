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
    /// Whether stored values may be dropped.
    let allowsLoss: Bool
    /// The earlier schema.
    let stored: Schema

    private let wanted: SchemaDescription
    private let names: LaterNames

    /// Whether records are looked through before the catalog changes.
    var writesRecords: Bool { !removed.isEmpty || !removedEntities.isEmpty || !fills.isEmpty }

    /// Throws `schemaMismatch` for a schema that the file cannot follow in this way, with the
    /// first difference that asks for more.
    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        let wanted = step.schema
        self.wanted = wanted
        self.stored = stored
        allowsLoss = step.allowsLoss
        schema = stored
        let edits = SchemaDifference.edits(from: stored.description, to: wanted)
            .filter(\.needsMigration)
        isEmpty = edits.isEmpty
        names = LaterNames(edits)
        let added = Set(
            edits.compactMap { edit -> PropertyPath? in
                if case .propertyAdded(let path) = edit { path } else { nil }
            })
        let impossible = edits.filter { !isPossible($0, added) || isMove($0, added) }
        guard impossible.isEmpty else { throw Self.mismatch(impossible) }
        guard !isEmpty else { return }
        renamedTrees = names.renamedTrees(of: stored)
        var editor = LayoutEditor(
            stored.storedLayout ?? StoredLayout(declaredBy: stored), wanted)
        editor.remove(edits, of: stored)
        editor.rename(by: names)
        try editor.add(edits)
        schema = try Schema(wanted, layout: editor.edited.bytes, page: PageID(0))
        noteChecks(edits)
        noteStaleIndexes(edits)
        noteRemovals(edits)
    }

    private static func mismatch(_ edits: [SchemaEdit]) -> StoreError {
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

    // MARK: Which edits the catalog alone can follow

    private func isPossible(_ edit: SchemaEdit, _ added: Set<PropertyPath>) -> Bool {
        switch edit {
        case .entityAdded, .entityRenamed, .abstractnessChanged, .entityModifierChanged,
            .classChanged, .propertyAdded, .propertyRenamed, .propertyModifierChanged,
            .optionalityChanged, .deleteRuleChanged, .minCountChanged, .maxCountChanged,
            .indexAdded, .indexRemoved, .constraintAdded, .constraintRemoved, .entityRemoved,
            .propertyRemoved:
            true
        case .typeChanged(_, let old, let new): Self.isWider(new, than: old)
        case .inverseChanged(let path, let old, let new):
            if let new {
                old == nil && isMirror(new, of: path, added)
            } else {
                // A list that only mirrored the other side has no links of its own.
                storedRelationship(path)?.mirrorsToOne == false
            }
        case .superentityChanged, .codingChanged, .kindChanged, .destinationChanged:
            false
        }
    }

    /// Whether the slot of a value means the same in a later type.
    static func isWider(_ new: AttributeType, than old: AttributeType) -> Bool {
        switch (old, new) {
        case (.url, .string), (.string, .data): true
        case (.bool, _): new.isSigned || new.isUnsigned
        default:
            // A number without a sign needs a wider one to become a number with a sign.
            if let narrow = old.wholeNumberBits, let wide = new.wholeNumberBits {
                narrow < wide && (old.isSigned == new.isSigned || new.isSigned)
            } else {
                false
            }
        }
    }

    /// Whether a property that is gone is there again above or below its entity: its values belong
    /// to that one.
    private func isMove(_ edit: SchemaEdit, _ added: Set<PropertyPath>) -> Bool {
        guard case .propertyRemoved(let path) = edit else { return false }
        let owner = names.entity(path.entityName)
        return added.contains { other in
            let earlier = attribute(other)?.previousName ?? relationship(other)?.previousName
            return (other.name == path.name || earlier == path.name)
                && (isKind(other.entityName, of: owner) || isKind(owner, of: other.entityName))
        }
    }

    private func isKind(_ name: String, of other: String) -> Bool {
        var current: String? = name
        while let owner = current {
            if owner == other { return true }
            current = entity(owner)?.superentityName
        }
        return false
    }

    /// The earlier relationship that a later one was.
    private func storedRelationship(_ path: PropertyPath) -> RelationshipLayout? {
        stored.relationships.first { relationship in
            let source = names.entity(stored.knownEntity(tag: relationship.sourceTag).name)
            return source == path.entityName
                && names.property(PropertyPath(source, relationship.name)) == path.name
        }
    }

    /// A new to-many without order has the entries of its to-one inverse, which are there.
    private func isMirror(
        _ inverse: PropertyPath, of path: PropertyPath, _ added: Set<PropertyPath>
    ) -> Bool {
        added.contains(inverse) && relationship(path)?.kind == .toOne
            && relationship(inverse)?.kind == .toManyUnordered
    }

    private func entity(_ name: String) -> EntityDescription? {
        wanted.entities.first { $0.name == name }
    }

    private func relationship(_ path: PropertyPath) -> RelationshipDescription? {
        entity(path.entityName)?.relationships.first { $0.name == path.name }
    }

    private func attribute(_ path: PropertyPath) -> AttributeDescription? {
        entity(path.entityName)?.attributes.first { $0.name == path.name }
    }

    // MARK: What the transaction must see to

    private mutating func noteChecks(_ edits: [SchemaEdit]) {
        for edit in edits {
            switch edit {
            case .optionalityChanged(let path, isOptional: false):
                let value = attribute(path)?.defaultValue ?? .null
                if value == .null {
                    required.append(path)
                } else {
                    fills.append((earlier(path), value))
                }
            case .propertyAdded(let path):
                let isOldEntity = !edits.contains(.entityAdded(path.entityName))
                guard isOldEntity, let attribute = attribute(path), !attribute.isOptional,
                    attribute.defaultValue == .null
                else { continue }
                withoutDefault.append(path)
            default: break
            }
        }
    }

    /// The earlier name of a property that was there.
    private func earlier(_ path: PropertyPath) -> PropertyPath {
        for entity in stored.entities where names.entity(entity.name) == path.entityName {
            for field in entity.ownFields
            where names.property(PropertyPath(path.entityName, field.name)) == path.name {
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
            current = owner.superentityName.flatMap { self.entity($0) }
        }
        return false
    }
}

extension AttributeType {
    /// The bits of a whole number; nil for other types.
    fileprivate var wholeNumberBits: Int? {
        switch self {
        case .int8, .uint8: 8
        case .int16, .uint16: 16
        case .int32, .uint32: 32
        case .int64, .uint64: 64
        default: nil
        }
    }
}
