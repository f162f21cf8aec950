import Query

/// What the clauses of a fetch say together.
struct FetchTerms {
    var fetchLimit = 0
    var fetchOffset = 0
    var includesPendingChanges = true
    var includesSubentities = true
    var returnsDistinctResults = false
    var condition: WhereCondition?
    var sortKeys: [Query.SortKey] = []
    var groupKeyPaths: [KeyPathString] = []

    init() {}

    /// What the clauses say, each of which may read what those before it said.
    init(_ clauses: [any FetchClause], limit: Int = 0) {
        self.init()
        let request = NSFetchRequest<CoreStoreObject>()
        request.terms.fetchLimit = limit
        for clause in clauses { clause.applyToFetchRequest(request) }
        // Taken out, because reading what an object holds is checked at each access.
        swap(&self, &request.terms)
    }

    /// What a condition says alone.
    init(_ condition: WhereCondition, limit: Int) {
        self.condition = condition
        fetchLimit = limit
    }

    /// Nil for no limit.
    var limit: Int? { fetchLimit > 0 ? fetchLimit : nil }
    var offset: Int { max(0, fetchOffset) }

    /// The request in the terms of the store. Throws a `QueryError` for a condition that could not
    /// be read.
    func request(entityName: String, in store: UUID) throws -> FetchRequest {
        var request = FetchRequest(
            entityName: entityName,
            condition: try condition?.in(store).resolved() ?? .constant(true),
            sortKeys: sortKeys,
            limit: limit, offset: offset)
        request.includesSubentities = includesSubentities
        return request
    }
}
