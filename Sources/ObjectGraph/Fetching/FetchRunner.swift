import Query
import RecordStore

/// Runs clauses for a context: finds the stores, runs the request in each, and merges.
struct FetchRunner {
    let stack: DataStack
    let context: ObjectContext

    // MARK: Objects

    func fetch<O: DynamicObject>(
        _ from: From<O>, _ terms: FetchTerms
    ) throws(CoreStoreError) -> [O] {
        var objects: [O] = []
        try forEachObject(O.self, from.configurations, terms) { object in
            if let object = object as? O { objects.append(object) }
        }
        return objects
    }

    /// The first object that a fetch of a class finds, by terms that ask for one.
    func first(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms
    ) throws(CoreStoreError) -> CoreStoreObject? {
        var first: CoreStoreObject?
        try forEachObject(type, configurations, terms) { object in
            // A tweak may have asked for more.
            first = first ?? object
        }
        return first
    }

    private func forEachObject(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms, _ body: (CoreStoreObject) -> Void
    ) throws(CoreStoreError) {
        guard !terms.includesPendingChanges,
            (context as? EditingContext)?.changes.hasChanges == true
        else {
            return try forEachFound(type, configurations, terms) { object in
                body(object)
                return true
            }
        }
        // What the transaction has deleted is left out, and counts for no limit.
        var skipped = terms.request.offset
        var rest = terms.request.limit ?? .max
        try forEachFound(type, configurations, terms.forAll) { object in
            guard rest > 0 else { return false }
            guard skipped == 0 else {
                skipped -= 1
                return true
            }
            rest -= 1
            body(object)
            return rest > 0
        }
    }

    /// The part of a fetch that is not generic, and so runs without asking for types.
    ///
    /// - Parameter body: returns whether the fetch goes on.
    private func forEachFound(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms, _ body: (CoreStoreObject) -> Bool
    ) throws(CoreStoreError) {
        try throwFault()
        do {
            try forEachRow(type, configurations, terms) { part, number, row in
                let access = try part.access ?? context.access(to: part.store)
                // A row from before the transaction may be older than what the object has there.
                let object =
                    part.reader === access.reader
                    ? try context.object(number, row: row, access)
                    : try context.object(
                        number, in: part.reader.schema.knownEntity(tag: row.entityTag).hierarchy,
                        access)
                guard let object, object.change != .deleted else { return true }
                return body(object)
            }
        } catch {
            throw reported(error)
        }
    }

    /// Lends each record of a fetch, in its order.
    private func forEachRow(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms, _ body: StoreFanOut.Body
    ) throws {
        guard terms.affectedStores == nil, let type = type as? CoreStoreObject.Type,
            let (store, entity) = stack.soleStore(for: type, in: configurations),
            context.sees(store)
        else {
            return try StoreFanOut(
                self, type, configurations, terms.affectedStores,
                pending: terms.includesPendingChanges
            )
            .forEach(terms, body)
        }
        // Most fetches go to one store, and make no list of it.
        let part = try StoreFanOut.Part(
            store, entity, self, pending: terms.includesPendingChanges)
        try part.query(terms.request).lendEach { number, row in
            try body(part, number, row)
        }
    }

