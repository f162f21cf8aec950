/// What an unsafe transaction and a commit that came meanwhile both changed. The transaction wins;
/// see ``UnsafeDataTransaction/conflicts``.
public struct CommitConflict: Hashable, Sendable {
    /// What became of the conflict.
    public enum Kind: Hashable, Sendable {
        /// Both gave the property, or the relationship, other values. The transaction's is stored;
        /// of a list, what both added and removed is merged.
        case property(KeyPathString)
        /// The object was deleted meanwhile, and the transaction's changes of it were dropped.
        case changedAfterDeletion
        /// The transaction deleted an object that was changed meanwhile.
        case deletedAfterChange
        /// The transaction linked to an object that was deleted meanwhile; the link was left out.
        case linkToDeleted(KeyPathString)
        /// The object had the same values of a unique constraint as the survivor, which took its
        /// links and what the constraint's policy lets win. The object is gone.
        case replaced(by: NSManagedObjectID, unique: [KeyPathString])
    }

    public let objectID: NSManagedObjectID
    public let kind: Kind
}
