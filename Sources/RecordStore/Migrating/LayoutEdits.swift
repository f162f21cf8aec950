/// The differences between a file's schema and a later one, and which of them a change of the
/// catalog can express.
struct LayoutEdits {
    /// The differences that need a migration.
    let edits: [SchemaEdit]
    /// All differences.
    let all: [SchemaEdit]
    let names: LaterNames

    private let stored: Schema
    private let wanted: SchemaDescription
    private let added: Set<PropertyPath>
    /// The earlier paths of properties that both schemas have, by the later ones.
    private let earlierPaths: [PropertyPath: PropertyPath]

    init(from stored: Schema, to wanted: SchemaDescription) {
        self.stored = stored
        self.wanted = wanted
        let difference = SchemaDifference.compared(from: stored.description, to: wanted)
        all = difference.edits
        edits = all.filter(\.needsMigration)
        earlierPaths = Dictionary(difference.properties.map { ($1, $0) }) { first, _ in first }
        names = LaterNames(edits)
        added = Set(
            edits.compactMap { edit -> PropertyPath? in
                if case .propertyAdded(let path) = edit { path } else { nil }
            })
    }

    /// The edits for which records must be rewritten.
    var impossible: [SchemaEdit] { edits.filter { !isPossible($0) || isMove($0) } }

    /// Whether the later schema has no entity and no property that the file lacks. A program with
    /// such a schema may be older than the file, even if the file has no history.
    var addsNothing: Bool {
        edits.allSatisfy { edit in
            switch edit {
            case .entityAdded, .entityRenamed, .propertyAdded, .propertyRenamed: false
            default: true
            }
        }
    }

    /// Whether the later schema only removes entities and properties of the file's. Nothing shows
    /// which of two such models is the later one.
    var onlyRemoves: Bool {
        edits.allSatisfy { edit in
            switch edit {
            case .entityRemoved, .propertyRemoved, .inverseChanged(_, _, to: nil): true
            default: false
            }
        }
    }

    private func isPossible(_ edit: SchemaEdit) -> Bool {
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
                old == nil && isMirror(new, of: path)
            } else {
                // A to-many that only mirrored its inverse stores no links of its own.
                storedRelationship(path)?.mirrorsToOne == false
            }
        case .superentityChanged, .codingChanged, .kindChanged, .destinationChanged:
            false
        }
    }

    /// Whether a stored slot keeps its meaning under a later type.
    static func isWider(_ new: AttributeType, than old: AttributeType) -> Bool {
        switch (old, new) {
        case (.url, .string), (.url, .data), (.string, .data): true
        case (.bool, _): new.isSigned || new.isUnsigned
        default:
            // An unsigned number needs more bits to become a signed one.
            if let narrow = old.wholeNumberBits, let wide = new.wholeNumberBits {
                narrow < wide && (old.isSigned == new.isSigned || new.isSigned)
            } else {
                false
            }
        }
    }

    /// Whether a removed property reappears above or below its entity, so that its values move
    /// there.
    private func isMove(_ edit: SchemaEdit) -> Bool {
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

    /// The earlier path of a later property; nil if it is new. A removed property may have had the
    /// later name.
    func earlier(_ path: PropertyPath) -> PropertyPath? { earlierPaths[path] }

    /// The stored relationship that a later one has evolved from.
    private func storedRelationship(_ path: PropertyPath) -> RelationshipLayout? {
        guard let earlier = earlier(path) else { return nil }
        return stored.relationships.first { relationship in
            relationship.name == earlier.name
                && stored.knownEntity(tag: relationship.sourceTag).name == earlier.entityName
        }
    }

    /// A new unordered to-many reads the entries of its to-one inverse, which exist already. If
    /// either is declared below the other's destination, it may not allow all of them.
    private func isMirror(_ inverse: PropertyPath, of path: PropertyPath) -> Bool {
        guard added.contains(inverse), let toOne = relationship(path),
            let toMany = relationship(inverse)
        else { return false }
        return toOne.kind == .toOne && toMany.kind == .toManyUnordered
            && isKind(toOne.destinationEntityName, of: inverse.entityName)
            && isKind(path.entityName, of: toMany.destinationEntityName)
    }

    // MARK: The later schema

    func entity(_ name: String) -> EntityDescription? {
        wanted.entities.first { $0.name == name }
    }

    func relationship(_ path: PropertyPath) -> RelationshipDescription? {
        entity(path.entityName)?.relationships.first { $0.name == path.name }
    }

    func attribute(_ path: PropertyPath) -> AttributeDescription? {
        entity(path.entityName)?.attributes.first { $0.name == path.name }
    }
}

extension AttributeType {
    /// Whether an index encodes values as it does after the type became wider.
    func hasKeys(of wider: AttributeType) -> Bool { isSigned == wider.isSigned }

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
