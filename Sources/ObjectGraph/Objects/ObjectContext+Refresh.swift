import RecordStore

extension ObjectContext {
    /// Has an object read its row again. In a transaction, changes that are kept stay on top, and
    /// others are taken back, also those that the record transaction has and those of links.
    func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {
        guard object.state != .inserted, object.state != .deleted, let raw = object.raw else {
            return
        }
        guard object.state == .updated else {
            // What was taken back may still have to be written.
            if !object.isPending { forgetRow(of: object) }
            return
        }
        guard !keepsChanges, !hasEnded else { return }
        do throws(StoreError) {
            try takeBack(object, raw)
        } catch {
            fail(error, "the changes of an object could not be taken back.")
        }
    }

    private func takeBack(_ object: CoreStoreObject, _ raw: RawObject) throws(StoreError) {
        let committed = try readerBefore(for: raw.store)
        let (haveLinksChanged, isWhole) = try restoreLinks(of: object, raw, committed)
        if object.isFlushed || haveLinksChanged {
            guard let row = try committed.row(raw.number, in: raw.entity.hierarchy) else { return }
            defer { row.deallocate() }
            for field in raw.entity.fields {
                guard case .attribute = field.content else { continue }
                object.willWrite(UInt16(field.byteOffset))
                object.row.buffer.setValue(row.view.value(field), field)
            }
        } else {
            forgetRow(of: object)
            object.isPending = false
            object.isWritten = false
        }
        // What the record transaction has is still to be overwritten, but nobody shall take that
        // for a change.
        object.assigned = 0
        farAssigned[raw.name] = nil
        object.isOpen = false
        // A link to an object that was deleted meanwhile stays cleared, which is a change.
        guard isWhole else { return }
        object.state = .stored
        raw.kind.released.forget(raw.number)
    }

    /// Whether an object is new, or has values or links that are not those that were committed.
    func hasChangedValues(_ object: CoreStoreObject) throws(StoreError) -> Bool {
        guard object.state == .updated, let raw = object.raw else {
            return object.state == .inserted
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
        for relationship in raw.entity.relationships {
            let now = try linkedNumbers(of: object, raw, relationship)
            let before = try committed.linkedNumbers(relationship, of: raw.number)
            // What was deleted leaves a link without an inverse when changes are handed on.
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
                if known.state == .deleted { return true }
            } else if try !reader.contains(number, in: entity.hierarchy) {
                return true
            }
        }
        return false
    }
}
