import PageStore
import Proof
import RecordStore
import TestSupport

/// An object without its number, which migrations do not use: links name the `uid` of other
/// objects, which the root of every hierarchy declares.
struct RewriteObject: Equatable {
    var entityName: String
    var values: [String: Value] = [:]
    /// In the user's order where there is one, else ascending.
    var links: [String: [Int64]] = [:]
}

/// Throws unless a rule holds.
func hold(_ rule: Bool, _ text: @autoclosure () -> String) throws {
    if !rule { throw ProofFailure(text()) }
}

/// What the proof itself has made must be there.
func known<Value>(_ value: Value?, line: Int = #line) throws -> Value {
    guard let value else { throw ProofFailure("nothing is known in line \(line)") }
    return value
}

/// The content of a store, by the objects' `uid`.
struct RewriteWorld {
    struct Place: Hashable {
        var root: String
        var number: UInt64
    }

    var objects: [Int64: RewriteObject] = [:]
    private(set) var places: [Int64: Place] = [:]
    /// The last number that is known to have been given out, by the name of the root entity.
    var lastNumbers: [String: UInt64] = [:]

    init() {}

    /// Reads all of a store, and checks it on the way.
    init(_ database: RecordDatabase) throws {
        let reader = try database.snapshot()
        if let finding = reader.check().first { throw ProofFailure("\(finding)") }
        let schema = database.schema
        var uids: [Place: Int64] = [:]
        var counts: [String: Int] = [:]
        for root in schema.entities where root.superentityTag == nil {
            let cursor = reader.recordCursor(root.hierarchy)
            while try cursor.next() {
                let row = try cursor.row()
                let entity = schema.knownEntity(tag: row.entityTag)
                var object = RewriteObject(entityName: entity.name)
                for field in entity.fields where field.type != nil {
                    object.values[field.name] = try reader.value(field, of: row)
                }
                guard case .int(let uid)? = object.values["uid"] else {
                    throw ProofFailure("\(entity.name) \(cursor.number.rawValue) has no uid")
                }
                let place = Place(root: root.name, number: cursor.number.rawValue)
                try hold(objects[uid] == nil, "two objects have the uid \(uid)")
                (objects[uid], places[uid], uids[place]) = (object, place, uid)
                for tag in entity.ancestorTags {
                    counts[schema.knownEntity(tag: tag).name, default: 0] += 1
                }
                lastNumbers[root.name] = max(lastNumbers[root.name] ?? 0, place.number)
            }
        }
        for entity in schema.entities {
            let count = try reader.recordCount(of: entity)
            try hold(count == counts[entity.name] ?? 0, "\(entity.name) counts \(count) objects")
        }
        try readLinks(reader, uids)
        try checkIndexes(reader)
    }

    private mutating func readLinks(
        _ reader: RecordReader, _ uids: [Place: Int64]
    ) throws {
        let schema = reader.schema
        for (uid, place) in places {
            guard let name = objects[uid]?.entityName, let entity = schema.entity(named: name)
            else { continue }
            for relationship in entity.relationships {
                let target = schema.knownEntity(tag: relationship.destinationTag)
                let root = schema.knownEntity(tag: target.hierarchy.rootTag).name
                let numbers = try reader.linkedNumbers(
                    relationship, of: ObjectNumber(place.number))
                let links = numbers.compactMap {
                    uids[Place(root: root, number: $0.rawValue)]
                }
                try hold(links.count == numbers.count, "a link has no target")
                objects[uid]?.links[relationship.name] =
                    relationship.kind == .toManyOrdered ? links : links.sorted()
            }
        }
    }

    /// A fetch by an index finds what a scan finds.
    private func checkIndexes(_ reader: RecordReader) throws {
        let schema = reader.schema
        for index in schema.indexes {
            let entity = schema.knownEntity(tag: index.entityTag)
            let cursor = reader.recordCursor(entity.hierarchy)
            var foundCount = 0
            while try cursor.next() {
                let row = try cursor.row()
                guard entity.tags.contains(row.entityTag) else { continue }
                var key = reader.keyEncoder(columnCount: index.columns.count)
                for column in index.columns { try reader.append(column, of: row, to: &key) }
                var isFound = false
                try reader.forEachNumber(in: index, equalTo: key) { number in
                    isFound = number == cursor.number
                    return !isFound
                }
                try hold(isFound, "\(index.treeName) lacks object \(cursor.number.rawValue)")
                foundCount += 1
            }
            var entryCount = 0
            let entries = reader.indexCursor(index)
            while try entries.next() { entryCount += 1 }
            try hold(entryCount == foundCount, "\(index.treeName) has \(entryCount) entries")
        }
    }

