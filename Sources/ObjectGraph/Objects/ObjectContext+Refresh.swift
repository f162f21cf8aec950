import RecordStore

extension ObjectContext {
    /// Has an object read its row again. In a transaction, changes that are kept stay on top, and
    /// others are taken back, also those that the record transaction has and those of links.
    func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {
        guard object.state != .inserted, object.state != .deleted, let raw = object.raw else {
            return
        }
        guard object.state == .updated else {
            forgetRow(of: object)
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
        let committed = try raw.store.database.snapshot()
        let haveLinksChanged = try restoreLinks(of: object, raw, committed)
        guard object.isFlushed || haveLinksChanged else {
            forgetRow(of: object)
            object.assigned = 0
            farAssigned[ObjectIdentifier(object)] = nil
            object.isPending = false
            object.isOpen = false
            object.state = .stored
            return
        }
        guard let row = try committed.row(raw.number, in: raw.entity.hierarchy) else { return }
        defer { row.deallocate() }
        for field in raw.entity.fields {
            guard case .attribute = field.content else { continue }
            object.willWrite(UInt16(field.byteOffset))
            object.row.buffer.setValue(row.view.value(field), field)
        }
    }

    /// Whether any link was another one than what was committed.
    private func restoreLinks(
        of object: CoreStoreObject, _ raw: RawObject, _ committed: RecordReader
    ) throws(StoreError) -> Bool {
        var haveChanged = false
        for relationship in raw.entity.relationships {
            let now = try linkedNumbers(of: object, raw, relationship)
            let before = try committed.linkedNumbers(relationship, of: raw.number)
            guard now != before else { continue }
            haveChanged = true
            let schema = raw.store.database.schema
            let entity = schema.knownEntity(tag: relationship.destinationTag)
            var targets: [CoreStoreObject] = []
            for number in before {
                let target = try self.object(number, in: entity.hierarchy, of: raw.store)
                if let target { targets.append(target) }
            }
            setLinkedObjects(targets, of: object, raw, relationshipID: relationship.id)
        }
        return haveChanged
    }
}
