// Fetches on a stack read its view, where the view lives.

extension DataStack: FetchableSource, QueryableSource {
    public func withFetchContext<Result, Failure: Error>(
        _ body: (FetchContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withView { view throws(Failure) in try body(FetchContext(self, view)) }
    }

    /// The first object of the view, by the order of the clauses; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O? {
        try first(from, FetchTerms(fetchClauses, limit: 1))
    }

    /// The first object of a chain, by its order; nil when there is none. This is the most frequent
    /// fetch: no list of clauses is made.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchOne<O>(_ clauseChain: FetchChainBuilder<O>) throws(CoreStoreError) -> O? {
        try first(clauseChain.from, clauseChain.terms(limit: 1))
    }

    private func first<O>(_ from: From<O>, _ terms: FetchTerms) throws(CoreStoreError) -> O? {
        // Without a closure, which would copy the terms.
        let view = lockView()
        defer { viewLock.unlock() }
        let runner = FetchRunner(stack: self, context: view)
        return try runner.first(O.self, from.configurations, terms) as? O
    }

    /// All objects of a chain. Without an order, in no particular one. No list of clauses is made.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchAll<O>(_ clauseChain: FetchChainBuilder<O>) throws(CoreStoreError) -> [O] {
        try withView { view throws(CoreStoreError) in
            try FetchRunner(stack: self, context: view).fetch(
                clauseChain.from, clauseChain.terms())
        }
    }
}
