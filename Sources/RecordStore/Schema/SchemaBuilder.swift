/// Resolves a valid description: tags, slots, relationships and indexes.
struct SchemaBuilder {
    let description: SchemaDescription
    /// In the order of their tags.
    private let entities: [EntityDescription]
    /// The slots of a file's layout; empty if slots follow from the order of declarations.
    private let storedSlots: [PropertyPath: Int]
    /// The file's layout of each entity, by name.
    private let stored: [String: StoredLayout.Entity]
    private var tagByName: [String: UInt16] = [:]
    private let entityByTag: [UInt16: EntityDescription]
    private var links: [Declared] = []
    private(set) var relationships: [RelationshipLayout] = []
    private(set) var indexes: [IndexLayout] = []
    private var indexNames: Set<String> = []
    private(set) var layouts: [EntityLayout] = []
    private var fieldsByTag: [UInt16: [FieldLayout]] = [:]
    /// The entities below each entity, and the entity itself.
    private var tagsBelow: [UInt16: Set<UInt16>] = [:]
    private var relationshipsByTag: [UInt16: [RelationshipLayout]] = [:]
    private var indexesByTag: [UInt16: [IndexLayout]] = [:]

    /// A relationship before its inverse is known.
    private struct Declared {
        var description: RelationshipDescription
        var entityName: String
        var sourceTag: UInt16
        var destinationTag: UInt16
        var field: FieldLayout?
        var inverseID: Int?
    }

