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
            let numbers = try linkedNumbers(of: object, raw, relationship)
            return try objects(numbers, in: target.hierarchy, of: raw.kind.store)
        } catch {
            fail(error, "the links of an object could not be read.")
            return []
        }
    }

    /// The object that a to-one relationship leads to.
    func linkedObject(
        of object: CoreStoreObject, _ raw: RawObject, relationshipID: Int
    ) -> CoreStoreObject? {
        guard let relationship = relationship(relationshipID, raw), relationship.kind == .toOne
        else { return nil }
        do throws(StoreError) {
            return try target(of: object, relationship)
        } catch {
            fail(error, "a link of an object could not be read.")
            return nil
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
            relationshipID: relationship.id, store: ObjectIdentifier(raw.store),
            owner: raw.number)
    }

    func linkedNumbers(
        of object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        if let offset = relationship.byteOffset {
            object.loadRow()
            return object.row.buffer.view.link(at: offset).map { [$0] } ?? []
        }
        if relationship.hasEdges, let list = links.lists[key(relationship, raw)] {
            return list.targets
        }
        let numbers = try reader(for: raw.store).linkedNumbers(relationship, of: raw.number)
        guard relationship.mirrorsToOne, !links.isEmpty,
            let mirror = links.mirror(key(relationship, raw))
        else { return numbers }
        return mirror.over(numbers)
    }

    // MARK: Writing

    func setLinkedObjects(
        _ objects: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        guard let relationship = relationship(relationshipID, raw) else { return }
        var seen: Set<ObjectIdentifier> = []
        let targets = objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
        for target in targets where !accepts(target, raw, relationship) { return }
        guard object.state != .deleted, !targets.contains(where: { $0.state == .deleted }) else {
            refuseDeleted(raw, relationship)
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

    /// Makes a to-one relationship lead to an object, or to none.
    func setLinkedObject(
        _ target: CoreStoreObject?, of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        guard let relationship = relationship(relationshipID, raw), relationship.kind == .toOne
        else { return }
        if let target, !accepts(target, raw, relationship) { return }
        guard object.state != .deleted, target?.state != .deleted else {
            refuseDeleted(raw, relationship)
            return
        }
        willChange(object)
        guard role == .transaction, !hasEnded else { return }
        do throws(StoreError) {
            try setTarget(target, of: object, raw, relationship)
        } catch {
            fail(error, "a link could not be changed.")
        }
    }

    /// Whether an object may be led to: it is of this context, and of the same store.
    private func accepts(
        _ target: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) -> Bool {
        guard let other = target.raw, other.kind.context === self else {
            Log.assert(
                false,
                "\(raw.entity.name).\(relationship.name) was given an object of another context: "
                    + "edit it in this transaction first")
            return false
        }
        guard other.kind.store === raw.kind.store else {
            Log.assert(
                false, "\(raw.entity.name).\(relationship.name) cannot lead to another store")
            return false
        }
        return true
    }

    private func refuseDeleted(_ raw: RawObject, _ relationship: RelationshipLayout) {
        Log.assert(
            false,
            "\(raw.entity.name).\(relationship.name) was given to, or from, an object that "
                + "is deleted")
    }

    /// Changes a to-one link and what mirrors it.
    private func setTarget(
        _ target: CoreStoreObject?, of object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) {
        guard let offset = relationship.byteOffset else { return }
        object.loadRow()
        let old = object.row.buffer.view.link(at: offset)
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
        store(new, at: offset, of: object)
        guard let inverse, let target else { return }
        if inverse.kind == .toOne, let partner = try self.target(of: target, inverse),
            partner !== object
        {
            // The former partner of a one-to-one link is displaced.
            store(nil, at: offset, of: partner)
        }
        try addLink(inverse, from: target, to: object)
    }

    private func target(
        of object: CoreStoreObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> CoreStoreObject? {
        guard let raw = object.raw, let offset = relationship.byteOffset else { return nil }
        object.loadRow()
        guard let number = object.row.buffer.view.link(at: offset) else { return nil }
        let entity = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
        return try self.object(number, in: entity.hierarchy, of: raw.store)
    }

    private func store(_ number: ObjectNumber?, at offset: Int, of object: CoreStoreObject) {
        object.willWrite(UInt16(offset))
        object.row.buffer.setLink(number, at: offset)
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
        if let offset = relationship.byteOffset {
            store(number, at: offset, of: object)
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
        if let offset = relationship.byteOffset {
            object.loadRow()
            guard object.row.buffer.view.link(at: offset) == number else { return }
            store(nil, at: offset, of: object)
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

    /// Takes an object out of every relationship, before it is deleted. What is deleted with it
    /// need not be told: links to what is gone lead nowhere, and go with their records.
    ///
    /// - Parameter link: a relationship that is known to lead to nothing.
    func unlink(_ object: CoreStoreObject, _ raw: RawObject, besides link: Int?) {
        for relationship in raw.kind.entity.relationships
        where relationship.inverseID != nil && relationship.deleteRule != .cascade
            && relationship.id != link
        {
            let targets = linkedObjects(of: object, raw, relationshipID: relationship.id)
            guard !targets.isEmpty else { continue }
            setLinkedObjects([], of: object, raw, relationshipID: relationship.id)
        }
    }
}
