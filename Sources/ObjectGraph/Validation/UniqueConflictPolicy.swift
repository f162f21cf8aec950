/// The resolution of a commit's conflict between two objects with equal values in a unique
/// constraint.
///
/// Below, the stored object is the one of the two that the transaction did not assign these values
/// to; if it assigned them to both, the older one.
public enum UniqueConflictPolicy: Sendable, Hashable {
    /// The transaction's values win, property by property. The stored object keeps its identity and
    /// the values that the transaction did not assign, and gets all links. The default.
    case transactionWins
    /// The stored object stays as it is. It takes over the links that it has none of its own for.
    case storeWins
    /// The stored object is deleted by its delete rules, and the other one takes its place with an
    /// identity of its own.
    case replace
    /// The commit throws; see ``CoreStoreError/violations``.
    case error
}
