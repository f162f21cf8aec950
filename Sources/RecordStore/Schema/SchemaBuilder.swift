/// Resolves a valid description: tags, slots, relationships and indexes.
struct SchemaBuilder {
    private let description: SchemaDescription
    private var tagByName: [String: UInt16] = [:]
    private var declared: [Declared] = []
    private(set) var relationships: [RelationshipLayout] = []
    private(set) var indexes: [IndexLayout] = []
    private(set) var layouts: [EntityLayout] = []
    private var fieldsByTag: [UInt16: [FieldLayout]] = [:]

    /// A relationship before its inverse is known.
    private struct Declared {
        var description: RelationshipDescription
        var entityName: String
        var sourceTag: UInt16
        var destinationTag: UInt16
        var field: FieldLayout?
        var inverseID: Int?
    }

    init(_ description: SchemaDescription) {
        self.description = description
        for (index, entity) in description.entities.enumerated() {
            tagByName[entity.name] = UInt16(index + 1)
        }
    }

    mutating func build() {
        declareRelationships()
        for entity in description.entities { resolveFields(entity) }
        pairInverses()
        for entity in description.entities { declareIndexes(entity) }
        for entity in description.entities { layouts.append(layout(entity)) }
    }

    private func tag(_ name: String) -> UInt16 {
        guard let tag = tagByName[name] else {
            preconditionFailure("a checked schema names its own entities")
        }
        return tag
    }

    private func parent(_ entity: EntityDescription) -> EntityDescription? {
        entity.superentityName.map { description.entities[Int(tag($0)) - 1] }
    }

    private mutating func declareRelationships() {
        for entity in description.entities {
            for relationship in entity.relationships {
                declared.append(
                    Declared(
                        description: relationship, entityName: entity.name,
                        sourceTag: tag(entity.name),
                        destinationTag: tag(relationship.destinationEntityName)))
            }
        }
    }

    /// The parent's fields first, then attributes, then to-one links.
    @discardableResult
    private mutating func resolveFields(_ entity: EntityDescription) -> [FieldLayout] {
        let own = tag(entity.name)
        if let known = fieldsByTag[own] { return known }
        var fields = parent(entity).map { resolveFields($0) } ?? []
        func place(_ name: String, _ content: FieldLayout.Content) -> FieldLayout {
            FieldLayout(
                name: name, slot: fields.count,
                byteOffset: RowLayout.byteOffset(slot: fields.count), content: content,
                isOptional: true, defaultValue: .null, isCoded: false)
        }
        for attribute in entity.attributes {
            var field = place(attribute.name, .attribute(attribute.type))
            field.isOptional = attribute.isOptional
            field.defaultValue = attribute.defaultValue
            field.isCoded = attribute.isCoded
            fields.append(field)
        }
        for index in declared.indices
        where declared[index].sourceTag == own && declared[index].description.kind == .toOne {
            let field = place(
                declared[index].description.name, .link(relationshipID: index))
            declared[index].field = field
            fields.append(field)
        }
        fieldsByTag[own] = fields
        return fields
    }

    /// Pairs them, and lays them out.
    private mutating func pairInverses() {
        for entity in description.entities {
            for relationship in entity.relationships {
                guard let inverseName = relationship.inverseName,
                    let own = find(relationship.name, declaredBy: tag(entity.name)),
                    let inverse = find(inverseName, in: tag(relationship.destinationEntityName))
                else { continue }
                declared[own].inverseID = inverse
                declared[inverse].inverseID = own
            }
        }
        relationships = declared.enumerated().map { id, one in
            let name = one.description.name
            let mirrorsToOne =
                one.description.kind == .toManyUnordered
                && one.inverseID.map { declared[$0].description.kind } == .toOne
            return RelationshipLayout(
                one.description, id: id, treeName: "links/\(one.entityName)/\(name)",
                sourceTag: one.sourceTag, destinationTag: one.destinationTag, field: one.field,
                inverseID: one.inverseID, mirrorsToOne: mirrorsToOne)
        }
    }

    private func find(_ name: String, declaredBy tag: UInt16) -> Int? {
        declared.firstIndex { $0.sourceTag == tag && $0.description.name == name }
    }

    /// The relationship of that name of an entity or of one above it.
    private func find(_ name: String, in tag: UInt16) -> Int? {
        for ancestor in ancestors(tag) {
            if let found = find(name, declaredBy: ancestor) { return found }
        }
        return nil
    }

    private func ancestors(_ tag: UInt16) -> [UInt16] {
        var tags = [tag]
        var entity = description.entities[Int(tag) - 1]
        while let above = parent(entity) {
            tags.append(self.tag(above.name))
            entity = above
        }
        return tags
    }

    private mutating func declareIndexes(_ entity: EntityDescription) {
        let own = tag(entity.name)
        let fields = fieldsByTag[own] ?? []
        func add(_ names: [String], isUnique: Bool) {
            let columns = names.compactMap { name in fields.first { $0.name == name } }
            let kind = isUnique ? "unique" : "index"
            let treeName = "\(kind)/\(entity.name)/\(names.joined(separator: ","))"
            // Declared twice, it is still one index.
            guard !indexes.contains(where: { $0.treeName == treeName }) else { return }
            indexes.append(
                IndexLayout(
                    id: indexes.count, entityTag: own, columns: columns, isUnique: isUnique,
                    treeName: treeName))
        }
        for names in entity.uniqueConstraints { add(names, isUnique: true) }
        for names in entity.indexes where !entity.uniqueConstraints.contains(names) {
            add(names, isUnique: false)
        }
    }

    private func layout(_ entity: EntityDescription) -> EntityLayout {
        let own = tag(entity.name)
        let above = ancestors(own)
        let below = description.entities.map { tag($0.name) }
            .filter { ancestors($0).contains(own) }
        return EntityLayout(
            name: entity.name, className: entity.className, tag: own,
            superentityTag: above.count > 1 ? above[1] : nil, rootTag: above[above.count - 1],
            isAbstract: entity.isAbstract, tags: Set(below), ancestorTags: above,
            fields: fieldsByTag[own] ?? [],
            relationships: above.reversed().flatMap { ancestor in
                relationships.filter { $0.sourceTag == ancestor }
            },
            indexes: indexes.filter { above.contains($0.entityTag) })
    }
}
