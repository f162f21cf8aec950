import PageStore

/// Edits the layout of a file for a later schema: names, new entities, slots of new properties,
/// removals. Slots and tags are only appended, so that stored records stay valid; those of removed
/// entities and properties are never reused.
struct LayoutEditor {
    private var layout: StoredLayout
    /// The later schema, by the names of its entities.
    private let wanted: [String: EntityDescription]
    private let order: [String]
    /// The slot count of new records of each entity so far, by name.
    private var slotCounts: [String: Int] = [:]

    init(_ layout: StoredLayout, _ wanted: SchemaDescription) {
        self.layout = layout
        self.wanted = Dictionary(wanted.entities.map { ($0.name, $0) }) { first, _ in first }
        order = wanted.entities.map(\.name)
    }

    /// Retires the slots and tags of removed properties and entities. Precedes ``rename(by:)``, so
    /// names are still the earlier ones.
    mutating func remove(_ edits: [SchemaEdit], of stored: Schema) {
        for edit in edits {
            switch edit {
            case .entityRemoved(let name): removeEntity(name)
            case .propertyRemoved(let path): retireSlot(path, of: stored)
            default: break
            }
        }
    }

    private mutating func removeEntity(_ name: String) {
        guard let index = layout.entities.firstIndex(where: { $0.name == name }) else { return }
        layout.entities[index] = StoredLayout.Entity(name: "", tag: layout.entities[index].tag)
    }

    private mutating func retireSlot(_ path: PropertyPath, of stored: Schema) {
        guard let index = layout.entities.firstIndex(where: { $0.name == path.entityName }),
            let position = layout.entities[index].properties.firstIndex(where: {
                $0.name == path.name
            })
        else { return }
        let slot = layout.entities[index].properties.remove(at: position).slot
        let type = stored.entity(named: path.entityName)?.field(named: path.name)?.type
        layout.entities[index].retired.append((slot, type))
    }

    mutating func rename(by names: LaterNames) {
        for index in layout.entities.indices where !layout.entities[index].isGone {
            let name = names.entity(layout.entities[index].name)
            layout.entities[index].name = name
            for number in layout.entities[index].properties.indices {
                let old = layout.entities[index].properties[number].name
                layout.entities[index].properties[number].name =
                    names.property(PropertyPath(name, old))
            }
        }
    }

    /// Adds new entities and properties. Throws `tooLarge` if no tag or slot is left.
    mutating func add(_ edits: [SchemaEdit]) throws(StoreError) {
        for entity in layout.entities where !entity.isGone {
            slotCounts[entity.name] = Int(entity.slotCounts.last ?? 0)
        }
        var entities: Set<String> = []
        var properties: Set<PropertyPath> = []
        for edit in edits {
            switch edit {
            case .entityAdded(let name): entities.insert(name)
            case .propertyAdded(let path): properties.insert(path)
            default: break
            }
        }
        for name in order { try addEntity(name, &entities) }
        for name in order {
            for property in slotted(name) where properties.contains(PropertyPath(name, property)) {
                let path = PropertyPath(name, property)
                try addSlot(path, initialValue(path))
            }
        }
    }

    /// The edited layout, with a further slot count for each entity that has grown.
    var edited: StoredLayout {
        var edited = layout
        for index in edited.entities.indices where !edited.entities[index].isGone {
            let count = UInt16(slotCounts[edited.entities[index].name] ?? 0)
            if edited.entities[index].slotCounts.last != count {
                edited.entities[index].slotCounts.append(count)
            }
        }
        return edited
    }

    /// The properties of an entity that have slots, in the order in which slots are assigned.
    private func slotted(_ name: String) -> [String] {
        guard let entity = wanted[name] else { return [] }
        return entity.attributes.map(\.name)
            + entity.relationships.filter { $0.kind == .toOne }.map(\.name)
    }

    /// Adds an entity after its new ancestors, whose slots come first.
    private mutating func addEntity(
        _ name: String, _ left: inout Set<String>
    ) throws(StoreError) {
        guard left.remove(name) != nil else { return }
        let above = wanted[name]?.superentityName
        if let above { try addEntity(above, &left) }
        slotCounts[name] = above.flatMap { slotCounts[$0] } ?? 0
        let last = layout.entities.last?.tag ?? 0
        guard last < .max else {
            throw StoreError(.tooLarge, "no tag is left for the entity \(name)")
        }
        layout.entities.append(StoredLayout.Entity(name: name, tag: last + 1))
        // It has no records yet that would lack a value.
        for property in slotted(name) { try addSlot(PropertyPath(name, property), nil) }
    }

    /// Assigns the first slot after those of the property's entity and of all its subentities.
    private mutating func addSlot(
        _ path: PropertyPath, _ initialValue: [UInt8]?
    ) throws(StoreError) {
        let family = slotCounts.keys.filter { isKind($0, of: path.entityName) }
        let slot = family.compactMap { slotCounts[$0] }.max() ?? 0
        guard slot < RowLayout.slotCountMax else {
            throw StoreError(.tooLarge, "no slot is left for \(path)")
        }
        for name in family { slotCounts[name] = slot + 1 }
        guard let index = layout.entities.firstIndex(where: { $0.name == path.entityName }) else {
            preconditionFailure("a property is added to an entity of the layout")
        }
        layout.entities[index].properties.append(
            StoredLayout.Property(
                name: path.name, slot: UInt16(slot), initialValue: initialValue))
    }

    private func isKind(_ name: String, of other: String) -> Bool {
        var current: String? = name
        while let owner = current {
            if owner == other { return true }
            current = wanted[owner]?.superentityName
        }
        return false
    }

    /// The default of an attribute, in the form that a slot or the heap stores.
    private func initialValue(_ path: PropertyPath) -> [UInt8]? {
        let attribute = wanted[path.entityName]?.attributes.first { $0.name == path.name }
        guard let attribute, attribute.defaultValue != .null else { return nil }
        var field = RowBuffer.scratchField
        field.content = .attribute(attribute.type)
        var row = RowBuffer.scratch()
        defer { row.deallocate() }
        row.setValue(attribute.defaultValue, field)
        let view = row.view
        guard !view.isNull(at: field.byteOffset) else { return nil }
        guard !attribute.type.isVariable else { return view.byteArray(at: field.byteOffset) }
        let word = view.uint(at: field.byteOffset)
        return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
}

extension AttributeDescription {
    /// Whether the default is too long for the layout, so that existing objects are given it one by
    /// one.
    var hasLongDefault: Bool {
        switch defaultValue {
        case .string(let text), .url(let text): text.utf8.count > StoredLayout.initialSizeInBytesMax
        case .data(let bytes): bytes.count > StoredLayout.initialSizeInBytesMax
        default: false
        }
    }
}
