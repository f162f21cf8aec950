/// A property and the entity that declares it.
package struct PropertyPath: Hashable, Sendable, CustomStringConvertible {
    package var entityName: String
    package var name: String

    package init(_ entityName: String, _ name: String) {
        self.entityName = entityName
        self.name = name
    }

    package var description: String { "\(entityName).\(name)" }
}

/// A difference between a schema and an earlier one. Names are those of the later schema, except
/// for removed entities and properties.
package enum SchemaEdit: Hashable, Sendable {
    case entityAdded(String)
    case entityRemoved(String)
    case entityRenamed(from: String, to: String)
    case superentityChanged(String, from: String?, to: String?)
    case abstractnessChanged(String, isAbstract: Bool)
    case entityModifierChanged(String, from: String?, to: String?)
    case classChanged(String, from: String, to: String)

    case propertyAdded(PropertyPath)
    case propertyRemoved(PropertyPath)
    case propertyRenamed(from: PropertyPath, to: PropertyPath)
    case propertyModifierChanged(PropertyPath, from: String?, to: String?)

    case typeChanged(PropertyPath, from: AttributeType, to: AttributeType)
    case optionalityChanged(PropertyPath, isOptional: Bool)
    case codingChanged(PropertyPath, isCoded: Bool)

    case kindChanged(
        PropertyPath, from: RelationshipDescription.Kind, to: RelationshipDescription.Kind)
    case destinationChanged(PropertyPath, from: String, to: String)
    case inverseChanged(PropertyPath, from: PropertyPath?, to: PropertyPath?)
    case deleteRuleChanged(
        PropertyPath, from: RelationshipDescription.DeleteRule,
        to: RelationshipDescription.DeleteRule)
    case minCountChanged(PropertyPath, from: Int, to: Int)
    /// Zero is no limit.
    case maxCountChanged(PropertyPath, from: Int, to: Int)

    case indexAdded(String, columns: [String])
    case indexRemoved(String, columns: [String])
    case constraintAdded(String, columns: [String])
    case constraintRemoved(String, columns: [String])

    /// Whether a file must be migrated for it. Indexes are built when a file opens, and classes
    /// concern only the program.
    package var needsMigration: Bool {
        switch self {
        case .classChanged, .indexAdded, .indexRemoved, .constraintAdded, .constraintRemoved: false
        default: true
        }
    }

    /// Whether an element has another name, perhaps one that another element had.
    package var isRenaming: Bool {
        switch self {
        case .entityRenamed, .propertyRenamed: true
        default: false
        }
    }
}

// MARK: In words

extension SchemaEdit: CustomStringConvertible {
    package var description: String {
        switch self {
        case .entityAdded(let name): return "the entity \(name) is new"
        case .entityRemoved(let name): return "the entity \(name) is gone"
        case .entityRenamed(let old, let new): return "the entity \(old) is named \(new) now"
        case .propertyAdded(let path): return "\(path) is new"
        case .propertyRemoved(let path): return "\(path) is gone"
        case .propertyRenamed(let old, let new): return "\(old) is named \(new) now"
        case .abstractnessChanged(let name, let isAbstract):
            return "\(name) is abstract \(isAbstract ? "now" : "no longer")"
        case .optionalityChanged(let path, let isOptional):
            return "\(path) may be nil \(isOptional ? "now" : "no longer")"
        case .codingChanged(let path, let isCoded):
            return "\(path) is coded \(isCoded ? "now" : "no longer")"
        case .indexAdded(let name, let columns):
            return "\(name) has a new index of \(columns.joined(separator: ", "))"
        case .indexRemoved(let name, let columns):
            return "\(name) has no index of \(columns.joined(separator: ", ")) any more"
        case .constraintAdded(let name, let columns):
            return "\(name) has a new unique constraint of \(columns.joined(separator: ", "))"
        case .constraintRemoved(let name, let columns):
            return "\(name) has no unique constraint of \(columns.joined(separator: ", ")) any more"
        default:
            let facts = facts
            let subject = facts.propertyName.map { "\(facts.entityName).\($0)" } ?? facts.entityName
            return "\(subject): its \(aspect) was \(facts.from ?? "none") and is "
                + (facts.to ?? "none")
        }
    }

