import RecordStore

/// Assigns properties of records without making objects of them. Objects that live in the
/// transaction are assigned as objects, so that the program sees the new values.
final class BulkUpdate {
    private static let partSize = 4096
    private static let violationsKeptMax = 1000

    private let context: TransactionContext
    private let store: AttachedStore
    private let access: StoreAccess
    private let records: RecordTransaction
    private let assignments: [ColumnAssignment]
    /// The bits of the assigned properties, as in an object.
    private let assigned: UInt64
    private let assignedOffsets: Set<Int>
    /// The first of those that were found.
    private var violations: [Violation] = []
    private var violationCount = 0

    init(
        _ context: TransactionContext, _ store: AttachedStore, _ assignments: [ColumnAssignment]
    ) throws(StoreError) {
        self.context = context
        self.store = store
        self.assignments = assignments
        access = try context.access(to: store)
        records = try context.transaction(for: store)
        assigned = assignments.reduce(0) { $0 | CoreStoreObject.bit($1.field) }
        assignedOffsets = Set(assignments.map(\.field.byteOffset))
    }

    /// - Parameter numbers: of records that the transaction's reader has; nothing is pending.
    func update(_ numbers: [ObjectNumber], in hierarchy: HierarchyID) throws {
        let numbers = numbers.sorted()
        for start in stride(from: 0, to: numbers.count, by: Self.partSize) {
            let end = min(start + Self.partSize, numbers.count)
            var batch = RecordBatch()
            for number in numbers[start..<end] {
                if let object = access.registered(number, in: hierarchy) {
                    guard object.change != .deleted else { continue }
                    for assignment in assignments { try assignment.assign(to: object) }
                } else {
                    try update(number, hierarchy, &batch)
                }
            }
            // Nothing is written from the first violation on, and the others are still looked for.
            guard violations.isEmpty else { continue }
            try context.apply(batch, to: store)
            try context.flush()
            try context.makeRoom()
        }
        guard violations.isEmpty else {
            throw CoreStoreError.violated(violations, count: violationCount)
        }
    }

    private func update(
        _ number: ObjectNumber, _ hierarchy: HierarchyID, _ batch: inout RecordBatch
    ) throws {
        var (copy, values): (RowBuffer?, [Value]) = (nil, [])
        try records.lendRow(number, in: hierarchy) { row in
            values = try assignments.map { try records.value($0.field, of: row) }
            copy = RowBuffer(copying: row)
        }
        guard var row = copy else { return }
        defer { row.deallocate() }
        var isChanged = false
        for (assignment, old) in zip(assignments, values) {
            if try assignment.assign(to: &row, old) { isChanged = true }
        }
        guard isChanged else { return }
        let tag = row.view.entityTag
        let entity = records.schema.knownEntity(tag: tag)
        batch.update(entity, number, row: row)
        let kind = access.kind(tag, in: context)
        validate(FieldRow(row), RawObject(kind: kind, number: number))
        kind.evicted?.noteUpdatedRecord(number, tag: tag, assigned: assigned)
        guard !entity.uniqueIndexes.isEmpty else { return }
        let name = ObjectName(storeID: store.id, hierarchy: hierarchy, number: number)
        for assignment in assignments
        where CoreStoreObject.bit(assignment.field) == CoreStoreObject.farBit {
            context.changes.assignFar(name, UInt16(assignment.field.byteOffset))
        }
    }

    /// Looks for what the assigned values break. Rules of whole objects are checked at the commit.
    private func validate(_ row: FieldRow, _ raw: RawObject) {
        for field in assignments.map(\.field)
        where !field.isOptional && row.isNull(field.byteOffset) {
            note(Violation(.required, raw, [field.name], "is required, and it is nil"))
        }
        for rule in raw.kind.model.rules.properties where assignedOffsets.contains(rule.byteOffset)
        {
            guard let fault = rule.fault(row, rule.byteOffset) else { continue }
            note(Violation(rule.kind, raw, [rule.name], fault))
        }
    }

    private func note(_ violation: Violation) {
        violationCount += 1
        if violations.count < Self.violationsKeptMax { violations.append(violation) }
    }
}
