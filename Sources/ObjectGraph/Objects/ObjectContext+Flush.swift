import RecordStore

extension ObjectContext {
    /// Hands pending changes to the record transactions, so that fetches see them.
    func flush() throws(StoreError) {
        guard role == .transaction else { return }
        try flushChanges()
        guard !deletedTargets.isEmpty else { return }
        try clearSources()
        try flushChanges()
    }

    private func flushChanges() throws(StoreError) {
        guard !unflushed.isEmpty || !unflushedDeletions.isEmpty || !links.isEmpty else { return }
        var batches: [ObjectIdentifier: (store: AttachedStore, batch: RecordBatch)] = [:]
        func withBatch(_ store: AttachedStore, _ body: (inout RecordBatch) -> Void) {
            let key = ObjectIdentifier(store)
            body(&batches[key, default: (store, RecordBatch())].batch)
        }
        for object in unflushed.values { object.isPending = false }
        for object in unflushedCreations where object.state == .inserted {
            guard let raw = object.raw else { continue }
            object.hasNoRecord = false
            withBatch(raw.store) {
                $0.insert(raw.entity, raw.id.number, row: object.row.buffer)
            }
            unflushed[raw.id] = nil
        }
        for (id, object) in unflushed.sorted(by: { $0.key.number < $1.key.number }) {
            // Without its row in memory only links were changed, which are not in the record.
            guard let raw = object.raw, object.state != .deleted, object.isRowLoaded else {
                continue
            }
            withBatch(raw.store) { $0.update(raw.entity, id.number, row: object.row.buffer) }
        }
        for object in unflushedDeletions {
            guard let raw = object.raw else { continue }
            withBatch(raw.store) { $0.delete(raw.id.number, in: raw.id.hierarchy) }
        }
        for list in links.lists.values {
            // A deleted owner's pairs go with its record.
            guard list.owner.state != .deleted, let raw = list.owner.raw else { continue }
            let targets = try remainingTargets(of: list, raw)
            withBatch(raw.store) {
                $0.setLinks(list.relationship, owner: raw.id.number, targets)
            }
        }
        unflushed = [:]
        unflushedCreations = []
        unflushedDeletions = []
        links = LinkOverlay()
        for (store, batch) in batches.values {
            do throws(StoreError) {
                try transaction(for: store).apply(batch)
            } catch {
                // A batch that is applied in part leaves trees that only a rollback mends, also
                // when the program passes over the error of its fetch.
                failure = failure ?? error
                throw error
            }
        }
    }

    /// Without an inverse nothing took the targets that were deleted out of a list.
    private func remainingTargets(
        of list: LinkOverlay.List, _ raw: RawObject
    ) throws(StoreError) -> [ObjectNumber] {
        guard list.relationship.inverseID == nil else { return list.targets }
        let reader = try reader(for: raw.store)
        let entity = reader.schema.knownEntity(tag: list.relationship.destinationTag)
        var targets: [ObjectNumber] = []
        for number in list.targets {
            let id = NSManagedObjectID(storeID: raw.store.id, entity: entity, number: number)
            if deleted[id] != nil { continue }
            let isStored = try reader.contains(number, in: entity.hierarchy)
            if inserted[id] != nil || isStored { targets.append(number) }
        }
        return targets
    }

    // MARK: Validation

    /// Throws for what may not be saved: a required value that is nil, counts of links out of
    /// their bounds, and deletions that a deny rule forbids.
    func validate() throws(CoreStoreError) {
        for object in Array(inserted.values) + Array(updated.values) { try validate(object) }
        for denial in denials {
            let rest = denial.targets.filter { deleted[$0] == nil && !forgotten.contains($0) }
            guard rest.isEmpty else {
                throw .failure(
                    .validation,
                    "an object of \(denial.object.raw?.entity.name ?? "") cannot be deleted: its "
                        + "relationship \(denial.relationship.name) denies it while it leads to "
                        + "\(rest.count) object(s)")
            }
        }
    }

    private func validate(_ object: CoreStoreObject) throws(CoreStoreError) {
        guard let raw = object.raw else { return }
        if object.isRowLoaded { try validateValues(of: object, raw) }
        try validateCounts(of: object, raw)
    }

    private func validateValues(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(CoreStoreError) {
        let row = object.row.buffer.view
        for field in raw.entity.fields where !field.isOptional {
            guard row.isNull(at: field.byteOffset) else { continue }
            throw .failure(
                .validation, "\(raw.entity.name).\(field.name) is required, and it is nil")
        }
    }

    /// Relationships are optional: a least count holds for lists that are not empty.
    private func validateCounts(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(CoreStoreError) {
        for relationship in raw.entity.relationships
        where relationship.minCount > 0 || relationship.maxCount > 0 {
            let count = linkedObjects(of: object, raw, relationshipID: relationship.id).count
            let isTooFew = count > 0 && count < relationship.minCount
            let isTooMany = relationship.maxCount > 0 && count > relationship.maxCount
            guard isTooFew || isTooMany else { continue }
            throw .failure(
                .validation,
                "\(raw.entity.name).\(relationship.name) leads to \(count) object(s); it takes "
                    + "\(relationship.minCount) to "
                    + (relationship.maxCount > 0 ? "\(relationship.maxCount)" : "any number"))
        }
    }
}
