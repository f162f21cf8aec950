import RecordStore

/// Resolves conflicts of unique constraints before a commit: what the transaction assigned wins
/// property by property, and the object that was there first keeps its identity.
struct UniqueConflicts {
    private let context: ObjectContext

    init(_ context: ObjectContext) { self.context = context }

    func resolve() throws(StoreError) {
        try context.flush()
        // A merge assigns properties, which may meet other constraints.
        while try resolveSharers() {}
    }

    /// The record transaction noticed, while it applied what changed in key order, whose keys met;
    /// all others cannot be in conflict. False when there were none.
    private func resolveSharers() throws(StoreError) -> Bool {
        var hasFound = false
        for store in context.openStores {
            for (hierarchy, numbers) in try context.transaction(for: store).takeSharers() {
                hasFound = true
                // Later objects win, so they are asked last.
                for number in try conflicting(numbers, hierarchy, store).sorted() {
                    let object = try context.object(number, in: hierarchy, of: store)
                    if let object { try resolve(object) }
                    try context.makeRoom()
                }
            }
        }
        return hasFound
    }

    /// All objects that share a key now, given one of each group. Which one noticed the others
    /// depends on when the transaction's parts were applied, and the outcome must not.
    private func conflicting(
        _ numbers: [ObjectNumber], _ hierarchy: HierarchyID, _ store: AttachedStore
    ) throws(StoreError) -> Set<ObjectNumber> {
        let transaction = try context.transaction(for: store)
        var found: Set<ObjectNumber> = []
        // By the constraint's number: a group is listed once, however many of it were noticed.
        var listed: [Int: Set<ObjectNumber>] = [:]
        for number in numbers {
            guard let object = try context.object(number, in: hierarchy, of: store),
                let entity = object.raw?.entity
            else { continue }
            for constraint in entity.uniqueIndexes
            where listed[constraint.id]?.contains(number) != true {
                var group: [ObjectNumber] = []
                try transaction.forEachNumber(
                    matching: constraint, row: object.row.buffer.view
                ) { number in
                    group.append(number)
                    return true
                }
                guard group.count > 1 else { continue }
                listed[constraint.id, default: []].formUnion(group)
                found.formUnion(group)
            }
        }
        return found
    }

    private func resolve(_ object: CoreStoreObject) throws(StoreError) {
        guard let raw = object.raw, object.state != .deleted else { return }
        let transaction = try context.transaction(for: raw.store)
        for constraint in raw.entity.uniqueIndexes {
            guard touches(constraint, object) else { continue }
            while object.state != .deleted,
                let number = try transaction.otherNumber(
                    matching: constraint, row: object.row.buffer.view, besides: raw.number)
            {
                guard
                    let other = try context.object(
                        number, in: raw.entity.hierarchy, of: raw.store)
                else { break }
                try merge(object, other)
                try context.flush()
            }
        }
    }

    /// An update that assigned none of the columns cannot have made a conflict.
    private func touches(_ constraint: IndexLayout, _ object: CoreStoreObject) -> Bool {
        object.state == .inserted
            || constraint.columns.contains { object.assigned & Self.bit($0) != 0 }
    }

    private static func bit(_ field: FieldLayout) -> UInt64 {
        1 << UInt64(min(field.byteOffset / RowLayout.wordSize - 2, 63))
    }

    /// The one that the store had stays, else the older one; the newer values win.
    private func merge(_ first: CoreStoreObject, _ second: CoreStoreObject) throws(StoreError) {
        guard let a = first.raw, let b = second.raw else { return }
        let keepsSecond =
            (first.state == .inserted) != (second.state == .inserted)
            ? first.state == .inserted : b.number < a.number
        let (kept, dropped) = keepsSecond ? (second, first) : (first, second)
        let droppedWins = dropped.state == .inserted || kept.assigned == 0
        try moveLinks(from: dropped, to: kept)
        if droppedWins { copyAssigned(from: dropped, to: kept) }
        if let name = dropped.raw?.name { context.replacements[name] = kept.raw?.number }
        try context.delete(dropped)
    }

    private func isAssigned(_ field: FieldLayout, of object: CoreStoreObject) -> Bool {
        guard object.assigned & Self.bit(field) != 0 else { return false }
        guard Self.bit(field) == CoreStoreObject.farBit else { return true }
        guard let name = object.raw?.name else { return false }
        return context.farAssigned[name]?.contains(UInt16(field.byteOffset)) == true
    }

    private func copyAssigned(from source: CoreStoreObject, to target: CoreStoreObject) {
        guard let raw = target.raw else { return }
        target.loadRow()
        for field in raw.entity.fields where isAssigned(field, of: source) {
            guard case .attribute = field.content,
                source.storedField(field.name)?.byteOffset == field.byteOffset
            else { continue }
            target.willWrite(UInt16(field.byteOffset))
            target.row.buffer.setValue(source.row.buffer.view.value(field), field)
        }
    }

    /// Links that the dropped object has lead from, and to, the kept one.
    private func moveLinks(
        from source: CoreStoreObject, to target: CoreStoreObject
    ) throws(StoreError) {
        guard let from = source.raw, let to = target.raw else { return }
        for relationship in from.entity.relationships {
            let linked = context.linkedObjects(of: source, from, relationshipID: relationship.id)
            guard !linked.isEmpty, to.entity.relationship(named: relationship.name) != nil else {
                continue
            }
            context.setLinkedObjects([], of: source, from, relationshipID: relationship.id)
            var merged = linked
            if relationship.kind != .toOne {
                merged =
                    context.linkedObjects(of: target, to, relationshipID: relationship.id)
                    + linked
            }
            context.setLinkedObjects(merged, of: target, to, relationshipID: relationship.id)
        }
    }
}
