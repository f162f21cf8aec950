import PageStore

/// A reader of one commit; many threads may use it.
package final class RecordSnapshot: RecordReader, @unchecked Sendable {
    package let commitNumber: UInt64

    init(schema: Schema, snapshot: Snapshot, catalog: Catalog, trees: TreeTable) {
        commitNumber = snapshot.commitNumber
        super.init(schema: schema, view: snapshot, catalog: catalog, trees: trees)
    }
}

/// The one transaction that changes records; reads see its own changes.
package final class RecordTransaction: RecordReader {
    let editor: WriteTransaction
    /// The numbers given out last, and those that the store knows, by the tag of the hierarchy's
    /// root; nil until the first is asked for.
    private var numbers: [(last: UInt64, stored: UInt64)?]
    private var countChanges: [UInt16: Int] = [:]
    /// By how much the counts of entities are other than they were at the beginning, by tag.
    private var savedChanges: [UInt16: Int] = [:]
    /// What ``wasThere(_:of:)`` found, by tag: the last of the numbers of which none is missing.
    private var lastOfAll: [UInt64?]
    private var sharers: [HierarchyID: Set<ObjectNumber>] = [:]
    /// Of the last batch, for the next one.
    private var plans: EntityPlans?

    init(schema: Schema, editor: WriteTransaction, catalog: Catalog, trees: TreeTable) {
        self.editor = editor
        numbers = Array(repeating: nil, count: schema.entities.count + 1)
        lastOfAll = Array(repeating: nil, count: schema.entities.count + 1)
        super.init(schema: schema, view: editor, catalog: catalog, trees: trees)
    }

    /// A number that no object of the hierarchy ever had. One that is not used is given again
    /// after a rollback only.
    package func allocateNumber(in hierarchy: HierarchyID) throws(StoreError) -> ObjectNumber {
        let tag = Int(hierarchy.rootTag)
        var entry: (last: UInt64, stored: UInt64)
        if let known = numbers[tag] {
            entry = known
        } else {
            let stored = try catalog.counter(Catalog.numberKey(hierarchy), of: view)
            entry = (stored, stored)
        }
        guard entry.last < UInt64(1) << 62 else {
            throw StoreError(.tooLarge, "the hierarchy has given out all its numbers")
        }
        entry.last += 1
        numbers[tag] = entry
        return ObjectNumber(entry.last)
    }

    /// Counts all numbers up to one as given out: for a store that takes objects of another over.
    package func reserveNumbers(
        upTo last: ObjectNumber, in hierarchy: HierarchyID
    ) throws(StoreError) {
        let stored = try catalog.counter(Catalog.numberKey(hierarchy), of: view)
        let given = max(numbers[Int(hierarchy.rootTag)]?.last ?? stored, last.rawValue)
        numbers[Int(hierarchy.rootTag)] = (given, stored)
    }

    /// Applies changes to records, indexes, links and counters.
    package func apply(_ batch: borrowing RecordBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        // Plans that an error left edits in are not used again.
        let plans = plans.take() ?? EntityPlans(schema)
        var applier = BatchApplier(self, plans)
        try applier.apply(batch)
        self.plans = plans
        for (tag, change) in plans.takeCountChanges() { countChanges[tag, default: 0] += change }
        for (hierarchy, numbers) in applier.sharers {
            sharers[hierarchy, default: []].formUnion(numbers)
        }
        try saveCounts()
    }

    private func saveCounts() throws(StoreError) {
        for (tag, change) in countChanges where change != 0 {
            let key = Catalog.countKey(tag)
            let stored = Int(clamping: try catalog.counter(key, of: view))
            let (count, isTooLarge) = stored.addingReportingOverflow(change)
            guard !isTooLarge, count >= 0 else {
                throw .corrupt(nil, "the counter of an entity does not fit its records")
            }
            try catalog.setCounter(key, UInt64(count), in: editor)
            savedChanges[tag, default: 0] += change
        }
        countChanges = [:]
    }

    /// Whether the store had an entity's object for certain when the transaction began. No record
    /// is looked for: as many records as numbers were given out leave no number without one. False
    /// for every object of a hierarchy with several entities, or one that lost an object ever.
    package func wasThere(
        _ number: ObjectNumber, of entity: EntityLayout
    ) throws(StoreError) -> Bool {
        let tag = Int(entity.tag)
        if let last = lastOfAll[tag] { return number.rawValue > 0 && number.rawValue <= last }
        var last: UInt64 = 0
        if entity.tags.count == 1, entity.hierarchy.rootTag == entity.tag {
            let count = try recordCount(of: entity) - savedChanges[entity.tag, default: 0]
            let given = try catalog.counter(Catalog.numberKey(entity.hierarchy), of: view)
            if given == count { last = given }
        }
        lastOfAll[tag] = last
        return try wasThere(number, of: entity)
    }

    /// A reader of the store as the transaction found it, until it ends.
    package var before: RecordReader {
        get throws(StoreError) {
            RecordReader(schema: schema, view: try editor.before, catalog: catalog, trees: trees)
        }
    }

    /// The objects, by hierarchy and in order, that were applied since the last call and may share
    /// the columns of a unique constraint with another: all that do, and some that do not.
    package func takeSharers() -> [(hierarchy: HierarchyID, numbers: [ObjectNumber])] {
        defer { sharers = [:] }
        return sharers.sorted { $0.key.rootTag < $1.key.rootTag }
            .map { ($0.key, $0.value.sorted()) }
    }

    /// An object that has the same values in the columns of a unique constraint, nil when none
    /// has. A nil in any column conflicts with nothing.
    package func otherNumber(
        matching constraint: IndexLayout, row: RowView, besides number: ObjectNumber
    ) throws(StoreError) -> ObjectNumber? {
        var found: ObjectNumber?
        try forEachNumber(matching: constraint, row: row) { other in
            if other != number { found = other }
            return found == nil
        }
        return found
    }

    /// Lends the objects, in order, that have the same values in the columns of a unique
    /// constraint, until the body returns false.
    package func forEachNumber(
        matching constraint: IndexLayout, row: RowView, _ body: (ObjectNumber) -> Bool
    ) throws(StoreError) {
        var key = keyEncoder(columnCount: constraint.columns.count)
        for column in constraint.columns {
            if row.isNull(at: column.byteOffset) { return }
        }
        try append(constraint.columns, of: row, to: &key)
        let cursor = indexCursor(constraint, KeyRange(prefix: key.bytes))
        let entity = schema.knownEntity(tag: constraint.entityTag)
        while try cursor.next() {
            guard key.isTruncated else {
                guard body(cursor.number) else { return }
                continue
            }
            let isEqual = try withRow(cursor.number, in: entity.hierarchy) {
                other throws(StoreError) in
                guard entity.tags.contains(other.entityTag) else { return false }
                for column in constraint.columns
                where try value(column, of: other) != value(column, of: row) { return false }
                return true
            }
            if isEqual == true, !body(cursor.number) { return }
        }
    }

    /// Makes the changes durable and visible; returns the commit's number.
    @discardableResult
    package func commit(_ durability: Durability = .durable) throws(StoreError) -> UInt64 {
        let staged = try stage(durability)
        try staged.finish()
        return staged.number
    }

    /// Ends the transaction so that the next may begin; see ``WriteTransaction/stage(_:)``.
    package func stage(_ durability: Durability) throws(StoreError) -> StagedCommit {
        plans = nil
        do throws(StoreError) {
            for (tag, entry) in numbers.enumerated() {
                guard let entry, entry.last != entry.stored else { continue }
                let hierarchy = HierarchyID(rootTag: UInt16(tag))
                try catalog.setCounter(Catalog.numberKey(hierarchy), entry.last, in: editor)
            }
        } catch {
            editor.rollback()
            throw error
        }
        return try editor.stage(durability)
    }

    package func rollback() {
        plans = nil
        editor.rollback()
    }
}
