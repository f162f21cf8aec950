/// A last word on a fetch: `.tweak { $0.fetchLimit = 10 }`.
public struct Tweak: QueryClause, DeleteClause {
    /// What is called just before the fetch.
    public let closure: (NSFetchRequest<any NSFetchRequestResult>) -> Void

    public init(_ closure: @escaping (NSFetchRequest<any NSFetchRequestResult>) -> Void) {
        self.closure = closure
    }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        let view = NSFetchRequest<any NSFetchRequestResult>()
        view.take(from: fetchRequest)
        closure(view)
        fetchRequest.take(from: view)
    }
}

extension NSFetchRequest {
    fileprivate func take<Other>(from other: NSFetchRequest<Other>) {
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        includesPendingChanges = other.includesPendingChanges
        includesSubentities = other.includesSubentities
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        returnsDistinctResults = other.returnsDistinctResults
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        condition = other.condition
        sortKeys = other.sortKeys
        groupKeyPaths = other.groupKeyPaths
    }
}
