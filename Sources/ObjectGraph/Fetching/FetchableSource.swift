/// A source of objects: a ``DataStack`` or a transaction.
///
/// A fetch in a transaction sees the transaction's own changes. The errors are
/// `.persistentStoreNotFound` when no attached store has the entity, and `.internalError` for a
/// condition that makes no sense or a store that cannot be read; each is logged once.
public protocol FetchableSource: FetchContextOwner {
    /// This source's instance of an object; nil when it is gone.
    func fetchExisting<O: DynamicObject>(_ object: O) -> O?
    func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O?
    /// This source's instances, in order, without those that are gone.
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objects: S) -> [O] where S.Element == O
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objectIDs: S) -> [O]
    where S.Element == NSManagedObjectID

    /// The first object, nil when there is none.
    func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O?
    /// All objects. Without an order, in no particular one.
    func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O]
    /// How many objects there are; none is made.
    func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int
    func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID?
    func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [NSManagedObjectID]
}

extension FetchableSource {
    public func fetchExisting<O: DynamicObject>(_ object: O) -> O? {
        fetchExisting(object.objectID())
    }

    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        withFetchContext { $0.runner.existing(objectID) } as? O
    }

    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objects: S
    ) -> [O] where S.Element == O {
        fetchExisting(objects.map { $0.objectID() })
    }

    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objectIDs: S
    ) -> [O] where S.Element == NSManagedObjectID {
        let ids = Array(objectIDs)
        return withFetchContext { context in
            ids.compactMap { context.runner.existing($0) as? O }
        }
    }

    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.first(
                O.self, from.configurations, FetchTerms(fetchClauses, limit: 1))
        } as? O
    }

    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O] {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.fetch(from, FetchTerms(fetchClauses))
        }
    }

    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.count(from, fetchClauses)
        }
    }

    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.fetchIDs(from, fetchClauses, limit: 1).first
        }
    }

    public func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.fetchIDs(from, fetchClauses)
        }
    }
}

// MARK: Plans

extension FetchableSource {
    /// How a fetch of all objects of a chain finds them: by which index or scan, and whether they
    /// are sorted afterwards. A text for people, which may change from version to version.
    public func explain<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> String {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.explain(clauseChain.from, clauseChain.fetchClauses)
        }
    }
}

// MARK: Clauses one by one, and chains

extension FetchableSource {
    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> O? {
        try fetchOne(from, fetchClauses)
    }

    public func fetchOne<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> B.ObjectType? {
        try fetchOne(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [O] {
        try fetchAll(from, fetchClauses)
    }

    public func fetchAll<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [B.ObjectType] {
        try fetchAll(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> Int {
        try fetchCount(from, fetchClauses)
    }

    public func fetchCount<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> Int {
        try fetchCount(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(from, fetchClauses)
    }

    public func fetchObjectID<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(from, fetchClauses)
    }

    public func fetchObjectIDs<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(clauseChain.from, clauseChain.fetchClauses)
    }
}
