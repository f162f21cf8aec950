import PageStore

/// Changes that are applied together, to each tree in the order of its keys. A record occurs only
/// once in a batch, because its old index keys are read from the stored record.
///
/// Links between two to-many sides are changed by ``addLink(_:owner:target:)`` and its companions,
/// which maintain both directions. A to-one link is a property of its record, and the to-many side
/// that mirrors it follows.
package struct RecordBatch: ~Copyable {
    struct Change {
        enum Kind: UInt8 { case insertion, update, replacement, deletion }

        var number: ObjectNumber
        /// The offset of the new record in `rows`; for a lent one its index in `lent`; for a
        /// deletion the index of its replacement in `replacements`.
        var start: Int
        /// The size of the record in `rows`, negative for a lent one; for a deletion the count of
        /// replacements, 0 or 1.
        var count: Int
        /// The tag of the record's entity; for a deletion that of its hierarchy's root.
        var tag: UInt16
        var kind: Kind
    }

    /// Memory that one batch passes to the next, so that large batches allocate none.
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
    /// The count of targets in whole lists.
    private var linkedCount = 0
    private let rows = ByteBuffer(capacity: 1024)
    /// Rows that stay in their owners' memory.
    private var lent: [RowView]
    /// The objects that replace deleted ones in lists.
    private var replacements: [ObjectNumber] = []
    /// The first record with a value that is too long.
    private(set) var overfull: (entity: EntityLayout, number: ObjectNumber)?

    package init() { (changes, lent) = ([], []) }

    /// A batch in reused memory, which ``leave(in:)`` returns.
    package init(in memory: inout Memory) {
        (changes, lent) = (memory.changes, memory.lent)
        memory = Memory()
    }

    /// Discards the changes and returns the memory.
    package consuming func leave(in memory: inout Memory) {
        memory.changes = changes
        memory.lent = lent
        (changes, lent) = ([], [])
        memory.changes.removeAll(keepingCapacity: true)
        memory.lent.removeAll(keepingCapacity: true)
    }

    package var isEmpty: Bool { changes.isEmpty && linkChanges.isEmpty }

    /// The size of the records and links that were copied into the batch.
    package var sizeInBytes: Int { rows.count + 64 * linkChanges.count + 8 * linkedCount }

    /// - Parameter isLent: whether the row stays unchanged until the batch is applied. It is then
    ///   not copied if it already has the stored form.
    package mutating func insert(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer, isLent: Bool = false
    ) {
        append(.insertion, entity, number, row, isLent: isLent)
    }

    /// - Parameter isLent: as for an insertion.
    package mutating func update(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer, isLent: Bool = false
    ) {
        append(.update, entity, number, row, isLent: isLent)
    }

    /// Replaces a record whose entries in indexes and links, and whose blobs, stay as they are. The
    /// stored record is not read.
    mutating func replace(_ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer) {
        append(.replacement, entity, number, row, isLent: false)
    }

    /// Deletes a record and its links. Lists without an inverse lose the object, or get its
    /// replacement at its position.
    package mutating func delete(
        _ number: ObjectNumber, in hierarchy: HierarchyID, replacement: ObjectNumber? = nil
    ) {
        changes.append(
            Change(
                number: number, start: replacements.count, count: replacement == nil ? 0 : 1,
                tag: hierarchy.rootTag, kind: .deletion))
        if let replacement { replacements.append(replacement) }
    }

    /// Sorts the changes by kind and number, so that records are visited in the order of their
    /// tree.
    package mutating func sort() {
        changes.sort {
            $0.kind == $1.kind ? $0.number < $1.number : $0.kind.rawValue < $1.kind.rawValue
        }
    }

    /// Replaces an owner's targets by these, in this order.
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

    /// The new record of a change; valid as long as the batch.
    func row(_ change: Change) -> ByteView {
        change.count < 0
            ? lent[change.start].bytes
            : rows.view.slice(from: change.start, count: change.count)
    }

    /// The object that replaces a deleted one in lists; nil if there is none.
    func replacement(_ change: Change) -> ObjectNumber? {
        change.count > 0 ? replacements[change.start] : nil
    }
}
