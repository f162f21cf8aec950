import RecordStore

/// The changes of an unsafe transaction, as the states before and after them. Any thread may read
/// them, whatever the transaction does meanwhile.
struct UnsafeChanges: @unchecked Sendable {
    struct Part {
        let store: AttachedStore
        var from: RecordReader
        let to: FrozenRecords
        /// All that may differ, and more.
        let touched: [HierarchyID: Set<ObjectNumber>]
        /// Whether the state before is that of a commit of the transaction. Assignments from before
        /// it are not told apart then: only what differs counts as assigned.
        fileprivate(set) var isRest = false
    }

    var parts: [Part] = []
    /// The properties that the program assigned to the objects that it created or updated.
    var assigned: [ObjectName: UInt64] = [:]

    /// The states after the changes, by store.
    var states: [ObjectIdentifier: FrozenRecords] {
        var states: [ObjectIdentifier: FrozenRecords] = [:]
        for part in parts { states[ObjectIdentifier(part.store)] = part.to }
        return states
    }

    /// These changes, counted from other states on.
    func since(_ states: [ObjectIdentifier: FrozenRecords]) -> UnsafeChanges {
        var changes = self
        for index in parts.indices {
            if let state = states[ObjectIdentifier(parts[index].store)] {
                (changes.parts[index].from, changes.parts[index].isRest) = (state, true)
            }
        }
        return changes
    }
}

/// Merges the changes of an unsafe transaction into another context: property by property and link
/// by link, over what others committed meanwhile. The changes win; each property that others had
/// changed too is told of.
///
/// Objects are created first, then get their values and links, and deletions come last, so that
/// their rules meet the links as they are to be.
struct ChangeMerge {
    private let changes: UnsafeChanges
    private let target: EditingContext
    /// The readers of the target without the changes, by store.
    private let bases: [ObjectIdentifier: RecordReader]
    private(set) var conflicts: [CommitConflict] = []

    init(
        _ changes: UnsafeChanges, into target: EditingContext,
        over bases: [ObjectIdentifier: RecordReader]
    ) {
        self.changes = changes
        self.target = target
        self.bases = bases
    }

    mutating func apply() throws(StoreError) {
        for part in changes.parts {
            guard let base = bases[ObjectIdentifier(part.store)] else { continue }
            let merge = PartMerge(
                part: part, base: base, target: target, assigned: changes.assigned)
            conflicts += try merge.conflicts()
        }
    }
}

/// The merge of one store.
private final class PartMerge {
    private struct Name {
        var number: ObjectNumber
        var hierarchy: HierarchyID
        var isNew: Bool
    }

    private let part: UnsafeChanges.Part
    private let base: RecordReader
    private let target: EditingContext
    private let assigned: [ObjectName: UInt64]
    private var found: [CommitConflict] = []

    init(
        part: UnsafeChanges.Part, base: RecordReader, target: EditingContext,
        assigned: [ObjectName: UInt64]
    ) {
        self.part = part
        self.base = base
        self.target = target
        self.assigned = assigned
    }

    func conflicts() throws(StoreError) -> [CommitConflict] {
        var (changed, deleted): ([Name], [Name]) = ([], [])
        for (hierarchy, numbers) in part.touched.sorted(by: { $0.key.rootTag < $1.key.rootTag }) {
            for number in numbers.sorted() {
                let wasThere = try part.from.contains(number, in: hierarchy)
                let name = Name(number: number, hierarchy: hierarchy, isNew: !wasThere)
                if try part.to.contains(number, in: hierarchy) {
                    changed.append(name)
                } else if wasThere {
                    deleted.append(name)
                }
            }
        }
        for name in changed where name.isNew { try create(name) }
        for name in changed where !name.isNew { try mergeValues(name) }
        for name in changed { try mergeLinks(name) }
        for name in changed { try mergeLists(name) }
        for name in deleted { try delete(name) }
        return found
    }

    private func object(_ name: Name) throws(StoreError) -> CoreStoreObject? {
        try target.object(name.number, in: name.hierarchy, of: part.store)
    }

    private func tell(_ raw: RawObject, _ kind: CommitConflict.Kind) {
        found.append(CommitConflict(objectID: raw.id, kind: kind))
    }

