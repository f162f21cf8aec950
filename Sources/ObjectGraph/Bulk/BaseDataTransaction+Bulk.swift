import Query
import RecordStore

// Statements that run on records. No object is made but for those that the transaction has already,
// and in an unsafe transaction, which keeps all of its changes as objects.

extension BaseDataTransaction {
    // MARK: Deleting

    /// Deletes the objects that a condition finds, by the delete rules of their relationships,
    /// without making objects. Returns how many objects the condition found.
    ///
    /// Cascades, unique constraints, the commit's change set and observers see the same as when
    /// each object is deleted by itself. The cost is that of the changed records. An unsafe
    /// transaction makes the objects.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    @discardableResult
    public func deleteAll<O: DynamicObject>(
        _ from: From<O>, _ deleteClauses: any DeleteClause...
    ) throws(CoreStoreError) -> Int {
        try deleteAll(from, deleteClauses)
    }

    /// Deletes the objects that clauses in an array find, by the delete rules of their
    /// relationships. Returns how many objects the clauses found.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    @discardableResult
    public func deleteAll<O: DynamicObject>(
        _ from: From<O>, _ deleteClauses: [any DeleteClause]
    ) throws(CoreStoreError) -> Int {
        try deleteAll(from, fetching: deleteClauses.map { $0 as any FetchClause })
    }

    /// Deletes the objects that a chain finds, by the delete rules of their relationships. Returns
    /// how many objects the chain found.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
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
            try refusingCommit(writing) {
                for part in found where !part.numbers.isEmpty {
                    try BulkDeletion(writing, part.store).delete(part.numbers, in: part.hierarchy)
                }
            }
            return found.reduce(0) { $0 + $1.numbers.count }
        }
    }

    /// A statement that the store ended has done a part of its work, which no commit may have.
    private func refusingCommit(
        _ context: TransactionContext, _ statement: () throws -> Void
    ) throws {
        do {
            try statement()
        } catch let error as StoreError {
            context.refuseCommit(error)
            throw error
        }
    }

    // MARK: Updating

    /// Assigns properties of all objects that a condition finds, without making objects. Returns
    /// how many objects the condition found.
    ///
    /// ```swift
    /// try transaction.update(
    ///     From<Person>(), Where<Person>(\.$age >= 18),
    ///     set: .value(\.$isMember, true), .sum(\.$score, 10))
    /// ```
    ///
    /// Indexes, unique constraints, the commit's change set and observers see the same as when each
    /// object is assigned by itself; a `customSetter:` is not called. Several assignments of one
    /// property are made in their order. An unsafe transaction makes the objects, and checks them
    /// at its commit. Rules of whole objects are checked at the commit.
    ///
    /// - Throws: `.persistentStoreNotFound`; `.internalError` for a sum that the property cannot
    ///   hold, and for values that break a rule of a property, with the
    ///   ``CoreStoreError/violations`` of all objects found: all are counted, and the first 1000
    ///   kept. Some objects may have been assigned then: let the error end the transaction.
    @discardableResult
    public func update<O: DynamicObject>(
        _ from: From<O>, _ clauses: any DeleteClause..., set assignments: Assignment<O>...
    ) throws(CoreStoreError) -> Int {
        try update(from, clauses, set: assignments)
    }

    /// Assigns properties of all objects that clauses in an array find. Returns how many objects
    /// the clauses found.
    ///
    /// - Throws: the errors of the form with a condition.
    @discardableResult
    public func update<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any DeleteClause], set assignments: [Assignment<O>]
    ) throws(CoreStoreError) -> Int {
        try update(from, clauses.map { $0 as any FetchClause }, assignments)
    }

    /// Assigns properties of all objects that a chain finds: `update(From<Person>().where(\.$age >=
    /// 18), set: …)`. Returns how many objects the chain found.
    ///
    /// - Throws: the errors of the form with a condition.
    @discardableResult
    public func update<B: FetchChainableBuilderType>(
        _ clauseChain: B, set assignments: Assignment<B.ObjectType>...
    ) throws(CoreStoreError) -> Int {
        try update(clauseChain, set: assignments)
    }

    /// Assigns properties of all objects that a chain finds, by assignments in an array. Returns
    /// how many objects the chain found.
    ///
    /// - Throws: the errors of the form with a condition.
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
                if part.numbers.isEmpty { continue }
                if let writing = context as? TransactionContext {
                    try refusingCommit(writing) {
                        try BulkUpdate(writing, part.store, part.entity, columns)
                            .update(part.numbers, in: part.hierarchy)
                    }
                } else {
                    try updateObjects(part, columns)
                }
            }
            return found.reduce(0) { $0 + $1.numbers.count }
        }
    }

    private func updateObjects(_ part: FoundRecords, _ columns: [ColumnAssignment]) throws {
        for object in try context.objects(part.numbers, in: part.hierarchy, of: part.store) {
            // An index of a damaged file may lead to a record without the properties.
            if let raw = object.raw, !part.entity.includes(raw.entity.tag) {
                let reader = try context.reader(for: part.store)
                throw ObjectContext.otherEntity(raw.number, part.entity, reader)
            }
            for column in columns { try column.assign(to: object) }
        }
    }
}

/// The records that a fetch found in one store, as numbers.
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
