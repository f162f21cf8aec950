/// Customises a fetch just before it runs: `.tweak { $0.fetchLimit = 10 }`.
///
/// It sees the clauses before it in the list; those after it may replace its changes.
public struct Tweak: QueryClause, DeleteClause {
    /// Called with the request, on the thread of the call that fetches or observes.
    public let closure: @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void

    /// - Parameter closure: changes the request, on the thread of the call that fetches or
    ///   observes.
    @preconcurrency
    public init(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) {
        self.closure = closure
    }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        let view = NSFetchRequest<any NSFetchRequestResult>()
        view.terms = fetchRequest.terms
        closure(view)
        fetchRequest.terms = view.terms
    }
}