    /// The changed aspect of an entity or a property, for edits with one value before and one
    /// after.
    private var aspect: String {
        switch self {
        case .superentityChanged: "superentity"
        case .entityModifierChanged, .propertyModifierChanged: "version modifier"
        case .classChanged: "class"
        case .typeChanged: "type"
        case .kindChanged: "kind"
        case .destinationChanged: "destination"
        case .inverseChanged: "inverse"
        case .deleteRuleChanged: "delete rule"
        case .minCountChanged: "least count"
        case .maxCountChanged: "largest count"
        default: "declaration"
        }
    }

    /// The edit in structured form: its kind, its subject, and the values before and after.
    package struct Facts: Hashable, Sendable {
        package var kind: String
        package var entityName: String
        package var propertyName: String?
        package var from: String?
        package var to: String?
        package var columns: [String]?

        fileprivate init(
            _ kind: String, _ entityName: String, from: String? = nil, to: String? = nil,
            columns: [String]? = nil
        ) {
            self.kind = kind
            self.entityName = entityName
            self.from = from
            self.to = to
            self.columns = columns
        }

        fileprivate init(
            _ kind: String, _ path: PropertyPath, from: String? = nil, to: String? = nil
        ) {
            self.init(kind, path.entityName, from: from, to: to)
            propertyName = path.name
        }
    }

    package var facts: Facts {
        switch self {
        case .entityAdded(let name): Facts("entityAdded", name)
        case .entityRemoved(let name): Facts("entityRemoved", name)
        case .entityRenamed(let old, let new): Facts("entityRenamed", new, from: old, to: new)
        case .superentityChanged(let name, let old, let new):
            Facts("superentityChanged", name, from: old, to: new)
        case .abstractnessChanged(let name, let flag):
            Facts("abstractnessChanged", name, from: "\(!flag)", to: "\(flag)")
        case .entityModifierChanged(let name, let old, let new):
            Facts("entityModifierChanged", name, from: old, to: new)
        case .classChanged(let name, let old, let new):
            Facts("classChanged", name, from: old, to: new)
        case .indexAdded(let name, let columns): Facts("indexAdded", name, columns: columns)
        case .indexRemoved(let name, let columns): Facts("indexRemoved", name, columns: columns)
        case .constraintAdded(let name, let columns):
            Facts("constraintAdded", name, columns: columns)
        case .constraintRemoved(let name, let columns):
            Facts("constraintRemoved", name, columns: columns)
        case .propertyAdded(let path): Facts("propertyAdded", path)
        case .propertyRemoved(let path): Facts("propertyRemoved", path)
        case .propertyRenamed(let old, let new):
            Facts("propertyRenamed", new, from: old.name, to: new.name)
        case .propertyModifierChanged(let path, let old, let new):
            Facts("propertyModifierChanged", path, from: old, to: new)
        case .typeChanged(let path, let old, let new):
            Facts("typeChanged", path, from: old.name, to: new.name)
        case .optionalityChanged(let path, let flag):
            Facts("optionalityChanged", path, from: "\(!flag)", to: "\(flag)")
        case .codingChanged(let path, let flag):
            Facts("codingChanged", path, from: "\(!flag)", to: "\(flag)")
        case .kindChanged(let path, let old, let new):
            Facts("kindChanged", path, from: old.rawValue, to: new.rawValue)
        case .destinationChanged(let path, let old, let new):
            Facts("destinationChanged", path, from: old, to: new)
        case .inverseChanged(let path, let old, let new):
            Facts("inverseChanged", path, from: old?.description, to: new?.description)
        case .deleteRuleChanged(let path, let old, let new):
            Facts("deleteRuleChanged", path, from: old.rawValue, to: new.rawValue)
        case .minCountChanged(let path, let old, let new):
            Facts("minCountChanged", path, from: "\(old)", to: "\(new)")
        case .maxCountChanged(let path, let old, let new):
            Facts("maxCountChanged", path, from: "\(old)", to: "\(new)")
        }
    }
}
