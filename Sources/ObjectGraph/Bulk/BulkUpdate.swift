import RecordStore

/// Assigns properties of records without making objects of them. Objects that live in the
/// transaction are assigned as objects, so that the program sees the new values.
final class BulkUpdate {
    private static let partSize = 4096
    /// Rows of a batch are copies: with large values fewer make a batch.
    private static let batchBytesMax = 8 << 20
    private static let violationsKeptMax = 1000

    private let context: TransactionContext
    private let store: AttachedStore
    private let access: StoreAccess
    private let records: RecordTransaction
    private let entity: EntityLayout
    private let assignments: [ColumnAssignment]
    /// For each assignment the position of the first one of the same property.
    private let firsts: [Int]
    /// By the offset of a property, the position of its first assignment.
    private let positions: [Int: Int]
    /// Whether assignments count where the properties have the values already: what an object was
    /// assigned decides which of two with one unique value wins, and what the winner keeps.
    private let notesEqual: Bool
    /// The bits of the assigned properties, as in an object.
    private let assigned: UInt64
    /// By the position of an assignment, whether the record at hand has got another value by it.
    private var isWritten: [Bool]
    /// The first of those that were found.
    private var violations: [Violation] = []
    private var violationCount = 0

    init(
        _ context: TransactionContext, _ store: AttachedStore, _ entity: EntityLayout,
        _ assignments: [ColumnAssignment]
    ) throws(StoreError) {
        self.context = context
        self.store = store
        self.entity = entity
        self.assignments = assignments
        access = try context.access(to: store)
        records = try context.transaction(for: store)
        let offsets = assignments.map(\.field.byteOffset)
        positions = Dictionary(zip(offsets, offsets.indices), uniquingKeysWith: min)
        firsts = offsets.map { [positions] in positions[$0] ?? 0 }
        let schema = records.schema
        notesEqual = entity.tags.contains { !schema.knownEntity(tag: $0).uniqueIndexes.isEmpty }
        isWritten = offsets.map { _ in false }
        assigned = assignments.reduce(0) { $0 | CoreStoreObject.bit($1.field) }
    }

    /// - Parameter numbers: of records that the transaction's reader has; nothing is pending.
    func update(_ numbers: [ObjectNumber], in hierarchy: HierarchyID) throws {
        let numbers = numbers.sorted()
        for start in stride(from: 0, to: numbers.count, by: Self.partSize) {
            let part = numbers[start..<min(start + Self.partSize, numbers.count)]
            let assigned = try updateObjects(part, hierarchy)
            var batch = RecordBatch()
            for number in part where assigned.isEmpty || !assigned.contains(number) {
                try update(number, hierarchy, &batch)
                if batch.sizeInBytes > Self.batchBytesMax {
                    try apply(batch)
                    batch = RecordBatch()
                }
            }
            try apply(batch)
            try context.flush()
            try context.makeRoom()
        }
        guard violations.isEmpty else {
            throw CoreStoreError.violated(violations, count: violationCount)
        }
    }

    /// Nothing is written from the first violation on, and the others are still looked for.
    private func apply(_ batch: borrowing RecordBatch) throws(StoreError) {
        if violations.isEmpty { try context.apply(batch, to: store) }
    }

    /// Assigns the objects among some records that live. An observer of one may fetch others, which
    /// live from then on and would keep their old values beside their records.
    private func updateObjects(
        _ numbers: ArraySlice<ObjectNumber>, _ hierarchy: HierarchyID
    ) throws -> Set<ObjectNumber> {
        var assigned: Set<ObjectNumber> = []
        while true {
            let objects = numbers.compactMap { number in
                assigned.contains(number) ? nil : access.registered(number, in: hierarchy)
            }
            if objects.isEmpty { return assigned }
            for object in objects {
                guard let raw = object.raw else { continue }
                assigned.insert(raw.number)
                if object.change == .deleted { continue }
                try check(raw.entity.tag, raw.number)
                for (position, assignment) in assignments.enumerated() {
                    isWritten[position] = false
                    let isNew = try assignment.assign(to: object, evenIfEqual: notesEqual)
                    if isNew { isWritten[firsts[position]] = true }
                }
                // An observer may have discarded the change, or deleted the object.
                if object.isRowLoaded && object.change != .deleted { validate(object.row, raw) }
            }
            try context.flush()
        }
    }

    /// An index of a damaged file may lead to a record without the properties.
    private func check(_ tag: UInt16, _ number: ObjectNumber) throws(StoreError) {
        guard entity.includes(tag) else {
            throw ObjectContext.otherEntity(number, entity, records)
        }
    }

    private func update(
        _ number: ObjectNumber, _ hierarchy: HierarchyID, _ batch: inout RecordBatch
    ) throws {
        var (copy, values): (RowBuffer?, [Value]) = (nil, [])
        try records.lendRow(number, in: hierarchy) { row in
            try check(row.entityTag, number)
            values = try assignments.map { try records.value($0.field, of: row) }
            copy = try RowBuffer(
                copying: row, of: records.schema.knownEntity(tag: row.entityTag))
        }
        guard var row = copy else { return }
        defer { row.deallocate() }
        var isChanged = false
        for (position, assignment) in assignments.enumerated() {
            isWritten[position] = false
            let first = firsts[position]
            guard let value = try assignment.newValue(for: values[first]) else { continue }
            row.setValue(value, assignment.field)
            values[first] = value
            (isWritten[first], isChanged) = (true, true)
        }
        guard isChanged || notesEqual else { return }
        let tag = row.view.entityTag
        let entity = records.schema.knownEntity(tag: tag)
        let kind = access.kind(tag, in: context)
        if isChanged {
            batch.update(entity, number, row: row)
            validate(FieldRow(row), RawObject(kind: kind, number: number))
        }
        kind.evicted?.noteUpdatedRecord(number, tag: tag, assigned: assigned)
        guard !entity.uniqueIndexes.isEmpty else { return }
        let name = ObjectName(storeID: store.id, hierarchy: hierarchy, number: number)
        for assignment in assignments
        where CoreStoreObject.bit(assignment.field) == CoreStoreObject.farBit {
            context.changes.assignFar(name, UInt16(assignment.field.byteOffset))
        }
    }

    /// Looks for what the written values break. A value that stays is not looked at: of a large one
    /// the row has the name alone. Rules of whole objects are checked at the commit.
    private func validate(_ row: FieldRow, _ raw: RawObject) {
        for (position, assignment) in assignments.enumerated() where isWritten[position] {
            let field = assignment.field
            if !field.isOptional && row.isNull(field.byteOffset) {
                note(Violation(.required, raw, [field.name], "is required, and it is nil"))
            }
        }
        for rule in raw.kind.model.rules.properties {
            guard let position = positions[rule.byteOffset], isWritten[position] else { continue }
            guard let fault = rule.fault(row, rule.byteOffset) else { continue }
            note(Violation(rule.kind, raw, [rule.name], fault))
        }
    }

    private func note(_ violation: Violation) {
        violationCount += 1
        if violations.count < Self.violationsKeptMax { violations.append(violation) }
    }
}
