import Query

/// The clauses of a fetch or of a query, taken together.
struct FetchTerms {
    // Without a default, which a value set by an initialiser would be copied over.
    var request: FetchRequest
    var includesPendingChanges = true
    var returnsDistinctResults = false
    var groupKeyPaths: [KeyPathString] = []
    /// The storages that the request is limited to; nil for all.
    var affectedStores: [any StorageInterface]?
    /// The paths that an observed list follows besides its own objects.
    var watchedPaths: [[String]] = []

    init() { request = FetchRequest() }

    /// Each of the clauses may read what those before it said.
    init(_ clauses: [any FetchClause], limit: Int? = nil) {
        self.init()
        let request = NSFetchRequest<CoreStoreObject>()
        request.terms.request.limit = limit
        for clause in clauses { clause.applyToFetchRequest(request) }
        // Taken out, because reading what an object holds is checked at each access.
        swap(&self, &request.terms)
    }

    /// A condition alone.
    init(_ condition: Condition, limit: Int?) {
        request = FetchRequest(condition: condition, limit: limit)
    }

    /// The request to each of several stores, whose results are merged: any of them may have all
    /// objects up to the limit.
    var ofEachStore: FetchRequest {
        var request = request
        let (end, overflows) = (request.limit ?? 0).addingReportingOverflow(request.offset)
        request.limit = request.limit == nil || overflows ? nil : end
        request.offset = 0
        return request
    }

    /// These terms for all objects, without limit and offset.
    var forAll: FetchTerms {
        var terms = self
        terms.request = unlimited
        return terms
    }

    /// The request for all objects, without its limit and its offset.
    var unlimited: FetchRequest {
        var request = request
        (request.limit, request.offset) = (nil, 0)
        return request
    }
}
