import Foundation
import PageStore
import RecordStore

/// A program's mapping of one entity, in the form of the store and in that of dictionaries.
enum RewriteMapping: Equatable {
    case delete(String)
    case insert(String)
    case copy(from: String, to: String)
    case transform(from: String, to: String, RewriteTransform)

    var mapping: EntityMapping {
        switch self {
        case .delete(let source): .delete(source)
        case .insert(let destination): .insert(destination)
        case .copy(let source, let destination): .copy(from: source, to: destination)
        case .transform(let source, let destination, let transform):
            .transform(from: source, to: destination, transform.mapper)
        }
    }

    var source: String? {
        switch self {
        case .delete(let source), .copy(let source, _), .transform(let source, _, _): source
        case .insert: nil
        }
    }

    var destination: String? {
        switch self {
        case .insert(let destination), .copy(_, let destination),
            .transform(_, let destination, _):
            destination
        case .delete: nil
        }
    }
}

/// Copies the properties that exist in both models, and does one more thing.
enum RewriteTransform: Equatable, Sendable {
    case copy
    case dropsThirds
    case splits(text: String, first: String, second: String)
    case fails(uid: Int64)

    struct Failure: Error {}

    var mapper: RecordMapper {
        { source, make in
            guard case .int(let uid)? = try source.value("uid") else { throw Failure() }
            if self == .fails(uid: uid) { throw Failure() }
            if self == .dropsThirds, uid.isMultiple(of: 3) { return }
            let made = try make()
            for (attribute, earlier) in zip(made.attributes, made.sources) {
                guard let earlier, let value = try source.value(earlier.declaration.name),
                    value != .null
                else { continue }
                _ = made.set(value, for: attribute.declaration.name)
            }
            guard case .splits(let text, let first, let second) = self,
                case .string(let whole)? = try source.value(text)
            else { return }
            _ = made.set(.string(Self.half(whole, isFirst: true)), for: first)
            _ = made.set(.string(Self.half(whole, isFirst: false)), for: second)
        }
    }

    static func half(_ text: String, isFirst: Bool) -> String {
        isFirst
            ? String(text.prefix(text.count / 2)) : String(text.dropFirst(text.count / 2))
    }
}

/// A migration as a program would write it for objects in dictionaries.
struct RewriteReference {
    let old: SchemaDescription
    let new: SchemaDescription
    let mappings: [RewriteMapping]?
    /// The later name of each earlier entity that has one.
    let later: [String: String]
    /// What the program's closures make for new attributes, by their names.
    var initialValues: [String: Value] = [:]
    private let oldInverses: InverseTable
    private let newInverses: InverseTable
    private var attributes: [PropertyPath: PropertyPath]
    private var relationships: [PropertyPath: PropertyPath]

    init(
        from old: SchemaDescription, to new: SchemaDescription, _ mappings: [RewriteMapping]?
    ) {
        (self.old, self.new, self.mappings) = (old, new, mappings)
        (oldInverses, newInverses) = (InverseTable(old), InverseTable(new))
        var later: [String: String] = [:]
        let said = mappings ?? []
        for mapping in said {
            if let source = mapping.source, let destination = mapping.destination {
                later[source] = destination
            }
        }
        let (sources, destinations) = (said.compactMap(\.source), said.compactMap(\.destination))
        // What has another name where a mapping is taken for a renaming.
        let all = Self.renamed(
            old.entities.map { ($0.name, $0.previousName) },
            new.entities.map { entity in
                let mapping = said.first { $0.source != nil && $0.destination == entity.name }
                return Stated(
                    name: entity.name, previousName: mapping?.source ?? entity.previousName)
            })
        let dropped = said.filter { $0.destination == nil }.compactMap(\.source)
        let former = old.entities.filter { !sources.contains($0.name) }
        let latter = new.entities.filter { entity in
            !destinations.contains(entity.name)
                && !dropped.contains { all[$0] == entity.name }
        }
        let changed = Self.renamed(
            former.map { ($0.name, $0.previousName) },
            latter.map { entity in
                Stated(
                    name: entity.name, previousName: entity.previousName,
                    isOld: all[entity.name] == nil
                        && old.entityNamed(entity.name)?.previousName == entity.previousName)
            })
        later.merge(changed) { first, _ in first }
        let taken = Set(changed.values)
        for name in latter.map(\.name)
        where !taken.contains(name) && former.contains(where: { $0.name == name }) {
            later[name] = name
        }
        self.later = later
        (attributes, relationships) = ([:], [:])
        attributes = renamed { $0.attributes.map { ($0.name, $0.previousName) } }
        relationships = renamed { $0.relationships.map { ($0.name, $0.previousName) } }
    }

