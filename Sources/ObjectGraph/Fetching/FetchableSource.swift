/// A source of objects: a ``DataStack``, a transaction or a ``ReadView``.
///
/// Each function can be called where its source can be used: on a stack where its view lives (the
/// main actor by default), on a transaction in its closure, on a ``ReadView`` on any thread. A
/// fetch in a transaction sees the transaction's own changes. It blocks the caller while pages are
/// read.
///
/// The errors are `.persistentStoreNotFound` when no attached store has the entity, and
/// `.internalError` for a condition that makes no sense or a store that cannot be read; each is
/// logged once.
public protocol FetchableSource: FetchContextOwner {
    /// This source's instance of an object; nil when it is gone.
    func fetchExisting<O: DynamicObject>(_ object: O) -> O?
    /// This source's instance of the object with this ID; nil when it is gone or cannot be read.
    func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O?
    /// This source's instances of these objects, in order, without those that are gone.
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objects: S) -> [O] where S.Element == O
    /// This source's instances of the objects with these IDs, in order, without those that are
    /// gone.
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objectIDs: S) -> [O]
    where S.Element == NSManagedObjectID

    /// The first object, by the order of the clauses; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O?
    /// All objects. Without an order, in no particular one.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O]
    /// How many objects there are, within the limit and the offset of the clauses. It makes no
    /// object.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int
    /// The ID of the first object, which is not made; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID?
    /// The IDs of all objects, which are not made, in the order of the clauses.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [NSManagedObjectID]
}

extension FetchableSource {
    /// This source's instance of an object; nil when it is gone.
    public func fetchExisting<O: DynamicObject>(_ object: O) -> O? {
        fetchExisting(object.objectID())
    }

    /// This source's instance of the object with this ID; nil when it is gone or cannot be read.
    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        withFetchContext { $0.runner.existing(objectID) } as? O
    }

    /// This source's instances of these objects, in order, without those that are gone.
    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objects: S
    ) -> [O] where S.Element == O {
        fetchExisting(objects.map { $0.objectID() })
    }

    /// This source's instances of the objects with these IDs, in order, without those that are
    /// gone.
    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objectIDs: S
    ) -> [O] where S.Element == NSManagedObjectID {
        let ids = Array(objectIDs)
        return withFetchContext { context in
            ids.compactMap { context.runner.existing($0) as? O }
        }
    }

    /// The first object, by the order of the clauses; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.first(
                O.self, from.configurations, FetchTerms(fetchClauses, limit: 1))
        } as? O
    }

    /// All objects. Without an order, in no particular one.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O] {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.fetch(from, FetchTerms(fetchClauses))
        }
    }

    /// How many objects there are, within the limit and the offset of the clauses.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.count(from, fetchClauses)
        }
    }

    /// The ID of the first object, which is not made; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.fetchIDs(from, fetchClauses, limit: 1).first
        }
    }

    /// The IDs of all objects, which are not made, in the order of the clauses.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
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
    /// Describes the access plan of fetching all objects of a chain: by which index or scan they
    /// are found, and whether they are sorted afterwards. The text is for people and may change
    /// from version to version. The fetch itself does not run.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
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
    /// The first object, by the order of the clauses; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> O? {
        try fetchOne(from, fetchClauses)
    }

    /// The first object of a chain, by its order; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchOne<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> B.ObjectType? {
        try fetchOne(clauseChain.from, clauseChain.fetchClauses)
    }

    /// All objects. Without an order, in no particular one.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [O] {
        try fetchAll(from, fetchClauses)
    }

    /// All objects of a chain. Without an order, in no particular one.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchAll<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [B.ObjectType] {
        try fetchAll(clauseChain.from, clauseChain.fetchClauses)
    }

    /// How many objects there are, within the limit and the offset of the clauses.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> Int {
        try fetchCount(from, fetchClauses)
    }

    /// How many objects a chain finds, within its limit and its offset.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchCount<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> Int {
        try fetchCount(clauseChain.from, clauseChain.fetchClauses)
    }

    /// The ID of the first object, which is not made; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(from, fetchClauses)
    }

    /// The ID of the first object of a chain, which is not made; nil when there is none.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchObjectID<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(clauseChain.from, clauseChain.fetchClauses)
    }

    /// The IDs of all objects, which are not made, in the order of the clauses.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(from, fetchClauses)
    }

    /// The IDs of all objects of a chain, which are not made, in its order.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func fetchObjectIDs<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(clauseChain.from, clauseChain.fetchClauses)
    }
}
