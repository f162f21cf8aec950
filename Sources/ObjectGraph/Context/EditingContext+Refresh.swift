import RecordStore

extension EditingContext {
    /// Has an object read its row again. Changes that are kept stay on top; others are reverted,
    /// also those that are flushed and those of links.
    final func refreshEdited(_ object: CoreStoreObject, keepsChanges: Bool) {
        guard let raw = object.raw else { return }
        switch object.change.kind {
        case .inserted, .deleted: return
        case .stored:
            // A reverted row still has to be written.
            if object.change == .stored { refreshStored(object, raw) }
        case .updated:
            guard !keepsChanges, !hasEnded else { return }
            do throws(StoreError) {
                try revert(object, raw)
            } catch {
                fail(error, "the changes of an object could not be reverted.")
            }
        }
    }

    private func revert(_ object: CoreStoreObject, _ raw: RawObject) throws(StoreError) {
        object.transients?.remove(object)
        let committed = try readerBefore(for: raw.store)
        let (haveLinksChanged, isWhole) = try restoreLinks(of: object, raw, committed)
        // Observers of the links may have deleted it.
        guard object.change.kind == .updated else { return }
        // A link that stays cleared, to an object deleted meanwhile, is a change.
        guard object.change.isUpdateFlushed || haveLinksChanged else {
            forgetRow(of: object)
            object.apply(isWhole ? .discard : .discardValues)
            return forgetChanges(of: object, raw, isWhole)
        }
        guard let row = try committed.row(raw.number, in: raw.entity.hierarchy) else { return }
        defer { row.deallocate() }
        if !object.isOpen { object.open() }
        for field in raw.entity.fields {
            guard case .attribute = field.content else { continue }
            object.row.buffer.setValue(row.view.value(field), field)
        }
        if isWhole { object.apply(.revert) }
        forgetChanges(of: object, raw, isWhole)
    }

    private func forgetChanges(of object: CoreStoreObject, _ raw: RawObject, _ isWhole: Bool) {
        changes.forgetAssigned(object, raw)
        if isWhole { raw.kind.evicted?.forget(raw.number) }
    }

    /// Whether an object is new, or has values or links that are not those that were committed.
    final func hasChangedValues(_ object: CoreStoreObject) throws(StoreError) -> Bool {
        guard object.change.kind == .updated, let raw = object.raw else {
            return object.change.kind == .inserted
        }
        let committed = try readerBefore(for: raw.store)
        guard let row = try committed.row(raw.number, in: raw.entity.hierarchy) else { return true }
        defer { row.deallocate() }
        object.loadRow()
        for field in raw.entity.fields
        where object.row.buffer.view.value(field) != row.view.value(field) {
            return true
        }
        // To-one links are fields.
        for relationship in raw.entity.relationships where relationship.kind != .toOne {
            let now = try linkedNumbers(of: object, raw, relationship)
            let before = try committed.linkedNumbers(relationship, of: raw.number)
            if !isSame(now, before, relationship) { return true }
        }
        return false
    }

    /// Without an order of its own, a list has that of its changes until it is flushed.
    private func isSame(
        _ now: [ObjectNumber], _ before: [ObjectNumber], _ relationship: RelationshipLayout
    ) -> Bool {
        relationship.kind == .toManyOrdered ? now == before : Set(now) == Set(before)
    }

    /// Whether any link was another one than what was committed, and whether all are that again.
    private func restoreLinks(
        of object: CoreStoreObject, _ raw: RawObject, _ committed: RecordReader
    ) throws(StoreError) -> (haveChanged: Bool, isWhole: Bool) {
        var haveChanged = false
        var isWhole = true
        // An observer may delete the object, which keeps its last values then.
        for relationship in raw.entity.relationships where object.change != .deleted {
            let now = try linkedNumbers(of: object, raw, relationship)
            let before = try committed.linkedNumbers(relationship, of: raw.number)
            // A deleted object is removed from links without an inverse when changes are passed
            // on.
            if relationship.inverseID == nil, try hasDeleted(before, relationship, raw) {
                isWhole = false
            }
            guard !isSame(now, before, relationship) else { continue }
            haveChanged = true
            let schema = raw.store.database.schema
            let entity = schema.knownEntity(tag: relationship.destinationTag)
            var targets: [CoreStoreObject] = []
            for number in before {
                let target = try self.object(number, in: entity.hierarchy, of: raw.store)
                if let target { targets.append(target) }
            }
            if targets.count < before.count { isWhole = false }
            setLinkedObjects(targets, of: object, raw, relationshipID: relationship.id)
        }
        return (haveChanged, isWhole)
    }

    private func hasDeleted(
        _ targets: [ObjectNumber], _ relationship: RelationshipLayout, _ raw: RawObject
    ) throws(StoreError) -> Bool {
        let reader = try reader(for: raw.store)
        let entity = reader.schema.knownEntity(tag: relationship.destinationTag)
        for number in targets {
            if let known = registered(number, in: entity.hierarchy, of: raw.store) {
                if known.change == .deleted { return true }
            } else if try !reader.contains(number, in: entity.hierarchy) {
                return true
            }
        }
        return false
    }
}
