import RecordStore

/// Changing links, and keeping both sides of each in step.
///
/// An object that is deleted keeps what it is given, on its own side only: live objects do not lead
/// to deleted ones.
extension EditingContext {
    final func key(_ relationship: RelationshipLayout, _ raw: RawObject) -> LinkOverlay.Key {
        LinkOverlay.Key(
            relationshipID: relationship.id, store: ObjectIdentifier(raw.store),
            owner: raw.number)
    }

    /// Gives a relationship exactly these targets.
    ///
    /// - Parameter isUnlinking: whether the object is being deleted, and this is part of it.
    final func link(
        _ objects: [CoreStoreObject], to object: CoreStoreObject, _ raw: RawObject,
        _ relationshipID: Int, isUnlinking: Bool = false
    ) {
        guard let relationship = relationship(relationshipID, raw),
            isUnlinking || objectsInDeletion.isEmpty || mayLink(object, raw, relationship)
        else { return }
        var seen: Set<ObjectIdentifier> = []
        let targets = objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
        for target in targets where !accepts(target, object, raw, relationship) { return }
        if relationship.isNarrowed, !inverseAllows(targets, object, raw, relationship) { return }
        let told = tellBeforeLinking(targets, object, raw, relationship)
        defer { for end in told { tell(.after, of: end.object, end.name) } }
        guard areStillThere(targets, object) else { return }
        willChange(object, .changeLinks)
        guard !hasEnded else { return }
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
    final func link(
        _ target: CoreStoreObject?, to object: CoreStoreObject, _ raw: RawObject,
        _ relationshipID: Int
    ) {
        guard let relationship = relationship(relationshipID, raw), relationship.kind == .toOne,
            objectsInDeletion.isEmpty || mayLink(object, raw, relationship)
        else { return }
        if let target, !accepts(target, object, raw, relationship) { return }
        let targets = target.map { [$0] } ?? []
        if relationship.isNarrowed, !inverseAllows(targets, object, raw, relationship) { return }
        let told = tellBeforeLinking(targets, object, raw, relationship)
        defer { for end in told { tell(.after, of: end.object, end.name) } }
        guard areStillThere(targets, object) else { return }
        willChange(object, .changeLinks)
        guard !hasEnded else { return }
        do throws(StoreError) {
            try setTarget(target, of: object, raw, relationship)
        } catch {
            fail(error, "a link could not be changed.")
        }
    }

    /// Whether the observers that were told have deleted none of the targets: a link to one would
    /// lead to no record.
    private func areStillThere(_ targets: [CoreStoreObject], _ owner: CoreStoreObject) -> Bool {
        owner.change == .deleted || !targets.contains { $0.change == .deleted }
    }

    /// Whether an object's links may change: not while it is being deleted, when observers of its
    /// links are told.
    private func mayLink(
        _ object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) -> Bool {
        guard objectsInDeletion.contains(ObjectIdentifier(object)) else { return true }
        Log.assert(
            false,
            "\(raw.entity.name).\(relationship.name) was changed during the deletion of its object")
        return false
    }

    /// Whether an object may be a target: it is of this context and store, and lives.
    private func accepts(
        _ target: CoreStoreObject, _ owner: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
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
        let isGoing =
            target.change == .deleted
            || !objectsInDeletion.isEmpty && objectsInDeletion.contains(ObjectIdentifier(target))
        guard !isGoing || owner.change == .deleted else {
            Log.assert(
                false,
                "\(raw.entity.name).\(relationship.name) was given an object that is deleted")
            return false
        }
        return true
    }

    /// Whether the inverse can lead back from each new target. Links that a file has already stay.
    private func inverseAllows(
        _ targets: [CoreStoreObject], _ owner: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) -> Bool {
        let schema = raw.store.database.schema
        let refused = targets.compactMap(\.raw).filter { target in
            !relationship.inverseAllows(owner: raw.entity, target: target.entity, in: schema)
        }
        if refused.isEmpty { return true }
        do throws(StoreError) {
            let known = Set(try linkedNumbers(of: owner, raw, relationship))
            guard let new = refused.first(where: { !known.contains($0.number) }) else {
                return true
            }
            Log.assert(
                false,
                "\(raw.entity.name).\(relationship.name) was given a \(new.entity.name), and its "
                    + "inverse does not lead from \(new.entity.name) to \(raw.entity.name)")
        } catch {
            fail(error, "links could not be read.")
        }
        return false
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
        guard old != new else {
            // As of attributes: an equal value was assigned too.
            if object.change != .deleted { object.noteAssignment(UInt16(offset)) }
            return
        }
        guard object.change != .deleted else { return store(new, at: offset, of: object) }
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
            if let former = partner.raw { try check(relationship, former) }
            take(at: offset, from: partner)
        }
        try addLink(inverse, from: target, to: object)
    }

