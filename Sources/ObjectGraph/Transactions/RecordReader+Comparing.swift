import RecordStore

extension RecordReader {
    /// Whether both have a record of a number, with the same values and the same lists.
    func hasSameObject(
        _ number: ObjectNumber, in hierarchy: HierarchyID, as other: RecordReader
    ) throws(StoreError) -> Bool {
        guard try hasSameRow(number, in: hierarchy, as: other),
            let tag = try withRow(number, in: hierarchy, { $0.entityTag })
        else { return false }
        for relationship in schema.knownEntity(tag: tag).relationships where relationship.hasEdges {
            let links = try linkedNumbers(relationship, of: number)
            if try links != other.linkedNumbers(relationship, of: number) { return false }
        }
        return true
    }
}
