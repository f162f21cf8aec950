import RecordStore

/// How far a transaction over several storages came when one of them failed.
///
/// Each storage commits for itself, one after the other, so that such a transaction is not atomic:
/// keep data that must change together in one storage.
public struct PartialCommit: Sendable {
    /// The storages that have the transaction's changes.
    public let committed: [any StorageInterface]
    /// The storages that do not have them. Of one whose error is `commitUncertain` that is known
    /// only when it is opened again.
    public let failed: [any StorageInterface]
}

extension CoreStoreError {
    /// The storages that have the changes of a transaction over several that failed while it was
    /// committed; nil where no storage can have them, as always with one storage.
    public var partialCommit: PartialCommit? {
        guard case .internalError(let error) = self else { return nil }
        return error.userInfo[StoreFailure.partialCommitKey] as? PartialCommit
    }

    init(_ error: StoreError, _ commit: PartialCommit) {
        self = .internalError(NSError: StoreFailure.nsError(error, commit))
    }
}
