// Fetches on a stack read its view, where the view lives.

extension DataStack: FetchableSource, QueryableSource {
    private func withRunner<Result, Failure>(
        _ body: (FetchRunner) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withView { view throws(Failure) in
            try body(FetchRunner(stack: self, context: view))
        }
    }

    public func fetchExisting<O: DynamicObject>(_ object: O) -> O? {
        fetchExisting(object.objectID())
    }

    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        withRunner { $0.existing(objectID) } as? O
    }

    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objects: S
    ) -> [O] where S.Element == O {
        objects.compactMap { fetchExisting($0.objectID()) }
    }

    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objectIDs: S
    ) -> [O] where S.Element == NSManagedObjectID {
        objectIDs.compactMap { fetchExisting($0) }
    }

    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O? {
        try first(from, FetchTerms(fetchClauses, limit: 1))
    }

    /// The same as of any chain, without a list of clauses: what programs ask most often.
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

    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O] {
        try withRunner { runner throws(CoreStoreError) in
            try runner.fetch(from, FetchTerms(fetchClauses))
        }
    }

    /// The same as of any chain, without a list of clauses.
    public func fetchAll<O>(_ clauseChain: FetchChainBuilder<O>) throws(CoreStoreError) -> [O] {
        try withRunner { runner throws(CoreStoreError) in
            try runner.fetch(clauseChain.from, clauseChain.terms())
        }
    }

    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        try withRunner { runner throws(CoreStoreError) in try runner.count(from, fetchClauses) }
    }

    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try withRunner { runner throws(CoreStoreError) in
            try runner.fetchIDs(from, fetchClauses, limit: 1).first
        }
    }

    public func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try withRunner { runner throws(CoreStoreError) in try runner.fetchIDs(from, fetchClauses) }
    }

    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try withRunner { runner throws(CoreStoreError) in
            try runner.value(from, selectClause, queryClauses)
        }
    }

    public func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]] {
        try withRunner { runner throws(CoreStoreError) in
            try runner.attributes(from, selectClause, queryClauses)
        }
    }
}
