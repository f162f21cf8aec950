import PageStore

/// Changes that are applied together, each tree's in its own order. A record occurs once in a
/// batch: its old index keys are those of the stored record.
///
/// Links between two to-many sides are changed with ``addLink(_:owner:target:)`` and its
/// companions, which keep both directions; a to-one link is a property of its record, and the
/// to-many side that mirrors it follows.
package struct RecordBatch {
    enum Change {
        case insert(EntityLayout, ObjectNumber, [UInt8])
        case update(HierarchyID, ObjectNumber, [UInt8])
        case delete(HierarchyID, ObjectNumber, replacement: ObjectNumber?)
    }

    enum LinkChange {
        case set(RelationshipLayout, ObjectNumber, [ObjectNumber])
        case add(RelationshipLayout, ObjectNumber, ObjectNumber)
        case remove(RelationshipLayout, ObjectNumber, ObjectNumber)
    }

    private(set) var changes: [Change] = []
    private(set) var linkChanges: [LinkChange] = []

    package init() {}

    package var isEmpty: Bool { changes.isEmpty && linkChanges.isEmpty }

    package mutating func insert(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer
    ) {
        changes.append(.insert(entity, number, Self.stored(row, entity)))
    }

    package mutating func update(
        _ entity: EntityLayout, _ number: ObjectNumber, row: RowBuffer
    ) {
        changes.append(.update(entity.hierarchy, number, Self.stored(row, entity)))
    }

    /// Deletes a record and its links. Lists that no inverse leads back to forget the object, or
    /// have its replacement in its place.
    package mutating func delete(
        _ number: ObjectNumber, in hierarchy: HierarchyID, replacement: ObjectNumber? = nil
    ) {
        changes.append(.delete(hierarchy, number, replacement: replacement))
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

    private static func stored(_ row: RowBuffer, _ entity: EntityLayout) -> [UInt8] {
        row.compacted(variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
    }
}
