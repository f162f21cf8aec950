import PageStore

/// Changes that are applied together, each tree's in its own order. A record occurs once in a
/// batch: its old index keys are those of the stored record.
///
/// Links between two to-many sides are changed with ``addLink(_:owner:target:)`` and its
/// companions, which keep both directions; a to-one link is a property of its record, and the
/// to-many side that mirrors it follows.
package struct RecordBatch: ~Copyable {
    struct Change {
        enum Kind { case insertion, update, deletion }

        var kind: Kind
        /// Of the record's entity; of a deletion that of its hierarchy's root.
        var tag: UInt16
        var number: ObjectNumber
        /// Where the new record lies in `rows`, unless it is lent.
        var start: Int
        var count: Int
        var lent: RowView?
        /// What lists have in the place of a deleted object.
        var replacement: ObjectNumber?
    }

    enum LinkChange {
        case set(RelationshipLayout, ObjectNumber, [ObjectNumber])
        case add(RelationshipLayout, ObjectNumber, ObjectNumber)
        case remove(RelationshipLayout, ObjectNumber, ObjectNumber)
    }

    private(set) var changes: [Change] = []
    private(set) var linkChanges: [LinkChange] = []
    private let rows = ByteBuffer(capacity: 1024)

    /// - Parameter capacity: how many changes it has room for at once.
    package init(capacity: Int = 0) { changes.reserveCapacity(capacity) }

    package var isEmpty: Bool { changes.isEmpty && linkChanges.isEmpty }

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
                kind: .deletion, tag: hierarchy.rootTag, number: number, start: 0, count: 0,
                replacement: replacement))
    }

    /// Gives an owner these targets in this order, and no others.
    package mutating func setLinks(
        _ relationship: RelationshipLayout, owner: ObjectNumber, _ targets: [ObjectNumber]
    ) {
        linkChanges.append(.set(relationship, owner, targets))
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
        if isLent,
            row.isCompact(variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        {
            changes.append(
                Change(
                    kind: kind, tag: entity.tag, number: number, start: 0, count: 0,
                    lent: row.view))
            return
        }
        let start = rows.count
        row.compact(
            into: rows, variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        changes.append(
            Change(
                kind: kind, tag: entity.tag, number: number, start: start,
                count: rows.count - start))
    }

    /// The new record of a change; valid as long as the batch is.
    func row(_ change: Change) -> ByteView {
        change.lent?.bytes ?? rows.view.slice(from: change.start, count: change.count)
    }
}
