import RecordStore

/// Links between objects: reading them, and keeping both sides in step inside a transaction.
extension ObjectContext {
    // MARK: Reading

    func linkedObjects(
        of object: CoreStoreObject, _ raw: RawObject, relationshipID: Int
    ) -> [CoreStoreObject] {
        guard let relationship = relationship(relationshipID, raw) else { return [] }
        do throws(StoreError) {
            let target = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
            var found: [CoreStoreObject] = []
            for number in try linkedNumbers(of: object, raw, relationship) {
                if let object = try self.object(number, in: target.hierarchy, of: raw.store) {
                    found.append(object)
                }
            }
            return found
        } catch {
            fail(error, "the links of an object could not be read.")
            return []
        }
    }

    private func relationship(_ id: Int, _ raw: RawObject) -> RelationshipLayout? {
        let all = raw.store.database.schema.relationships
        return all.indices.contains(id) ? all[id] : nil
    }

    private func key(
        _ relationship: RelationshipLayout, _ raw: RawObject
    ) -> LinkOverlay.Key {
        LinkOverlay.Key(
            relationshipID: relationship.id, storeID: raw.store.id, owner: raw.number)
    }

    func linkedNumbers(
        of object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        if let field = relationship.field {
            object.loadRow()
            return object.row.buffer.view.link(at: field.byteOffset).map { [$0] } ?? []
        }
        let key = key(relationship, raw)
        if let list = links.lists[key] { return list.targets }
        var numbers = try reader(for: raw.store).linkedNumbers(relationship, of: raw.number)
        guard let mirror = links.mirrors[key] else { return numbers }
        numbers.removeAll { mirror.removed.contains($0) }
        return numbers + mirror.added.filter { !numbers.contains($0) }
    }

    // MARK: Writing

    func setLinkedObjects(
        _ objects: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        guard let relationship = relationship(relationshipID, raw) else { return }
        for target in objects where target.raw?.context !== self {
            Log.assert(
                false,
                "\(raw.entity.name).\(relationship.name) was given an object of another context: "
                    + "edit it in this transaction first")
            return
        }
        var seen: Set<ObjectIdentifier> = []
        let targets = objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
        for target in targets where target.raw?.store !== raw.store {
            Log.assert(
                false, "\(raw.entity.name).\(relationship.name) cannot lead to another store")
            return
        }
        guard object.state != .deleted, !targets.contains(where: { $0.state == .deleted }) else {
            Log.assert(
                false,
                "\(raw.entity.name).\(relationship.name) was given to, or from, an object that "
                    + "is deleted")
            return
        }
        willChange(object)
        guard role == .transaction, !hasEnded else { return }
        do throws(StoreError) {
            if relationship.kind == .toOne {
                try setTarget(targets.first, of: object, raw, relationship)
            } else {
                try setTargets(targets, of: object, raw, relationship)
            }
        } catch {
            fail(error, "links could not be changed.")
        }
    }

    /// Changes a to-one link and what mirrors it.
    private func setTarget(
        _ target: CoreStoreObject?, of object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        object.loadRow()
        let old = object.row.buffer.view.link(at: field.byteOffset)
        let new = target?.raw?.number
        guard old != new else { return }
        let schema = raw.store.database.schema
        let targetEntity = schema.knownEntity(tag: relationship.destinationTag)
        let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
        if let inverse, let old,
            let former = try self.object(old, in: targetEntity.hierarchy, of: raw.store)
        {
            try removeLink(inverse, from: former, to: object)
        }
        store(new, in: field, of: object)
        guard let inverse, let target else { return }
        if inverse.kind == .toOne, let partner = try self.target(of: target, inverse),
            partner !== object
        {
            // The former partner of a one-to-one link is displaced.
            store(nil, in: field, of: partner)
        }
        try addLink(inverse, from: target, to: object)
    }