    /// A later declaration by its names, for ``renamed(_:_:)``.
    private struct Stated {
        var name: String
        var previousName: String?
        /// Whether it stated the same before.
        var isOld = false
    }

    /// The later names of what has another name, by the earlier ones. What states an earlier name
    /// has been renamed if that name is free: nothing has it now, or what has it was renamed
    /// itself, and so on, perhaps in a circle. What stated the same before was renamed then, unless
    /// its own name is stated by what is renamed now.
    private static func renamed(
        _ old: [(name: String, previousName: String?)], _ new: [Stated]
    ) -> [String: String] {
        let statedBefore: [[String?]] = old.map { [$0.name, $0.previousName] }
        let names = Set(new.map(\.name))
        var stated: [String: String] = [:]
        var isComplete = false
        while !isComplete {
            isComplete = true
            for line in new where stated[line.name] == nil {
                guard let previousName = line.previousName, previousName != line.name,
                    old.contains(where: { $0.name == previousName }),
                    !line.isOld && !statedBefore.contains([line.name, previousName])
                        || stated.values.contains(line.name)
                else { continue }
                stated[line.name] = previousName
                isComplete = false
            }
        }
        var renamed: [String: String] = [:]
        for (name, previousName) in stated {
            var (seen, wanted): (Set<String>, String) = ([name], previousName)
            while names.contains(wanted), seen.insert(wanted).inserted, let next = stated[wanted] {
                wanted = next
            }
            let isFree = !names.contains(wanted) || stated[wanted] != nil
            if isFree { renamed[previousName] = name }
        }
        return renamed
    }

    /// The properties whose names entities have changed, by their earlier paths.
    private func renamed(
        _ properties: (EntityDescription) -> [(name: String, previousName: String?)]
    ) -> [PropertyPath: PropertyPath] {
        var renamed: [PropertyPath: PropertyPath] = [:]
        for (before, after) in later {
            guard let former = old.entityNamed(before), let entity = new.entityNamed(after) else {
                continue
            }
            // A declaration that moves within its line states nothing new.
            let relatives = old.entities.filter { other in
                other.name != before
                    && (old.isKind(other.name, of: before) || old.isKind(before, of: other.name))
            }.flatMap(properties)
            let stated = properties(entity).map { property in
                Stated(
                    name: property.name, previousName: property.previousName,
                    isOld: relatives.contains { $0 == property })
            }
            for (earlier, name) in Self.renamed(properties(former), stated) {
                renamed[PropertyPath(before, earlier)] = PropertyPath(after, name)
            }
        }
        return renamed
    }

    /// The transform of an earlier entity.
    func transform(of name: String) -> RewriteTransform? {
        for case .transform(name, _, let transform) in mappings ?? [] { return transform }
        return nil
    }