    // MARK: Records

    private func create(_ name: Name) throws(StoreError) {
        try target.makeRoom()
        guard let row = try part.to.row(name.number, in: name.hierarchy) else { return }
        let kind = try target.access(to: part.store).kind(row.view.entityTag, in: target)
        for relationship in kind.entity.relationships {
            if let offset = relationship.byteOffset { row.setLink(nil, at: offset) }
        }
        let object = target.adopt(name.number, kind, row: row)
        guard let raw = object.raw else { return }
        let bits = assigned[raw.name] ?? 0
        for field in kind.entity.fields {
            guard case .attribute = field.content else { continue }
            let bit = CoreStoreObject.bit(field)
            // Which of the far slots were assigned is not known.
            let isAssigned =
                bits == 0 || bit == CoreStoreObject.farBit
                ? object.row.buffer.view.value(field) != field.defaultValue : bits & bit != 0
            if isAssigned { object.willWrite(UInt16(field.byteOffset)) }
        }
    }

    private func mergeValues(_ name: Name) throws(StoreError) {
        try target.makeRoom()
        guard let object = try object(name), let raw = object.raw else {
            return try tellIfChanged(name)
        }
        guard let mine = try part.to.row(name.number, in: name.hierarchy) else { return }
        defer { mine.deallocate() }
        guard let before = try part.from.row(name.number, in: name.hierarchy) else { return }
        defer { before.deallocate() }
        let theirs = try base.row(name.number, in: name.hierarchy)
        defer { theirs?.deallocate() }
        for field in raw.entity.fields {
            guard case .attribute = field.content else { continue }
            let (value, old) = (mine.view.value(field), before.view.value(field))
            let isChanged = value != old
            guard isChanged || isAssigned(field, raw) else { continue }
            if isChanged, let other = theirs?.view.value(field), other != old, other != value {
                tell(raw, .property(field.name))
            }
            object.loadRow()
            guard object.row.buffer.view.value(field) != value else {
                object.noteAssignment(UInt16(field.byteOffset))
                continue
            }
            guard isChanged else { continue }
            object.willWrite(UInt16(field.byteOffset))
            object.row.buffer.setValue(value, field)
            object.didWrite(UInt16(field.byteOffset))
        }
    }

    /// The object is gone, and with it what the transaction changed of it.
    private func tellIfChanged(_ name: Name) throws(StoreError) {
        guard try !part.from.hasSameObject(name.number, in: name.hierarchy, as: part.to) else {
            return
        }
        try tell(name, .changedAfterDeletion)
    }

    /// Tells of an object that one side has and the other has not.
    private func tell(_ name: Name, _ kind: CommitConflict.Kind) throws(StoreError) {
        let tag = try part.from.withRow(name.number, in: name.hierarchy) { $0.entityTag }
        guard let tag else { return }
        let storeEntity = part.store.storeEntity(for: part.from.schema.knownEntity(tag: tag))
        found.append(
            CommitConflict(objectID: NSManagedObjectID(name.number, in: storeEntity), kind: kind))
    }

    private func delete(_ name: Name) throws(StoreError) {
        try target.makeRoom()
        // Another deletion may have taken it along by now.
        if try base.contains(name.number, in: name.hierarchy),
            try !part.from.hasSameObject(name.number, in: name.hierarchy, as: base)
        {
            try tell(name, .deletedAfterChange)
        }
        guard let object = try object(name) else { return }
        try target.delete(object)
    }

    /// Whether the program assigned a property, if only its value. Which of the far slots were
    /// assigned is not known.
    ///
    /// - Parameter isChanged: whether its value differs.
    private func isAssigned(
        _ field: FieldLayout, _ raw: RawObject, isChanged: Bool = false
    ) -> Bool {
        guard isChanged || !part.isRest else { return false }
        let bit = CoreStoreObject.bit(field)
        return bit != CoreStoreObject.farBit && (assigned[raw.name] ?? 0) & bit != 0
    }

    // MARK: Links