    private func target(
        of object: CoreStoreObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> CoreStoreObject? {
        guard let raw = object.raw, let field = relationship.field else { return nil }
        object.loadRow()
        guard let number = object.row.buffer.view.link(at: field.byteOffset) else { return nil }
        let entity = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
        return try self.object(number, in: entity.hierarchy, of: raw.store)
    }

    private func store(_ number: ObjectNumber?, in field: FieldLayout, of object: CoreStoreObject) {
        object.willWrite(UInt16(field.byteOffset))
        object.row.buffer.setLink(number, at: field.byteOffset)
    }

    /// Gives a to-many exactly these targets.
    private func setTargets(
        _ targets: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) {
        let schema = raw.store.database.schema
        let targetEntity = schema.knownEntity(tag: relationship.destinationTag)
        let old = try linkedNumbers(of: object, raw, relationship)
        let numbers = targets.compactMap { $0.raw?.number }
        let (had, wanted) = (Set(old), Set(numbers))
        let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
        for number in old where !wanted.contains(number) {
            guard let former = try self.object(number, in: targetEntity.hierarchy, of: raw.store)
            else { continue }
            if let inverse { try removeLink(inverse, from: former, to: object) }
            if relationship.mirrorsToOne { links.removeMirror(key(relationship, raw), number) }
        }
        for target in targets {
            guard let number = target.raw?.number, !had.contains(number) else { continue }
            try attach(target, to: object, relationship, inverse)
            if relationship.mirrorsToOne { links.addMirror(key(relationship, raw), number) }
        }
        if relationship.hasEdges {
            links.lists[key(relationship, raw)] = LinkOverlay.List(
                owner: object, relationship: relationship, targets: numbers)
        }
    }

    /// Makes a target of a to-many lead back to its owner.
    private func attach(
        _ target: CoreStoreObject, to owner: CoreStoreObject, _ relationship: RelationshipLayout,
        _ inverse: RelationshipLayout?
    ) throws(StoreError) {
        guard let inverse else { return }
        if inverse.kind == .toOne, let former = try self.target(of: target, inverse),
            former !== owner
        {
            try removeLink(relationship, from: former, to: target)
        }
        try addLink(inverse, from: target, to: owner)
    }

    /// Adds one link to one side; the other side is the caller's.
    private func addLink(
        _ relationship: RelationshipLayout, from object: CoreStoreObject,
        to target: CoreStoreObject
    ) throws(StoreError) {
        guard let raw = object.raw, let number = target.raw?.number else { return }
        if let field = relationship.field {
            store(number, in: field, of: object)
        } else if relationship.mirrorsToOne {
            willChange(object)
            links.addMirror(key(relationship, raw), number)
        } else {
            try editList(relationship, of: object, raw) { numbers in
                if !numbers.contains(number) { numbers.append(number) }
            }
        }
    }

    /// Removes one link from one side; the other side is the caller's.
    private func removeLink(
        _ relationship: RelationshipLayout, from object: CoreStoreObject,
        to target: CoreStoreObject
    ) throws(StoreError) {
        guard let raw = object.raw, let number = target.raw?.number else { return }
        if let field = relationship.field {
            object.loadRow()
            guard object.row.buffer.view.link(at: field.byteOffset) == number else { return }
            store(nil, in: field, of: object)
        } else if relationship.mirrorsToOne {
            willChange(object)
            links.removeMirror(key(relationship, raw), number)
        } else {
            try editList(relationship, of: object, raw) { numbers in
                numbers.removeAll { $0 == number }
            }
        }
    }

    private func editList(
        _ relationship: RelationshipLayout, of object: CoreStoreObject, _ raw: RawObject,
        _ edit: (inout [ObjectNumber]) -> Void
    ) throws(StoreError) {
        var numbers = try linkedNumbers(of: object, raw, relationship)
        edit(&numbers)
        willChange(object)
        links.lists[key(relationship, raw)] = LinkOverlay.List(
            owner: object, relationship: relationship, targets: numbers)
    }

    /// Takes an object out of every relationship, before it is deleted.
    func unlink(_ object: CoreStoreObject, _ raw: RawObject) {
        for relationship in raw.entity.relationships where relationship.inverseID != nil {
            let targets = linkedObjects(of: object, raw, relationshipID: relationship.id)
            guard !targets.isEmpty else { continue }
            setLinkedObjects([], of: object, raw, relationshipID: relationship.id)
        }
    }
}