    /// The earlier property that a later one gets its value from, for an object of a pair of
    /// entities: a property that the object's own entity declared by the earlier name precedes one
    /// that another entity did.
    private func source<Property>(
        _ name: String, _ previousName: String?, _ renamed: [PropertyPath: PropertyPath],
        _ pair: (before: String, after: String),
        _ properties: (EntityDescription) -> [Property], _ nameOf: (Property) -> String,
        _ previousNameOf: (Property) -> String?
    ) -> Property? {
        let former = old.line(pair.before).flatMap { entity in
            properties(entity).map { (path: PropertyPath(entity.name, nameOf($0)), property: $0) }
        }
        let line = new.line(pair.after)
        let owner = line.first { properties($0).contains { nameOf($0) == name } }
        func isRenamed(_ path: PropertyPath) -> Bool {
            renamed[path].map { later in line.contains { $0.name == later.entityName } } ?? false
        }
        if let owner,
            let own = former.first(where: { renamed[$0.path] == PropertyPath(owner.name, name) })
        {
            return own.property
        }
        let free = former.filter { !isRenamed($0.path) }
        // Of entities that only one of the models has, the names tell. What a declaration of both
        // stated before says nothing of what has joined it.
        let inLine = Self.renamed(
            former.map { ($0.path.name, previousNameOf($0.property)) },
            line.flatMap { entity in
                let before = old.entities.first { later[$0.name] == entity.name }
                let stated = Set(
                    (before.map(properties) ?? []).map { [nameOf($0), previousNameOf($0)] })
                return properties(entity).map { property in
                    let (name, previousName) = (nameOf(property), previousNameOf(property))
                    return Stated(
                        name: name, previousName: previousName,
                        isOld: stated.contains([name, previousName]))
                }
            })
        if let earlier = inLine.first(where: { $0.value == name })?.key,
            let found = free.first(where: { $0.path.name == earlier })
        {
            return found.property
        }
        if let same = free.first(where: { $0.path.name == name }) { return same.property }
        let names = line.flatMap { properties($0).map(nameOf) }
        guard let previousName, !names.contains(previousName) else { return nil }
        return free.first { $0.path.name == previousName }?.property
    }

    func source(
        ofAttribute attribute: AttributeDescription, _ before: String, _ after: String
    ) -> AttributeDescription? {
        source(
            attribute.name, attribute.previousName, attributes, (before, after), \.attributes,
            \.name, \.previousName)
    }

    func source(
        ofRelationship relationship: RelationshipDescription, _ before: String, _ after: String
    ) -> RelationshipDescription? {
        source(
            relationship.name, relationship.previousName, relationships, (before, after),
            \.relationships, \.name, \.previousName)
    }

    /// Whether a list without an order gets one: that of its objects' numbers, which the reference
    /// does not know.
    var givesOrder: Bool {
        later.contains { before, after in !listsWithNewOrder(before, after).isEmpty }
    }

    /// The lists of an entity's objects that get such an order.
    func listsWithNewOrder(_ before: String, _ after: String) -> [PropertyPath] {
        new.line(after).flatMap { entity in
            entity.relationships.filter {
                $0.kind == .toManyOrdered
                    && source(ofRelationship: $0, before, after)?.kind == .toManyUnordered
            }.map { PropertyPath(entity.name, $0.name) }
        }
    }

    func hasInverse(_ path: PropertyPath) -> Bool { newInverses.inverse(of: path) != nil }

    // MARK: Objects

