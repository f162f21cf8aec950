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
        guard !pending.isEmpty || !unflushedDeletions.isEmpty || !links.isEmpty else { return }
        measurePending()
        defer {
            measuredCount = 0
            pending.removeAll(keepingCapacity: true)
            unflushedDeletions = []
            links = LinkOverlay()
        }
        do throws(StoreError) {
            for store in openStores {
                let batch = try batch(for: store)
                try transaction(for: store).apply(batch)
                batch.leave(in: &batchMemory)
            }
        } catch {
            // A batch that is applied in part leaves trees that only a rollback mends, also
            // when the program passes over the error of its fetch.
            failure = failure ?? error
            throw error
        }
    }

    /// The rows are lent: `pending` keeps their objects, and nothing touches them, until the
    /// batch has been applied.
    private func batch(for store: AttachedStore) throws(StoreError) -> RecordBatch {
        var batch = RecordBatch(in: &batchMemory)
        for object in pending where object.isPending {
            guard let raw = object.raw, raw.kind.store === store else { continue }
            let isWritten = object.isWritten
            object.isPending = false
            object.isOpen = false
            object.isWritten = false
            object.isFlushed = true
            if !object.isRecorded {
                object.isRecorded = true
                batch.insert(
                    raw.kind.entity, raw.number, row: object.row.buffer, isLent: true)
            } else if isWritten {
                batch.update(raw.kind.entity, raw.number, row: object.row.buffer, isLent: true)
            }
        }
        addDeletions(to: &batch, for: store)
        batch.sort()
        for list in links.lists.values {
            // A deleted owner's pairs go with its record.
            guard list.owner.state != .deleted, let raw = list.owner.raw, raw.store === store
            else { continue }
            batch.setLinks(
                list.relationship, owner: raw.number, try remainingTargets(of: list, raw))
        }
        return batch
    }

    private func addDeletions(to batch: inout RecordBatch, for store: AttachedStore) {
        for object in unflushedDeletions {
            guard let raw = object.raw, raw.kind.store === store else { continue }
            let other = replacements.isEmpty ? nil : replacements[raw.name]
            batch.delete(raw.number, in: raw.kind.entity.hierarchy, replacement: other)
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
            let known = registered(number, in: entity.hierarchy, of: raw.store)
            if known?.state == .deleted { continue }
            let isStored = try reader.contains(number, in: entity.hierarchy)
            if known?.state == .inserted || isStored { targets.append(number) }
        }
        return targets
    }

    // MARK: Validation

    /// Throws for what may not be saved: a required value that is nil, counts of links out of
    /// their bounds, and deletions that a deny rule forbids.
    func validate() throws(CoreStoreError) {
        for object in created where object.state == .inserted { try validate(object) }
        for object in touched where object.state == .updated { try validate(object) }
        try validateReleasedCounts()
        for denial in denials {
            let rest = denial.targets.filter { $0.state != .deleted }
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
        if raw.kind.entity.hasLinkBounds { try validateCounts(of: object, raw) }
    }

    /// Others' changes may have shortened the lists of objects that were let go.
    private func validateReleasedCounts() throws(CoreStoreError) {
        let hasBounds = openStores.contains { store in
            store.database.schema.entities.contains(where: \.hasLinkBounds)
        }
        guard hasBounds else { return }
        for state in [CoreStoreObject.State.inserted, .updated] {
            try forEachChanged(state) { name throws(CoreStoreError) in
                let entity = name.access.store.database.schema.knownEntity(tag: name.tag)
                guard entity.hasLinkBounds else { return }
                let found: CoreStoreObject?
                do throws(StoreError) {
                    found = try object(name.number, in: entity.hierarchy, of: name.access.store)
                } catch {
                    throw CoreStoreError(error)
                }
                guard let found, let raw = found.raw, !found.isListed else { return }
                try validateCounts(of: found, raw)
            }
        }
    }

    private func validateValues(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(CoreStoreError) {
        let row = object.row.buffer.view
        for offset in raw.kind.entity.requiredOffsets where row.isNull(at: offset) {
            let field = raw.entity.fields.first { $0.byteOffset == offset }
            throw .failure(
                .validation,
                "\(raw.entity.name).\(field?.name ?? "") is required, and it is nil")
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
