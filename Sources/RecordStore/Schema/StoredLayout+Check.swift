import PageStore

/// Checks that a layout belongs to a schema: it has every entity and property once, by name, and no
/// two properties of an object in one slot.
extension StoredLayout {
    /// Throws `corrupt` for a layout that contradicts the schema or itself.
    func check(_ schema: SchemaDescription, page: PageID) throws(StoreError) {
        let described = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
        var laidOut: [String: Entity] = [:]
        var lastTag: UInt16 = 0
        for entity in entities {
            guard entity.tag > lastTag else {
                throw damage(page, "gives \(entity.name) the tag \(entity.tag) out of order")
            }
            lastTag = entity.tag
            if entity.isGone {
                guard entity.slotCounts.isEmpty, entity.properties.isEmpty, entity.retired.isEmpty
                else { throw damage(page, "has slots of an entity that is gone") }
                continue
            }
            guard described[entity.name] != nil,
                laidOut.updateValue(entity, forKey: entity.name) == nil
            else { throw damage(page, "names “\(entity.name)” twice, or it is no entity") }
        }
        for entity in schema.entities {
            guard let layout = laidOut[entity.name] else {
                throw damage(page, "lacks the entity \(entity.name)")
            }
            try check(layout, entity, page)
        }
        for entity in schema.entities { try checkSlots(entity, described, laidOut, page) }
    }

    private func damage(_ page: PageID, _ message: String) -> StoreError {
        .corrupt(page, "the layout \(message)")
    }

    /// The layout's own properties of an entity must be those that the schema declares.
    private func check(
        _ layout: Entity, _ entity: EntityDescription, _ page: PageID
    ) throws(StoreError) {
        var missing = Set(entity.attributes.map(\.name))
        missing.formUnion(entity.relationships.filter { $0.kind == .toOne }.map(\.name))
        var lastSlot = -1
        for property in layout.properties {
            guard missing.remove(property.name) != nil else {
                throw damage(
                    page, "of \(entity.name) names “\(property.name)” twice, or it has no slot")
            }
            guard Int(property.slot) > lastSlot, Int(property.slot) < RowLayout.slotCountMax else {
                throw damage(
                    page, "of \(entity.name) gives “\(property.name)” the slot \(property.slot)")
            }
            lastSlot = Int(property.slot)
            guard Self.isInitialValue(property.initialValue, of: entity, property.name) else {
                throw damage(
                    page, "of \(entity.name) gives “\(property.name)” a wrong initial value")
            }
        }
        if let name = missing.min() {
            throw damage(page, "lacks the property \(entity.name).\(name)")
        }
    }

    /// A link has no initial value; an attribute has the eight bytes of its slot, or those of the
    /// heap.
    private static func isInitialValue(
        _ value: [UInt8]?, of entity: EntityDescription, _ name: String
    ) -> Bool {
        guard let value else { return true }
        guard let attribute = entity.attributes.first(where: { $0.name == name }) else {
            return false
        }
        return attribute.type.isVariable || value.count == RowLayout.wordSize
    }

    /// No two properties of an object share a slot, retired ones included, and its records have all
    /// of these slots.
    private func checkSlots(
        _ entity: EntityDescription, _ described: [String: EntityDescription],
        _ laidOut: [String: Entity], _ page: PageID
    ) throws(StoreError) {
        var slots: Set<UInt16> = []
        var count = 0
        var current: EntityDescription? = entity
        // The schema was checked: the line of superentities ends.
        while let owner = current {
            for property in laidOut[owner.name]?.properties ?? [] {
                slots.insert(property.slot)
                count += 1
            }
            for (slot, _) in laidOut[owner.name]?.retired ?? [] {
                slots.insert(slot)
                count += 1
            }
            current = owner.superentityName.flatMap { described[$0] }
        }
        guard slots.count == count else {
            throw damage(page, "gives two properties of \(entity.name) one slot")
        }
        let counts = laidOut[entity.name]?.slotCounts ?? []
        guard let slotCount = counts.last, zip(counts, counts.dropFirst()).allSatisfy({ $0 < $1 }),
            Int(slotCount) <= RowLayout.slotCountMax, slots.allSatisfy({ $0 < slotCount })
        else { throw damage(page, "of \(entity.name) has wrong counts of slots") }
    }
}