    /// The later objects, and the lists whose order is unspecified; nil if a to-one would lead to
    /// two objects.
    func migrated(
        _ objects: [Int64: RewriteObject]
    ) -> (objects: [Int64: RewriteObject], loose: [Int64: Set<String>])? {
        var result: [Int64: RewriteObject] = [:]
        for (uid, object) in objects {
            guard let name = later[object.entityName],
                let values = values(uid, object, as: name)
            else { continue }
            result[uid] = RewriteObject(entityName: name, values: values)
        }
        for (uid, object) in result {
            guard let former = objects[uid] else { continue }
            for relationship in new.relationships(of: object.entityName) {
                let source = source(
                    ofRelationship: relationship, former.entityName, object.entityName)
                let links = source.flatMap { former.links[$0.name] } ?? []
                let kept = links.filter { target in
                    result[target].map {
                        new.isKind($0.entityName, of: relationship.destinationEntityName)
                            && mayLead(object.entityName, relationship, to: $0.entityName)
                    } ?? false
                }
                result[uid]?.links[relationship.name] = kept
            }
        }
        var loose = addInverses(&result)
        for (uid, object) in result {
            guard let former = objects[uid] else { continue }
            for path in listsWithNewOrder(former.entityName, object.entityName) {
                loose[uid, default: []].insert(path.name)
            }
        }
        for (uid, object) in result {
            for relationship in new.relationships(of: object.entityName) {
                let links = object.links[relationship.name] ?? []
                if relationship.kind == .toOne, links.count > 1 { return nil }
                guard relationship.kind == .toManyUnordered else { continue }
                result[uid]?.links[relationship.name] = links.sorted()
            }
        }
        return (result, loose)
    }

    /// Whether the inverse, if there is one, allows the link.
    private func mayLead(
        _ owner: String, _ relationship: RelationshipDescription, to target: String
    ) -> Bool {
        let declaring = new.line(owner).first { $0.relationships.contains(relationship) }
        guard let declaring,
            let inverse = newInverses.inverse(
                of: PropertyPath(declaring.name, relationship.name)),
            let back = new.relationships(of: inverse.entityName).first(where: {
                $0.name == inverse.name
            })
        else { return true }
        return new.isKind(target, of: inverse.entityName)
            && new.isKind(owner, of: back.destinationEntityName)
    }

    /// Adds each link to its other side.
    private func addInverses(_ result: inout [Int64: RewriteObject]) -> [Int64: Set<String>] {
        var loose: [Int64: Set<String>] = [:]
        for uid in result.keys.sorted() {
            guard let object = result[uid] else { continue }
            for entity in new.line(object.entityName) {
                for relationship in entity.relationships {
                    let path = PropertyPath(entity.name, relationship.name)
                    guard let inverse = newInverses.inverse(of: path) else { continue }
                    for target in object.links[relationship.name] ?? []
                    where result[target]?.links[inverse.name]?.contains(uid) == false {
                        result[target]?.links[inverse.name]?.append(uid)
                        loose[target, default: []].insert(inverse.name)
                    }
                }
            }
        }
        return loose
    }

    private func values(
        _ uid: Int64, _ object: RewriteObject, as name: String
    ) -> [String: Value]? {
        let transform = transform(of: object.entityName)
        if transform == .dropsThirds, uid.isMultiple(of: 3) { return nil }
        var values: [String: Value] = [:]
        for attribute in new.attributes(of: name) {
            let source =
                transform == nil
                ? inferredSource(of: attribute, object.entityName, name)
                : source(ofAttribute: attribute, object.entityName, name)
            let stored = source.flatMap { object.values[$0.name] } ?? .null
            let value =
                source.flatMap { Self.converted(stored, from: $0.type, to: attribute.type) }
                ?? .null
            let staysNull = source != nil && attribute.isOptional && transform == nil
            let initial = initialValues[attribute.name] ?? attribute.defaultValue
            values[attribute.name] = value == .null && !staysNull ? initial : value
        }
        if case .splits(let text, let first, let second)? = transform,
            case .string(let whole)? = object.values[text]
        {
            values[first] = .string(RewriteTransform.half(whole, isFirst: true))
            values[second] = .string(RewriteTransform.half(whole, isFirst: false))
        }
        return values
    }

    /// The earlier attribute of which objects keep the values without a mapping. Of two that move
    /// up to one, the type of the other may be too wide.
    private func inferredSource(
        of attribute: AttributeDescription, _ former: String, _ name: String
    ) -> AttributeDescription? {
        source(ofAttribute: attribute, former, name).flatMap { source in
            source.type == attribute.type
                || Self.isInferred(from: source.type, to: attribute.type) ? source : nil
        }
    }

