import PageStore

/// Validates a description before it is resolved. Stored schemas are validated too, so nothing here
/// may trap.
enum SchemaCheck {
    /// The most superentities in one line.
    private static let depthMax = 64
    /// The limit for the name of an entity or a property.
    static let nameSizeInBytesMax = 1024
    /// The most properties of all entities, each with those that it inherits. Every entity has a
    /// table of its own.
    private static let propertyCountMax = 500_000
    /// Separators in tree names and key paths, which the names of properties must not contain.
    private static let separators = [UInt8(ascii: "/"), UInt8(ascii: ","), UInt8(ascii: ".")]

    static func validate(_ schema: SchemaDescription) throws(StoreError) {
        guard schema.entities.count < 10_000 else { throw failure("it has too many entities") }
        var names: Set<String> = []
        for entity in schema.entities {
            guard !entity.name.isEmpty else { throw failure("an entity has no name") }
            guard entity.name.utf8.count <= nameSizeInBytesMax else {
                throw failure("the name of an entity is too long: “\(entity.name.prefix(100))…”")
            }
            guard !entity.name.utf8.contains(UInt8(ascii: "/")) else {
                throw failure("the name “\(entity.name)” has a slash, which is reserved")
            }
            guard names.insert(entity.name).inserted else {
                throw failure("two entities are named “\(entity.name)”")
            }
        }
        let byName = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0) })
        try checkPropertyCount(schema, byName)
        for entity in schema.entities { try validate(entity, byName) }
        if let fault = InverseTable(schema).faults.first { throw failure(message(fault)) }
    }

    private static func checkPropertyCount(
        _ schema: SchemaDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        func count(_ entity: EntityDescription) -> Int {
            entity.attributes.count + entity.relationships.count
        }
        // Nearly every schema is far from the limit even if each entity had all of them.
        let own = schema.entities.reduce(0) { $0 + count($1) }
        guard own > propertyCountMax / max(1, schema.entities.count) else { return }
        var all = 0
        for entity in schema.entities {
            for ancestor in try lineage(entity, byName) { all += count(ancestor) }
            guard all <= propertyCountMax else {
                throw failure("its entities have more than \(propertyCountMax) properties in all")
            }
        }
    }

    private static func message(_ fault: InverseTable.Fault) -> String {
        switch fault {
        case .missing(let path, let name):
            "\(path) names the inverse \(name), which does not exist"
        case .leadsElsewhere(let path, let back):
            "\(path) names the inverse \(back), which leads elsewhere"
        case .shared(let path): "\(path) is the inverse of two relationships"
        }
    }

    private static func validate(
        _ entity: EntityDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        let line = try lineage(entity, byName)
        var properties: Set<String> = []
        var columns: Set<String> = []
        var slotCount = 0
        for ancestor in line {
            for attribute in ancestor.attributes {
                try insert(attribute.name, into: &properties, entity)
                columns.insert(attribute.name)
                slotCount += 1
            }
            for relationship in ancestor.relationships {
                try insert(relationship.name, into: &properties, entity)
                if relationship.kind == .toOne {
                    columns.insert(relationship.name)
                    slotCount += 1
                }
            }
        }
        guard slotCount <= RowLayout.slotCountMax else {
            throw failure("\(entity.name) has more than \(RowLayout.slotCountMax) properties")
        }
        for relationship in entity.relationships {
            try validate(relationship, of: entity, byName)
        }
        for names in entity.indexes + entity.uniqueConstraints {
            guard !names.isEmpty, names.count <= 8, Set(names).isSubset(of: columns) else {
                throw failure(
                    "an index of \(entity.name) names “\(names.joined(separator: ", "))”, "
                        + "and not all of these are stored properties of it")
            }
        }
    }

    private static func insert(
        _ name: String, into names: inout Set<String>, _ entity: EntityDescription
    ) throws(StoreError) {
        guard !name.isEmpty else { throw failure("a property of \(entity.name) has no name") }
        guard name.utf8.count <= nameSizeInBytesMax else {
            throw failure(
                "the name of a property of \(entity.name) is too long: “\(name.prefix(100))…”")
        }
        guard !name.utf8.contains(where: separators.contains) else {
            throw failure("the name “\(entity.name).\(name)” has a slash, a comma or a dot")
        }
        guard names.insert(name).inserted else {
            throw failure("\(entity.name) has two properties named “\(name)”")
        }
    }

    private static func validate(
        _ relationship: RelationshipDescription, of entity: EntityDescription,
        _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        let place = "\(entity.name).\(relationship.name)"
        guard byName[relationship.destinationEntityName] != nil else {
            throw failure(
                "\(place) leads to \(relationship.destinationEntityName), which is no entity")
        }
    }

    /// The entity and its ancestors, the entity first.
    private static func lineage(
        _ entity: EntityDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) -> [EntityDescription] {
        var line = [entity]
        var current = entity
        while let name = current.superentityName {
            guard let above = byName[name] else {
                throw failure("\(current.name) has the superentity \(name), which is no entity")
            }
            guard line.count <= depthMax, line.count <= byName.count else {
                throw failure("\(entity.name) is above itself, or too deep")
            }
            line.append(above)
            current = above
        }
        return line
    }

    private static func failure(_ message: String) -> StoreError {
        StoreError(.invalidModel, "the schema contradicts itself: \(message)")
    }
}
