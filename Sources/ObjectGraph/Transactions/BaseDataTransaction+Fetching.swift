// Fetches in a transaction see its own changes; queries see what was committed.

extension BaseDataTransaction: FetchableSource, QueryableSource {
    private func withRunner<Result, Failure>(
        _ body: (FetchRunner) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        checkOpen()
        return try body(FetchRunner(stack: stack, context: context))
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
        try withRunner { runner throws(CoreStoreError) in
            try runner.first(O.self, from.configurations, FetchTerms(fetchClauses, limit: 1))
        } as? O
    }

    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O] {
        try withRunner { runner throws(CoreStoreError) in
            try runner.fetch(from, FetchTerms(fetchClauses))
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
