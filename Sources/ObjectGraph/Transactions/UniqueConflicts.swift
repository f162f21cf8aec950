import RecordStore

/// Resolves conflicts of unique constraints before a commit, by the policy of each constraint. By
/// default what the transaction assigned wins property by property, and the object that was there
/// first keeps its identity.
final class UniqueConflicts {
    private let context: TransactionContext
    /// The conflicts that are errors.
    private(set) var violations: [Violation] = []

    init(_ context: TransactionContext) { self.context = context }

    func resolve() throws(StoreError) {
        try context.flush()
        // A merge assigns properties, which may meet other constraints.
        while try resolveCandidates() {}
    }

    /// The record transaction noticed, while it applied what changed in key order, whose keys met;
    /// all others cannot be in conflict. False when there were none.
    private func resolveCandidates() throws(StoreError) -> Bool {
        var hasFound = false
        for store in context.accesses.map(\.store) {
            guard let transaction = context.openTransaction(for: store) else { continue }
            for (hierarchy, numbers) in transaction.takeConflictCandidates() {
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
        guard let raw = object.raw, object.change != .deleted else { return }
        let transaction = try context.transaction(for: raw.store)
        for constraint in raw.entity.uniqueIndexes {
            guard touches(constraint, object) else { continue }
            while object.change != .deleted,
                let number = try transaction.otherNumber(
                    matching: constraint, row: object.row.buffer.view, besides: raw.number)
            {
                guard
                    let other = try context.object(
                        number, in: raw.entity.hierarchy, of: raw.store)
                else { break }
                guard try resolve(object, other, constraint) else { break }
                try context.flush()
            }
        }
    }

    /// An update that assigned none of the columns cannot have made a conflict.
    private func touches(_ constraint: IndexLayout, _ object: CoreStoreObject) -> Bool {
        object.change.kind == .inserted
            || constraint.columns.contains { isAssigned($0, of: object) }
    }

    /// Resolves one conflict by the constraint's policy. False where it stays, as an error.
    private func resolve(
        _ object: CoreStoreObject, _ other: CoreStoreObject, _ constraint: IndexLayout
    ) throws(StoreError) -> Bool {
        guard let raw = object.raw else { return false }
        switch raw.store.conflictPolicy(of: constraint) {
        case .transactionWins: try merge(object, other, constraint)
        case .storeWins:
            let (stored, changed) = ranked(object, other, constraint)
            try moveLinks(from: changed, to: stored, keepsOwn: true)
            if let loser = changed.raw, let survivor = stored.raw {
                context.changes.replace(loser, by: survivor.number)
            }
            note(changed, replacedBy: stored, constraint)
            try context.delete(changed, sparing: stored)
        case .replace:
            let (stored, changed) = ranked(object, other, constraint)
            note(stored, replacedBy: changed, constraint)
            try context.delete(stored, sparing: changed)
        case .error:
            violations.append(
                Violation(
                    .unique, raw, constraint.columns.map(\.name),
                    "has the same values as \(other.objectID())"))
            return false
        }
        return true
    }

    /// The stored one of two, and the one that the transaction gave its values; of two of the same
    /// kind the older one first.
    private func ranked(
        _ first: CoreStoreObject, _ second: CoreStoreObject, _ constraint: IndexLayout
    ) -> (stored: CoreStoreObject, changed: CoreStoreObject) {
        func rank(_ object: CoreStoreObject) -> (Int, UInt64) {
            let isInserted = object.change.kind == .inserted
            let kind = isInserted ? 2 : touches(constraint, object) ? 1 : 0
            return (kind, object.raw?.number.rawValue ?? 0)
        }
        return rank(first) < rank(second) ? (first, second) : (second, first)
    }

    /// The one that the store had with these values stays, else the older one. What the transaction
    /// assigned to the other one wins.
    private func merge(
        _ first: CoreStoreObject, _ second: CoreStoreObject, _ constraint: IndexLayout
    ) throws(StoreError) {
        let (kept, dropped) = ranked(first, second, constraint)
        try moveLinks(from: dropped, to: kept)
        copyAssigned(from: dropped, to: kept)
        if let loser = dropped.raw, let survivor = kept.raw {
            context.changes.replace(loser, by: survivor.number)
        }
        note(dropped, replacedBy: kept, constraint)
        try context.delete(dropped, sparing: kept)
    }

    private func note(
        _ loser: CoreStoreObject, replacedBy survivor: CoreStoreObject, _ constraint: IndexLayout
    ) {
        context.noteReplacement(of: loser, by: survivor, constraint.columns.map(\.name))
    }

    private func isAssigned(_ field: FieldLayout, of object: CoreStoreObject) -> Bool {
        guard object.assigned & CoreStoreObject.bit(field) != 0 else { return false }
        guard CoreStoreObject.bit(field) == CoreStoreObject.farBit else { return true }
        guard let raw = object.raw else { return false }
        return context.changes.isAssignedFar(raw, field.byteOffset)
    }

    private func copyAssigned(from source: CoreStoreObject, to target: CoreStoreObject) {
        guard let raw = target.raw else { return }
        target.loadRow()
        for field in raw.entity.fields where isAssigned(field, of: source) {
            // One of two subentities may have another type under this name.
            guard case .attribute = field.content, let own = source.storedField(field.name),
                own.byteOffset == field.byteOffset, own.content == field.content
            else { continue }
            target.willWrite(UInt16(field.byteOffset))
            target.row.buffer.setValue(source.row.buffer.view.value(field), field)
            target.didWrite(UInt16(field.byteOffset))
        }
    }

    /// The to-one relationships that the transaction assigned no target.
    private func clearedLinks(of object: CoreStoreObject, _ raw: RawObject) -> Set<Int> {
        object.loadRow()
        let cleared = raw.entity.relationships.filter { relationship in
            guard let field = relationship.field, isAssigned(field, of: object) else {
                return false
            }
            return object.row.buffer.view.link(at: field.byteOffset) == nil
        }
        return Set(cleared.map(\.id))
    }

    /// Links that the dropped object has lead from, and to, the kept one, as far as it can have
    /// them, in the places of lists where the dropped one is. A to-one link that the kept one has
    /// stays, unless the transaction assigned the dropped one's, if only no target.
    ///
    /// - Parameter keepsOwn: whether it stays in any case.
    private func moveLinks(
        from source: CoreStoreObject, to target: CoreStoreObject, keepsOwn: Bool = false
    ) throws(StoreError) {
        guard let from = source.raw, let to = target.raw else { return }
        let cleared = keepsOwn ? [] : clearedLinks(of: source, from)
        // Links between the two say nothing of the one that stays.
        context.unlink(target, from: source, from)
        context.unlink(source, from: target, to)
        let schema = to.store.database.schema
        for relationship in from.entity.relationships {
            let linked = context.linkedObjects(of: source, from, relationshipID: relationship.id)
            // One of two subentities may have another relationship of this name.
            guard to.entity.relationship(named: relationship.name) == relationship else {
                continue
            }
            let movable = linked.filter { other in
                other.raw.map {
                    relationship.inverseAllows(owner: to.entity, target: $0.entity, in: schema)
                } ?? false
            }
            guard !movable.isEmpty else {
                if cleared.contains(relationship.id) {
                    context.setLinkedObjects([], of: target, to, relationshipID: relationship.id)
                }
                continue
            }
            let own = context.linkedObjects(of: target, to, relationshipID: relationship.id)
            var merged = own + movable
            if relationship.kind == .toOne {
                // Asked before the link is taken from it.
                let wins = relationship.field.map { isAssigned($0, of: source) } ?? false
                if !own.isEmpty && (keepsOwn || !wins) {
                    // A cascade deletes what only the dropped one leads to, with it.
                    if relationship.deleteRule != .cascade || own.first === movable.first {
                        context.setLinkedObjects(
                            [], of: source, from, relationshipID: relationship.id)
                    }
                    continue
                }
                merged = movable
            }
            if let inverse = relationship.inverseID.map({ schema.relationship(id: $0) }),
                inverse.kind == .toManyOrdered
            {
                for other in movable where other !== source {
                    try context.replace(source, by: target, in: inverse, of: other)
                }
            }
            context.setLinkedObjects([], of: source, from, relationshipID: relationship.id)
            context.setLinkedObjects(merged, of: target, to, relationshipID: relationship.id)
        }
    }
}