    /// A damaged file may have a link from an object without the property.
    func check(_ relationship: RelationshipLayout, _ raw: RawObject) throws(StoreError) {
        let source = raw.store.database.schema.knownEntity(tag: relationship.sourceTag)
        guard source.includes(raw.entity.tag) else {
            throw Self.otherEntity(raw.number, source, try reader(for: raw.store))
        }
    }

    /// Tells no observer: those of both ends are told when all links of a change are made.
    private func store(_ number: ObjectNumber?, at offset: Int, of object: CoreStoreObject) {
        object.willWriteLink(UInt16(offset))
        object.row.buffer.setLink(number, at: offset)
    }

    /// Clears a link because of what became of its target: the program assigned nothing here.
    private func take(at offset: Int, from object: CoreStoreObject) {
        guard object.isOpen || object.open() else { return }
        object.row.buffer.setLink(nil, at: offset)
    }

    /// Gives a to-many exactly these targets.
    private func setTargets(
        _ targets: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) {
        let numbers = targets.compactMap { $0.raw?.number }
        guard object.change != .deleted else {
            changes.links.deletedLists[key(relationship, raw)] = numbers
            return
        }
        let schema = raw.store.database.schema
        let targetEntity = schema.knownEntity(tag: relationship.destinationTag)
        let old = try linkedNumbers(of: object, raw, relationship)
        let (had, wanted) = (Set(old), Set(numbers))
        let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
        for number in old where !wanted.contains(number) {
            guard let former = try self.object(number, in: targetEntity.hierarchy, of: raw.store)
            else { continue }
            if let inverse { try removeLink(inverse, from: former, to: object) }
            if relationship.mirrorsToOne {
                changes.links.removeMirror(key(relationship, raw), number)
            }
        }
        for target in targets {
            guard let number = target.raw?.number, !had.contains(number) else { continue }
            try attach(target, to: object, relationship, inverse)
            if relationship.mirrorsToOne { changes.links.addMirror(key(relationship, raw), number) }
        }
        if relationship.hasEdges {
            changes.links.lists[key(relationship, raw)] = LinkOverlay.List(
                owner: object, relationship: relationship, targets: LinkTargets(numbers))
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
            willChange(object, .changeLinks)
            changes.links.addMirror(key(relationship, raw), number)
        } else {
            try editList(relationship, of: object, raw) { $0.append(number) }
        }
    }

    /// Removes one link from one side; the other side is the caller's.
    private func removeLink(
        _ relationship: RelationshipLayout, from object: CoreStoreObject,
        to target: CoreStoreObject
    ) throws(StoreError) {
        guard let raw = object.raw, let number = target.raw?.number else { return }
        if let offset = relationship.byteOffset {
            try check(relationship, raw)
            object.loadRow()
            guard object.row.buffer.view.link(at: offset) == number else { return }
            take(at: offset, from: object)
        } else if relationship.mirrorsToOne {
            willChange(object, .changeLinks)
            changes.links.removeMirror(key(relationship, raw), number)
        } else {
            try editList(relationship, of: object, raw) { $0.remove(number) }
        }
    }

    /// Puts a target of an object's list in the place of another.
    final func replace(
        _ former: CoreStoreObject, by target: CoreStoreObject, in list: RelationshipLayout,
        of object: CoreStoreObject
    ) throws(StoreError) {
        guard list.hasEdges, let raw = object.raw, let old = former.raw?.number,
            let new = target.raw?.number
        else { return }
        try editList(list, of: object, raw) { $0.replace(old, by: new) }
    }

    private func editList(
        _ relationship: RelationshipLayout, of object: CoreStoreObject, _ raw: RawObject,
        _ edit: (inout LinkTargets) -> Void
    ) throws(StoreError) {
        let key = key(relationship, raw)
        // Edited in its place: a copy for each link would be as long as the list.
        var list = LinkOverlay.List(
            owner: object, relationship: relationship, targets: LinkTargets([]))
        if object.change == .deleted || changes.links.lists[key] == nil {
            list.targets = LinkTargets(try linkedNumbers(of: object, raw, relationship))
            changes.links.lists[key] = list
        }
        willChange(object, .changeLinks)
        edit(&changes.links.lists[key, default: list].targets)
    }

    /// Removes an object from every relationship, before it is deleted. Objects that are deleted
    /// with it are left alone: links to deleted objects lead nowhere, and go with their records.
    ///
    /// - Parameter link: a relationship that is known to lead to nothing.
    final func unlink(_ object: CoreStoreObject, _ raw: RawObject, besides link: Int?) {
        for relationship in raw.kind.entity.relationships
        where relationship.inverseID != nil && relationship.deleteRule != .cascade
            && relationship.id != link
        {
            let targets = linkedObjects(of: object, raw, relationshipID: relationship.id)
            guard !targets.isEmpty else { continue }
            self.link([], to: object, raw, relationship.id, isUnlinking: true)
        }
    }
}
