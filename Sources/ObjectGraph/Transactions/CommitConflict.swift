/// A change of an unsafe transaction to something that another commit changed since the transaction
/// began. The transaction wins, except over a deletion; see ``UnsafeDataTransaction/conflicts``.
public struct CommitConflict: Hashable, Sendable {
    /// The kind of conflict, and which of the two changes is stored.
    public enum Kind: Hashable, Sendable {
        /// Both assigned the property, or the relationship, different values. The transaction's is
        /// stored; for a to-many, the additions and removals of both are merged.
        case property(KeyPathString)
        /// The object was deleted by the other commit, and the transaction's changes to it were
        /// dropped.
        case changedAfterDeletion
        /// The transaction deleted an object that the other commit changed.
        case deletedAfterChange
        /// The transaction linked to an object that the other commit deleted; the link was omitted.
        case linkToDeleted(KeyPathString)
        /// The object had the values of a unique constraint that the survivor has, which took over
        /// its links, and its values as far as the constraint's policy prefers them. The object is
        /// gone.
        case replaced(by: NSManagedObjectID, unique: [KeyPathString])
    }

    /// The object that both changed.
    public let objectID: NSManagedObjectID
    /// The kind of conflict, and which of the two changes is stored.
    public let kind: Kind
}
