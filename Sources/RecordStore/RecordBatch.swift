import PageStore

/// Changes that are applied together, each tree's in its own order. A record occurs once in a
/// batch: its old index keys are those of the stored record.
///
/// Links between two to-many sides are changed with ``addLink(_:owner:target:)`` and its
/// companions, which keep both directions; a to-one link is a property of its record, and the
/// to-many side that mirrors it follows.
package struct RecordBatch: ~Copyable {
    struct Change {
        enum Kind: UInt8 { case insertion, update, deletion }

        var number: ObjectNumber
        /// Where the new record lies in `rows`; for a lent one its index in `lent`; for a deletion
        /// the index of its replacement in lists.
        var start: Int
        /// How many bytes of `rows` it takes, negative for one that is lent; of a deletion how
        /// many objects are there instead.
        var count: Int
        /// Of the record's entity; of a deletion that of its hierarchy's root.
        var tag: UInt16
        var kind: Kind
    }

    /// Memory that passes from one batch to the next, so that large batches allocate none.
    package struct Memory {
        fileprivate var changes: [Change] = []
        fileprivate var lent: [RowView] = []

        package init() {}
    }

    enum LinkChange {
        case set(RelationshipLayout, ObjectNumber, [ObjectNumber])
        case add(RelationshipLayout, ObjectNumber, ObjectNumber)
        case remove(RelationshipLayout, ObjectNumber, ObjectNumber)
    }

    private(set) var changes: [Change]
    private(set) var linkChanges: [LinkChange] = []
    /// How many targets whole lists have.
    private var linkedCount = 0
    private let rows = ByteBuffer(capacity: 1024)
    /// Rows in memory that their owners lend.
    private var lent: [RowView]
    /// The objects that replace deleted ones in lists.
    private var replacements: [ObjectNumber] = []
    /// The first record that a value was too long for.
    private(set) var overfull: (entity: EntityLayout, number: ObjectNumber)?

    package init() { (changes, lent) = ([], []) }

    /// A batch in memory that ``leave(in:)`` gives back.
    package init(in memory: inout Memory) {
        (changes, lent) = (memory.changes, memory.lent)
        memory = Memory()
    }

    /// Forgets the changes and gives the memory back.
    package consuming func leave(in memory: inout Memory) {
        memory.changes = changes
        memory.lent = lent
        (changes, lent) = ([], [])
        memory.changes.removeAll(keepingCapacity: true)
        memory.lent.removeAll(keepingCapacity: true)
    }

    package var isEmpty: Bool { changes.isEmpty && linkChanges.isEmpty }

    /// The size of the records and links that were copied into the batch.
    var sizeInBytes: Int { rows.count + 64 * linkChanges.count + 8 * linkedCount }

    /// - Parameter isLent: the row stays as it is until the batch is applied, so that it need not
    ///   be copied when it is in the stored form already.
    package mutating func insert(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer, isLent: Bool = false
    ) {
        append(.insertion, entity, number, row, isLent: isLent)
    }

    /// - Parameter isLent: as of an insertion.
    package mutating func update(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer, isLent: Bool = false
    ) {
        append(.update, entity, number, row, isLent: isLent)
    }

    /// Deletes a record and its links. Lists that no inverse leads back to forget the object, or
    /// have its replacement in its place.
    package mutating func delete(
        _ number: ObjectNumber, in hierarchy: HierarchyID, replacement: ObjectNumber? = nil
    ) {
        changes.append(
            Change(
                number: number, start: replacements.count, count: replacement == nil ? 0 : 1,
                tag: hierarchy.rootTag, kind: .deletion))
        if let replacement { replacements.append(replacement) }
    }

    /// Brings the changes into the order in which the records lie that they ask for.
    package mutating func sort() {
        changes.sort {
            $0.kind == $1.kind ? $0.number < $1.number : $0.kind.rawValue < $1.kind.rawValue
        }
    }

    /// Gives an owner these targets in this order, and no others.
    package mutating func setLinks(
        _ relationship: RelationshipLayout, owner: ObjectNumber, _ targets: [ObjectNumber]
    ) {
        linkChanges.append(.set(relationship, owner, targets))
        linkedCount += targets.count
    }

    package mutating func addLink(
        _ relationship: RelationshipLayout, owner: ObjectNumber, target: ObjectNumber
    ) {
        linkChanges.append(.add(relationship, owner, target))
    }

    package mutating func removeLink(
        _ relationship: RelationshipLayout, owner: ObjectNumber, target: ObjectNumber
    ) {
        linkChanges.append(.remove(relationship, owner, target))
    }

    private mutating func append(
        _ kind: Change.Kind, _ entity: EntityLayout, _ number: ObjectNumber, _ row: RowBuffer,
        isLent: Bool
    ) {
        if row.isOverfull && overfull == nil { overfull = (entity, number) }
        if isLent,
            row.isCompact(variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        {
            changes.append(
                Change(
                    number: number, start: lent.count, count: -1, tag: entity.tag, kind: kind))
            lent.append(row.view)
            return
        }
        let start = rows.count
        row.compact(
            into: rows, variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        changes.append(
            Change(
                number: number, start: start, count: rows.count - start, tag: entity.tag,
                kind: kind))
    }

    /// The new record of a change; valid as long as the batch is.
    func row(_ change: Change) -> ByteView {
        change.count < 0
            ? lent[change.start].bytes
            : rows.view.slice(from: change.start, count: change.count)
    }

    /// The object that replaces the one a change deletes in lists; nil for none.
    func replacement(_ change: Change) -> ObjectNumber? {
        change.count > 0 ? replacements[change.start] : nil
    }
}