    private func mergeLinks(_ name: Name) throws(StoreError) {
        guard let object = try object(name), let raw = object.raw else { return }
        for relationship in raw.entity.relationships where relationship.kind == .toOne {
            let mine = try part.to.linkedNumbers(relationship, of: name.number).first
            let old = try before(relationship, name).first
            let wasAssigned =
                relationship.field.map { isAssigned($0, raw, isChanged: mine != old) } ?? false
            guard mine != old else {
                if wasAssigned { try reassign(relationship, of: object, raw, mine) }
                continue
            }
            let other = name.isNew ? nil : try theirs(relationship, name).first
            if other != old, other != mine { tell(raw, .property(relationship.name)) }
            let targets = try objects(mine.map { [$0] } ?? [], relationship)
            if mine != nil && targets.isEmpty { tell(raw, .linkToDeleted(relationship.name)) }
            let known = object.assigned
            target.setLinkedObject(
                targets.first, of: object, raw, relationshipID: relationship.id)
            // It was cleared because of what became of its target.
            if mine == nil, !wasAssigned { object.assigned = known }
        }
    }

    /// Has a link that was assigned its own target count as assigned, unless others changed it.
    private func reassign(
        _ relationship: RelationshipLayout, of object: CoreStoreObject, _ raw: RawObject,
        _ number: ObjectNumber?
    ) throws(StoreError) {
        // Only a changed object can be in a conflict.
        guard object.change.kind != .stored,
            try target.linkedNumbers(of: object, raw, relationship).first == number
        else { return }
        let targets = try objects(number.map { [$0] } ?? [], relationship)
        if number != nil && targets.isEmpty { return }
        target.setLinkedObject(targets.first, of: object, raw, relationshipID: relationship.id)
    }

    private func mergeLists(_ name: Name) throws(StoreError) {
        guard let object = try object(name), let raw = object.raw else { return }
        for relationship in raw.entity.relationships where relationship.hasEdges {
            let isOrdered = relationship.kind == .toManyOrdered
            let mine = try part.to.linkedNumbers(relationship, of: name.number)
            let old = try before(relationship, name)
            guard mine != old else { continue }
            let other = name.isNew ? [] : try theirs(relationship, name)
            var merged = mine
            if other != old {
                if isOrdered && other != mine { tell(raw, .property(relationship.name)) }
                let (had, has) = (Set(old), Set(mine))
                merged = other.filter { has.contains($0) || !had.contains($0) }
                let kept = Set(merged)
                merged += mine.filter { !had.contains($0) && !kept.contains($0) }
            }
            merged = try settled(merged, of: object, raw, relationship)
            let targets = try objects(merged, relationship)
            let present = Set(targets.compactMap { $0.raw?.number })
            let added = Set(mine).subtracting(old)
            if !added.isSubset(of: present) { tell(raw, .linkToDeleted(relationship.name)) }
            target.setLinkedObjects(targets, of: object, raw, relationshipID: relationship.id)
        }
    }

    /// The side with one link decides which objects are in a list, and is merged by then; the list
    /// decides their order.
    private func settled(
        _ list: [ObjectNumber], of object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        let schema = part.store.database.schema
        guard let inverse = relationship.inverseID,
            schema.relationship(id: inverse).kind == .toOne
        else { return list }
        let members = try target.linkedNumbers(of: object, raw, relationship)
        let (wanted, present) = (Set(list), Set(members))
        return list.filter { present.contains($0) } + members.filter { !wanted.contains($0) }
    }

    private func before(
        _ relationship: RelationshipLayout, _ name: Name
    ) throws(StoreError) -> [ObjectNumber] {
        name.isNew ? [] : try part.from.linkedNumbers(relationship, of: name.number)
    }

    private func theirs(
        _ relationship: RelationshipLayout, _ name: Name
    ) throws(StoreError) -> [ObjectNumber] {
        try base.linkedNumbers(relationship, of: name.number)
    }

    private func objects(
        _ numbers: [ObjectNumber], _ relationship: RelationshipLayout
    ) throws(StoreError) -> [CoreStoreObject] {
        let schema = part.store.database.schema
        let entity = schema.knownEntity(tag: relationship.destinationTag)
        return try target.objects(numbers, in: entity.hierarchy, of: part.store)
    }
}