    /// - Parameter layout: the file's, already checked against this description.
    init(_ description: SchemaDescription, _ layout: StoredLayout? = nil) {
        if let layout {
            for entity in layout.entities where !entity.isGone {
                tagByName[entity.name] = entity.tag
            }
        } else {
            for (index, entity) in description.entities.enumerated() {
                tagByName[entity.name] = UInt16(index + 1)
            }
        }
        var slots: [PropertyPath: Int] = [:]
        for entity in layout?.entities ?? [] {
            for property in entity.properties {
                slots[PropertyPath(entity.name, property.name)] = Int(property.slot)
            }
        }
        storedSlots = slots
        stored = Dictionary(
            (layout?.entities ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let tags = tagByName
        entityByTag = Dictionary(
            description.entities.map { (tags[$0.name] ?? 0, $0) },
            uniquingKeysWith: { first, _ in first })
        self.description = description
        entities =
            layout == nil
            ? description.entities
            : description.entities.sorted { tags[$0.name] ?? 0 < tags[$1.name] ?? 0 }
    }

    mutating func build() {
        placeFields()
        pairInverses()
        for entity in entities { declareIndexes(entity) }
        for entity in entities {
            let own = tag(entity.name)
            for above in ancestors(own) { tagsBelow[above, default: []].insert(own) }
        }
        relationshipsByTag = Dictionary(grouping: relationships, by: \.sourceTag)
        indexesByTag = Dictionary(grouping: indexes, by: \.entityTag)
        for entity in entities { layouts.append(layout(entity)) }
    }

    /// Gives the fields their slots.
    mutating func placeFields() {
        guard fieldsByTag.isEmpty else { return }
        declareRelationships()
        for entity in entities { resolveFields(entity) }
    }

    /// The layout of a new file, whose fields have been placed: records have one slot count and no
    /// unused slots.
    var declared: [StoredLayout.Entity] {
        entities.map { entity in
            let tag = tag(entity.name)
            let fields = fieldsByTag[tag] ?? []
            let inherited = parent(entity).flatMap { fieldsByTag[self.tag($0.name)] }?.count ?? 0
            return StoredLayout.Entity(
                name: entity.name, tag: tag, slotCounts: [UInt16(fields.count)],
                properties: fields.dropFirst(inherited).map {
                    StoredLayout.Property(name: $0.name, slot: UInt16($0.slot))
                })
        }
    }

    private func tag(_ name: String) -> UInt16 {
        guard let tag = tagByName[name] else {
            preconditionFailure("a checked schema names its own entities")
        }
        return tag
    }

    private func entity(_ tag: UInt16) -> EntityDescription {
        guard let entity = entityByTag[tag] else {
            preconditionFailure("every tag that a schema resolves is an entity's")
        }
        return entity
    }

    private func parent(_ entity: EntityDescription) -> EntityDescription? {
        entity.superentityName.map { self.entity(tag($0)) }
    }

    private mutating func declareRelationships() {
        for entity in entities {
            for relationship in entity.relationships {
                links.append(
                    Declared(
                        description: relationship, entityName: entity.name,
                        sourceTag: tag(entity.name),
                        destinationTag: tag(relationship.destinationEntityName)))
            }
        }
    }

    /// Inherited fields first, then attributes, then to-one links.
    @discardableResult
    private mutating func resolveFields(_ entity: EntityDescription) -> [FieldLayout] {
        let own = tag(entity.name)
        if let known = fieldsByTag[own] { return known }
        var fields = parent(entity).map { resolveFields($0) } ?? []
        func place(_ name: String, _ content: FieldLayout.Content) -> FieldLayout {
            let slot =
                storedSlots.isEmpty
                ? fields.count : storedSlots[PropertyPath(entity.name, name)] ?? fields.count
            return FieldLayout(
                name: name, slot: slot, byteOffset: RowLayout.byteOffset(slot: slot),
                content: content, isOptional: true, defaultValue: .null, isCoded: false)
        }
        for attribute in entity.attributes {
            var field = place(attribute.name, .attribute(attribute.type))
            field.isOptional = attribute.isOptional
            field.defaultValue = attribute.defaultValue
            field.isCoded = attribute.isCoded
            fields.append(field)
        }
        for index in links.indices
        where links[index].sourceTag == own && links[index].description.kind == .toOne {
            let field = place(
                links[index].description.name, .link(relationshipID: index))
            links[index].field = field
            fields.append(field)
        }
        fieldsByTag[own] = fields
        return fields
    }

    /// Pairs the declared relationships and creates their layouts.
    private mutating func pairInverses() {
        let table = InverseTable(description)
        let ids = Dictionary(
            uniqueKeysWithValues: links.enumerated().map { id, one in
                (PropertyPath(one.entityName, one.description.name), id)
            })
        for (path, id) in ids {
            links[id].inverseID = table.inverse(of: path).flatMap { ids[$0] }
        }
        relationships = links.enumerated().map { id, one in
            let name = one.description.name
            let inverse = one.inverseID.map { links[$0] }
            let mirrorsToOne =
                one.description.kind == .toManyUnordered && inverse?.description.kind == .toOne
            return RelationshipLayout(
                one.description, id: id, treeName: TreeTable.linksName(one.entityName, name),
                sourceTag: one.sourceTag, destinationTag: one.destinationTag, field: one.field,
                inverseID: one.inverseID, mirrorsToOne: mirrorsToOne,
                isNarrowed: inverse.map { isNarrowed(one, $0) } ?? false)
        }
    }

    /// Whether the inverse is declared below one of the ends.
    private func isNarrowed(_ one: Declared, _ inverse: Declared) -> Bool {
        func isBelow(_ tag: UInt16, _ end: UInt16) -> Bool {
            tag != end && !ancestors(end).contains(tag)
        }
        return isBelow(inverse.sourceTag, one.destinationTag)
            || isBelow(inverse.destinationTag, one.sourceTag)
    }

    private func ancestors(_ tag: UInt16) -> [UInt16] {
        var tags = [tag]
        var current = entity(tag)
        while let above = parent(current) {
            tags.append(self.tag(above.name))
            current = above
        }
        return tags
    }

    private mutating func declareIndexes(_ entity: EntityDescription) {
        let own = tag(entity.name)
        let fields = fieldsByTag[own] ?? []
        func add(_ names: [String], isUnique: Bool) {
            let columns = names.compactMap { name in fields.first { $0.name == name } }
            let treeName = IndexLayout.treeName(entity.name, names, isUnique: isUnique)
            // An index that is declared twice is created once.
            guard indexNames.insert(treeName).inserted else { return }
            indexes.append(
                IndexLayout(
                    id: indexes.count, entityTag: own, columns: columns, isUnique: isUnique,
                    treeName: treeName))
        }
        for names in entity.uniqueConstraints { add(names, isUnique: true) }
        let constraints = Set(entity.uniqueConstraints)
        for names in entity.indexes where !constraints.contains(names) {
            add(names, isUnique: false)
        }
    }

    /// The stored slots of an entity, given with its ancestors.
    private func storedSlots(_ line: [UInt16]) -> StoredSlots? {
        let line = line.compactMap { stored[entity($0).name] }
        guard let own = line.first else { return nil }
        var slots = StoredSlots(counts: own.slotCounts.map(Int.init))
        for property in line.flatMap(\.properties) {
            slots.initialValues[Int(property.slot)] = property.initialValue
        }
        slots.retired = line.flatMap(\.retired).map { Int($0.slot) }
        return slots
    }

    private func layout(_ entity: EntityDescription) -> EntityLayout {
        let own = tag(entity.name)
        let above = ancestors(own)
        return EntityLayout(
            name: entity.name, className: entity.className, tag: own,
            superentityTag: above.count > 1 ? above[1] : nil, rootTag: above[above.count - 1],
            isAbstract: entity.isAbstract, tags: tagsBelow[own] ?? [own], ancestorTags: above,
            fields: fieldsByTag[own] ?? [],
            inheritedFieldCount: above.count > 1 ? fieldsByTag[above[1]]?.count ?? 0 : 0,
            relationships: above.reversed().flatMap { relationshipsByTag[$0] ?? [] },
            indexes: above.flatMap { indexesByTag[$0] ?? [] }.sorted { $0.id < $1.id },
            virtualNames: Set(above.flatMap { self.entity($0).virtualNames }),
            stored: storedSlots(above))
    }
}