    /// The inferred conversion, without a mapping.
    static func converted(
        _ value: Value, from old: AttributeType, to new: AttributeType
    ) -> Value? {
        guard old != new, value != .null else { return value }
        switch (value, new) {
        case (.bool(let flag), .double): return .double(flag ? 1 : 0)
        case (.int(let number), .double): return .double(Double(number))
        case (.uint(let number), .double): return .double(Double(number))
        case (.float(let number), .double): return .double(Double(number))
        case (.bool(let flag), .float): return .float(flag ? 1 : 0)
        case (.bool(let flag), .decimal): return .decimal(flag ? 1 : 0)
        case (.int(let number), .decimal): return .decimal(Decimal(number))
        case (.uint(let number), .decimal): return .decimal(Decimal(number))
        case (.float, .decimal), (.double, .decimal): return .decimal(value.decimal)
        case (.bool(let flag), _) where new.isSigned: return .int(flag ? 1 : 0)
        case (.bool(let flag), _) where new.isUnsigned: return .uint(flag ? 1 : 0)
        case (.int, _) where new.isSigned: return value
        case (.uint, _) where new.isUnsigned: return value
        case (.uint(let number), _) where new.isSigned: return .int(Int64(number))
        case (.url(let text), .string): return .string(text)
        case (.url(let text), .data): return .data(Array(text.utf8))
        case (.string(let text), .data): return .data(Array(text.utf8))
        default: return nil
        }
    }

    /// Whether a type changes without a mapping.
    static func isInferred(from old: AttributeType, to new: AttributeType) -> Bool {
        if let narrow = width(old), let wide = width(new) {
            return narrow < wide && (old.isSigned == new.isSigned || new.isSigned)
        }
        return switch (old, new) {
        case (.url, .string), (.url, .data), (.string, .data), (.bool, .float): true
        case (_, .double): old.isNumber && old != .double && old != .decimal
        case (_, .decimal): old.isNumber && old != .decimal
        case (.bool, _): width(new) != nil
        default: false
        }
    }

    private static func width(_ type: AttributeType) -> Int? {
        switch type {
        case .int8, .uint8: 8
        case .int16, .uint16: 16
        case .int32, .uint32: 32
        case .int64, .uint64: 64
        default: nil
        }
    }

    // MARK: What is lost

    /// Whether objects, values or links are dropped.
    func isLossy(_ objects: [Int64: RewriteObject]) -> Bool {
        guard let (result, _) = migrated(objects) else { return true }
        return objects.contains { uid, object in
            guard let name = result[uid]?.entityName else { return true }
            let names = new.attributes(of: name).compactMap {
                inferredSource(of: $0, object.entityName, name)?.name
            }
            if object.values.contains(where: { $0.value != .null && !names.contains($0.key) }) {
                return true
            }
            return object.links.contains { link, targets in
                !targets.allSatisfy { isKept(uid, object, link, $0, result, objects) }
            }
        }
    }

    /// Whether one side at least still has a link.
    private func isKept(
        _ uid: Int64, _ object: RewriteObject, _ link: String, _ target: Int64,
        _ result: [Int64: RewriteObject], _ objects: [Int64: RewriteObject]
    ) -> Bool {
        func has(_ owner: Int64, _ former: String, _ name: String, _ other: Int64) -> Bool {
            guard let object = result[owner] else { return false }
            return new.relationships(of: object.entityName).contains { relationship in
                source(ofRelationship: relationship, former, object.entityName)?.name == name
                    && object.links[relationship.name]?.contains(other) == true
            }
        }
        if has(uid, object.entityName, link, target) { return true }
        guard let other = objects[target],
            let owner = old.line(object.entityName).first(where: { entity in
                entity.relationships.contains { $0.name == link }
            }), let inverse = oldInverses.inverse(of: PropertyPath(owner.name, link))
        else { return false }
        return has(target, other.entityName, inverse.name, uid)
    }
}
