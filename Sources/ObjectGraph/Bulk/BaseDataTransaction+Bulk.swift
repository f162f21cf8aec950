import Query
import RecordStore

// Statements that run on records. No object is made but for those that the transaction has already,
// and in an unsafe transaction, which keeps all of its changes as objects.

extension BaseDataTransaction {
    // MARK: Deleting

    /// Deletes what a condition finds, by the delete rules of its relationships, without making
    /// objects. Returns how many objects the condition found.
    ///
    /// Cascades, unique constraints, the commit's change set and observers see the same as when
    /// each object is deleted by itself. The cost is that of the changed records.
    @discardableResult
    public func deleteAll<O: DynamicObject>(
        _ from: From<O>, _ deleteClauses: any DeleteClause...
    ) throws(CoreStoreError) -> Int {
        try deleteAll(from, deleteClauses)
    }

    @discardableResult
    public func deleteAll<O: DynamicObject>(
        _ from: From<O>, _ deleteClauses: [any DeleteClause]
    ) throws(CoreStoreError) -> Int {
        try deleteAll(from, fetching: deleteClauses.map { $0 as any FetchClause })
    }

    @discardableResult
    public func deleteAll<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> Int {
        try deleteAll(clauseChain.from, fetching: clauseChain.fetchClauses)
    }

    private func deleteAll<O: DynamicObject>(
        _ from: From<O>, fetching clauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        checkOpen()
        guard let writing = context as? TransactionContext else {
            return delete(try fetchAll(from, clauses))
        }
        let runner = FetchRunner(stack: stack, context: writing)
        return try runner.run {
            let found = try runner.numbers(from, clauses)
            for part in found {
                try BulkDeletion(writing, part.store).delete(part.numbers, in: part.hierarchy)
            }
            return found.reduce(0) { $0 + $1.numbers.count }
        }
    }

    // MARK: Updating

    /// Assigns properties of everything that a condition finds, without making objects. Returns how
    /// many objects the condition found.
    ///
    /// ```swift
    /// try transaction.update(
    ///     From<Person>(), Where<Person>(\.$age >= 18),
    ///     set: .value(\.$isMember, true), .sum(\.$score, 10))
    /// ```
    ///
    /// Indexes, unique constraints, the commit's change set and observers see the same as when each
    /// object is assigned by itself; a `customSetter:` is not called. Throws for a sum that the
    /// property cannot hold, and for values that break a rule of a property, with the
    /// ``CoreStoreError/violations`` of all that the condition found: it counts them all, and keeps
    /// the first 1000. Some objects may have been assigned then: let the error end the transaction.
    /// Rules of whole objects are checked at the commit.
    @discardableResult
    public func update<O: DynamicObject>(
        _ from: From<O>, _ clauses: any DeleteClause..., set assignments: Assignment<O>...
    ) throws(CoreStoreError) -> Int {
        try update(from, clauses, set: assignments)
    }

    /// The same of lists of clauses and assignments.
    @discardableResult
    public func update<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any DeleteClause], set assignments: [Assignment<O>]
    ) throws(CoreStoreError) -> Int {
        try update(from, clauses.map { $0 as any FetchClause }, assignments)
    }

    /// The same of a chain: `update(From<Person>().where(\.$age >= 18), set: …)`.
    @discardableResult
    public func update<B: FetchChainableBuilderType>(
        _ clauseChain: B, set assignments: Assignment<B.ObjectType>...
    ) throws(CoreStoreError) -> Int {
        try update(clauseChain, set: assignments)
    }

    /// The same of a chain and a list of assignments.
    @discardableResult
    public func update<B: FetchChainableBuilderType>(
        _ clauseChain: B, set assignments: [Assignment<B.ObjectType>]
    ) throws(CoreStoreError) -> Int {
        try update(clauseChain.from, clauseChain.fetchClauses, assignments)
    }

    private func update<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause], _ assignments: [Assignment<O>]
    ) throws(CoreStoreError) -> Int {
        checkOpen()
        let runner = FetchRunner(stack: stack, context: context)
        return try runner.run {
            let found = try runner.numbers(from, clauses)
            for part in found {
                let columns = try assignments.map { assignment throws(CoreStoreError) in
                    try ColumnAssignment(assignment, part.entity)
                }
                if let writing = context as? TransactionContext {
                    try BulkUpdate(writing, part.store, columns)
                        .update(part.numbers, in: part.hierarchy)
                } else {
                    try updateObjects(part, columns)
                }
            }
            return found.reduce(0) { $0 + $1.numbers.count }
        }
    }

    private func updateObjects(_ part: FoundRecords, _ columns: [ColumnAssignment]) throws {
        for object in try context.objects(part.numbers, in: part.hierarchy, of: part.store) {
            for column in columns { try column.assign(to: object) }
        }
    }
}

/// What a fetch found in one store, as numbers.
struct FoundRecords {
    let store: AttachedStore
    let entity: EntityLayout
    var numbers: [ObjectNumber]

    var hierarchy: HierarchyID { entity.hierarchy }
}

extension FetchRunner {
    /// The numbers that a fetch finds in each store. Nothing is pending afterwards.
    func numbers<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause]
    ) throws -> [FoundRecords] {
        try context.flush()
        let terms = FetchTerms(clauses)
        let parts = try StoreFanOut(
            self, O.self, from.configurations, terms.affectedStores,
            pending: terms.includesPendingChanges
        ).parts
        var found = parts.map {
            FoundRecords(store: $0.store, entity: $0.entity, numbers: [])
        }
        if parts.count == 1 {
            found[0].numbers = try parts[0].query(terms.request).numbers()
        } else {
            let queries = try parts.map { try $0.query(terms.ofEachStore) }
            let merged = try PreparedQuery.merged(
                queries, limit: terms.request.limit, offset: terms.request.offset)
            for (index, number) in merged { found[index].numbers.append(number) }
        }
        return found
    }
}