    /// The differences of two worlds as text; nil if they are equal.
    static func difference(
        _ found: [Int64: RewriteObject], _ expected: [Int64: RewriteObject]
    ) -> String? {
        for uid in Set(found.keys).union(expected.keys).sorted() {
            guard let object = found[uid] else { return "object \(uid) is gone" }
            guard let other = expected[uid] else { return "object \(uid) is still there" }
            guard object != other else { continue }
            guard object.entityName == other.entityName else {
                return "object \(uid) is \(object.entityName), not \(other.entityName)"
            }
            for name in Set(object.values.keys).union(other.values.keys).sorted()
            where object.values[name] != other.values[name] {
                return "\(object.entityName).\(name) of \(uid) is "
                    + "\(brief(object.values[name])), not \(brief(other.values[name]))"
            }
            for name in Set(object.links.keys).union(other.links.keys).sorted()
            where object.links[name] != other.links[name] {
                return "\(object.entityName).\(name) of \(uid) leads to "
                    + "\(brief(object.links[name])), not \(brief(other.links[name]))"
            }
        }
        return nil
    }

    private static func brief<Element>(_ value: Element?) -> String {
        value.map { String("\($0)".prefix(80)) } ?? "nothing"
    }
}

/// A description by names, as a reader would look things up in it.
extension SchemaDescription {
    func entityNamed(_ name: String) -> EntityDescription? {
        entities.first { $0.name == name }
    }

    func indexOf(_ name: String) -> Int? { entities.firstIndex { $0.name == name } }

    /// An entity and those above it.
    func line(_ name: String) -> [EntityDescription] {
        var line: [EntityDescription] = []
        var current = entityNamed(name)
        while let entity = current, line.count <= entities.count {
            line.append(entity)
            current = entity.superentityName.flatMap { entityNamed($0) }
        }
        return line
    }

    func root(_ name: String) -> String { line(name).last?.name ?? name }

    func isKind(_ name: String, of other: String) -> Bool {
        line(name).contains { $0.name == other }
    }

    func attributes(of name: String) -> [AttributeDescription] { line(name).flatMap(\.attributes) }

    func relationships(of name: String) -> [RelationshipDescription] {
        line(name).flatMap(\.relationships)
    }

    /// The names of all entities and properties.
    var names: Set<String> {
        var names = Set(entities.map(\.name))
        for entity in entities {
            names.formUnion(entity.attributes.map(\.name))
            names.formUnion(entity.relationships.map(\.name))
        }
        return names
    }

    /// Gives each declaration the earlier name that a closure returns for its path and its present
    /// one. The path of an entity has no name.
    mutating func changeEarlierNames(_ body: (PropertyPath, String?) -> String?) {
        for index in entities.indices {
            let entityName = entities[index].name
            entities[index].previousName = body(
                PropertyPath(entityName, ""), entities[index].previousName)
            for number in entities[index].attributes.indices {
                let attribute = entities[index].attributes[number]
                entities[index].attributes[number].previousName = body(
                    PropertyPath(entityName, attribute.name), attribute.previousName)
            }
            for number in entities[index].relationships.indices {
                let relationship = entities[index].relationships[number]
                entities[index].relationships[number].previousName = body(
                    PropertyPath(entityName, relationship.name), relationship.previousName)
            }
        }
    }

    mutating func forgetEarlierNames() { changeEarlierNames { _, _ in nil } }

    /// States the earlier names that another description of the same model states.
    mutating func takeEarlierNames(from other: SchemaDescription) {
        var known: [PropertyPath: String?] = [:]
        var all = other
        all.changeEarlierNames { path, previousName in
            known[path] = .some(previousName)
            return nil
        }
        changeEarlierNames { path, _ in known[path] ?? nil }
    }
}
