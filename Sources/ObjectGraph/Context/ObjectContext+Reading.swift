import RecordStore

/// From rows to objects.
extension ObjectContext {
    /// The object of a lent row: the one that there is, or a new one of the row's real class.
    final func object(
        _ number: ObjectNumber, row: RowView, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject {
        let known = access.kind(row.entityTag, in: self).objects.object(number)
        return try object(number, row: row, known, access)
    }

    /// The object of a lent row, for a caller that has looked for a known one.
    private func object(
        _ number: ObjectNumber, row: RowView, _ known: CoreStoreObject?, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject {
        let kind = access.kind(row.entityTag, in: self)
        if known == nil, let shared = kind.shared {
            return try shared.share(number, row, kind, access.reader)
        }
        let object = known ?? make(number, kind)
        if !madeUpRows.isEmpty { forgetMadeUpRow(of: object) }
        if object.row.buffer.isEmpty {
            guard object.raw?.kind === kind else {
                throw Self.otherEntity(number, kind.entity, access.reader)
            }
            object.row = FieldRow(try access.reader.ownedCopy(of: row, kind.entity))
        }
        return object
    }

    /// The object of a number in a hierarchy; nil when its row is gone.
    final func object(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore
    ) throws(StoreError) -> CoreStoreObject? {
        try object(number, in: hierarchy, try access(to: store))
    }

    final func object(
        _ number: ObjectNumber, in hierarchy: HierarchyID, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject? {
        let known = access.registered(number, in: hierarchy)
        if let known {
            if known.change == .deleted { return nil }
            if !needsRow(known) { return known }
        }
        return try access.reader.withRow(number, in: hierarchy) { row throws(StoreError) in
            try self.object(number, row: row, known, access)
        }
    }

    /// The objects of these numbers; those whose rows are gone are left out. Rows that lie together
    /// are found together.
    final func objects(
        _ numbers: [ObjectNumber], in hierarchy: HierarchyID, of store: AttachedStore
    ) throws(StoreError) -> [CoreStoreObject] {
        guard !numbers.isEmpty else { return [] }
        let access = try access(to: store)
        var found: [CoreStoreObject] = []
        found.reserveCapacity(numbers.count)
        var rows = access.reader.rowSeek(hierarchy)
        let step = allowsChanges ? 1 : RowSeek.countMax
        for start in stride(from: 0, to: numbers.count, by: step) {
            let count = min(step, numbers.count - start)
            for position in 0..<count {
                let number = numbers[start + position]
                if needsRow(access.registered(number, in: hierarchy)) {
                    try rows.seek(number, at: position)
                }
            }
            rows.findAll()
            for position in 0..<count {
                let number = numbers[start + position]
                let known = access.registered(number, in: hierarchy)
                if let known, !needsRow(known) {
                    if known.change != .deleted { found.append(known) }
                    continue
                }
                let object = try rows.withRow(number, at: position) { row throws(StoreError) in
                    try self.object(number, row: row, known, access)
                }
                if let object { found.append(object) }
            }
        }
        return found
    }

    /// An object that the context does not know, for a row that is gone or cannot be read. Values
    /// assigned to it reach no store.
    final func objectWithoutRow(_ raw: RawObject) -> CoreStoreObject {
        raw.kind.shared?.beginUse()
        let object = raw.kind.newObject(raw.number)
        if raw.kind.shared != nil { object.row = FieldRow(raw.entity.emptyRow()) }
        if allowsChanges && !hasEnded { object.apply(.delete) }
        return object
    }

    private func needsRow(_ object: CoreStoreObject?) -> Bool {
        guard let object else { return true }
        guard object.change != .deleted else { return false }
        return !object.isRowLoaded || !madeUpRows.isEmpty && isMadeUp(object)
    }

    /// The row of an object that has none in memory. One that is gone, or cannot be read, gives
    /// the defaults: the fault is logged, and reading never ends the program.
    final func loadedRow(of object: CoreStoreObject, _ raw: RawObject) -> RowBuffer {
        do throws(StoreError) {
            if let row = try readRow(of: object, raw) {
                if !madeUpRows.isEmpty { madeUpRows[raw.name] = nil }
                return row
            }
        } catch {
            // Values made up from defaults must not be saved over the stored ones, and are there
            // for others to read also when this caller is told.
            _ = FaultTrap.take(CoreStoreError(error), of: self)
            fail(error, "an object's row could not be read.")
            madeUpRows[raw.name] = error
        }
        return raw.entity.emptyRow()
    }

    /// The row of an object as it is now; nil when it is gone.
    final func readRow(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(StoreError) -> RowBuffer? {
        if let row = try currentRow(of: object, raw) { return try checked(row, raw) }
        if hasEnded {
            throw StoreError(.notFound, "it was deleted before any value of it was read")
        }
        return nil
    }

    /// Has an object without changes read its row again: at the next access, or at once where that
    /// might be too late. Values that cannot be read again stay.
    final func refreshStored(_ object: CoreStoreObject, _ raw: RawObject) {
        // A removed storage cannot be read again.
        if raw.store.isDetached { return }
        guard hasEnded else { return forgetRow(of: object) }
        do throws(StoreError) {
            guard let row = try currentRow(of: object, raw) else { return }
            let fresh = try checked(row, raw)
            forgetRow(of: object)
            object.row = FieldRow(fresh)
        } catch {
            report(error, "an object could not be refreshed.")
        }
    }

    private func currentRow(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(StoreError) -> RowBuffer? {
        guard hasEnded else { return try storedRow(of: object, raw) }
        // An object that outlives its transaction may never have needed its row before.
        return try raw.store.database.snapshot().row(raw.number, in: raw.entity.hierarchy)
    }

    /// Checks the entity of a record. In a damaged file the link to the object may name another
    /// entity than its record; the properties would then be read from wrong offsets.
    private func checked(_ row: RowBuffer, _ raw: RawObject) throws(StoreError) -> RowBuffer {
        guard row.view.entityTag == raw.entity.tag else {
            row.deallocate()
            throw Self.otherEntity(raw.number, raw.entity, try reader(for: raw.store))
        }
        return row
    }

    static func otherEntity(
        _ number: ObjectNumber, _ entity: EntityLayout, _ reader: RecordReader
    ) -> StoreError {
        .corrupt(
            reader.page(of: number, in: entity.hierarchy),
            "a record is of another entity than the object that it is read for")
    }
}
