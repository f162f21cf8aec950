/// A last word on a fetch: `.tweak { $0.fetchLimit = 10 }`.
public struct Tweak: QueryClause, DeleteClause {
    /// What is called just before the fetch.
    public let closure: @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void

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