    func count<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        try run {
            let terms = FetchTerms(clauses)
            let fanOut = try StoreFanOut(
                self, O.self, from.configurations, terms.affectedStores,
                pending: terms.includesPendingChanges)
            var total = 0
            for part in fanOut.parts {
                total += try part.query(terms.unlimited, for: .count).count()
            }
            let rest = max(0, total - terms.request.offset)
            return min(rest, terms.request.limit ?? rest)
        }
    }

    func fetchIDs<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause], limit: Int? = nil
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try run {
            var ids: [NSManagedObjectID] = []
            let terms = FetchTerms(clauses, limit: limit)
            try forEachRow(O.self, from.configurations, terms) { part, number, row in
                let entity = part.reader.schema.knownEntity(tag: row.entityTag)
                ids.append(NSManagedObjectID(number, in: part.store.storeEntity(for: entity)))
                return true
            }
            return ids
        }
    }

    /// The plan of a fetch in each store that it goes to, for people.
    func explain<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause]
    ) throws(CoreStoreError) -> String {
        try run {
            let terms = FetchTerms(clauses)
            let parts = try StoreFanOut(
                self, O.self, from.configurations, terms.affectedStores,
                pending: terms.includesPendingChanges
            ).parts
            guard parts.count > 1 else {
                return try parts.map { try $0.query(terms.request).explanation }.joined()
            }
            let plans = try parts.map { try $0.query(terms.ofEachStore).explanation }
            return plans.joined(separator: "; ") + "; merged"
        }
    }

    /// The objects whose property has one of these values, the first of each. Nil unless an index
    /// of one store finds them all.
    func objects<O: CoreStoreObject>(
        _ type: O.Type, where name: KeyPathString, isOneOf values: [Value]
    ) throws(CoreStoreError) -> KnownObjects<O>? {
        try run {
            guard let (store, entity) = stack.soleStore(for: type, in: nil), context.sees(store),
                let index = entity.index(on: name)
            else { return nil }
            try context.flush()
            let access = try context.access(to: store)
            guard let matches = try access.reader.matches(in: index, equalTo: values) else {
                return nil
            }
            let rows = access.reader.rowLookup(entity.hierarchy)
            var known = KnownObjects<O>(count: values.count)
            known.repeats = matches.repeats
            // In the order of their numbers: of several with one value the first.
            for match in matches.found where known.objects[match.position] == nil {
                let object = try rows.withRow(match.number) { row throws(StoreError) in
                    try context.object(match.number, row: row, access)
                }
                guard let object = object as? O, object.change != .deleted else { continue }
                known.objects[match.position] = object
            }
            return known
        }
    }

    func existing(_ id: NSManagedObjectID) -> CoreStoreObject? {
        do throws(StoreError) {
            try context.makeRoom()
            return try context.existing(id)
        } catch {
            context.fail(error, "an object could not be fetched.")
            return nil
        }
    }

    /// Returns an object with its row loaded. Throws if it cannot be read.
    func loadExisting(_ id: NSManagedObjectID) throws(CoreStoreError) -> CoreStoreObject? {
        try run {
            try context.makeRoom()
            guard let object = try context.existing(id), let raw = object.raw else { return nil }
            try context.loadRow(of: object, raw)
            return object
        }
    }

    // MARK: Values

    func value<O: DynamicObject, U: QueryableAttributeType>(
        _ from: From<O>, _ select: Select<O, U>, _ clauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try run {
            let rows = try rows(
                from, Array(select.columns.prefix(1)), clauses, ValueBridge.native
            ).rows
            guard let native = rows.first?.first ?? nil else { return nil }
            return U.cs_value(of: native)
        }
    }

    func attributes<O: DynamicObject>(
        _ from: From<O>, _ select: Select<O, NSDictionary>, _ clauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]] {
        try run {
            let (columns, rows) = try rows(from, select.columns, clauses, ValueBridge.boxed)
            return rows.map { row in
                var dictionary: [String: Any] = [:]
                for (column, value) in zip(columns, row) {
                    if let value { dictionary[column.alias] = value }
                }
                return dictionary
            }
        }
    }

    /// The rows, and the columns that they have: those that name a property.
    private func rows<O: DynamicObject>(
        _ from: From<O>, _ columns: [Column], _ clauses: [any QueryClause],
        _ form: (Value) -> Any?
    ) throws -> (columns: [Column], rows: [[Any?]]) {
        // One by one: as a whole the list would be cast while the program runs.
        let terms = FetchTerms(clauses.map { $0 })
        let parts = try StoreFanOut(
            self, O.self, from.configurations, terms.affectedStores, pending: false
        ).parts
        let request = ValueRequest(
            terms.request, terms: columns.map(\.term),
            groupPaths: terms.groupKeyPaths.map { $0.split(separator: ".").map(String.init) },
            returnsDistinct: terms.returnsDistinctResults)
        let queries = try parts.map { try $0.values(request) }
        let unknown = queries.first?.unknownTerms ?? [:]
        for error in unknown.values {
            Log.message(.warning, "a query leaves a column out: \(error.message)")
        }
        let known = columns.indices.filter { unknown[$0] == nil }.map { columns[$0] }
        let entities = parts.map { part in
            known.map { Self.entity(of: $0, in: part.reader.schema, from: part.entity) }
        }
        let rows = try PreparedValues.rows(queries).map { row in
            zip(row.values, entities[row.store]).map { value, entity -> Any? in
                if case .object(let number) = value {
                    return NSManagedObjectID(
                        number, in: parts[row.store].store.storeEntity(for: entity))
                }
                return form(value)
            }
        }
        return (known, rows)
    }

    /// The entity of the objects that a column names: of those that its path leads to.
    private static func entity(
        of column: Column, in schema: Schema, from start: EntityLayout
    ) -> EntityLayout {
        var entity = start
        let path: [String] =
            switch column.term {
            case .objectID: []
            case .attribute(let path), .aggregate(_, let path): path
            }
        for name in path {
            guard let relationship = entity.relationship(named: name) else { continue }
            entity = schema.knownEntity(tag: relationship.destinationTag)
        }
        return entity
    }

    // MARK: Errors

    /// Every failure is logged once and becomes a `CoreStoreError`.
    func run<Result>(_ body: () throws -> Result) throws(CoreStoreError) -> Result {
        try throwFault()
        do {
            return try body()
        } catch {
            throw reported(error)
        }
    }

    /// Throws what was logged already.
    private func throwFault() throws(CoreStoreError) {
        do throws(StoreError) {
            try context.throwFault()
        } catch {
            throw CoreStoreError(error)
        }
    }

    private func reported(_ error: any Error) -> CoreStoreError {
        let failure = CoreStoreError(error)
        let changing = context as? EditingContext
        if changing?.hasLogged(failure) != true && !Log.hasLogged(failure) {
            Log.error(failure, "a fetch failed.")
        }
        changing?.noteLogged(failure)
        return failure
    }
}
