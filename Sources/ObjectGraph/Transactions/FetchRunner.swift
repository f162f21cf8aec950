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

    /// What is not generic of a fetch, and so runs without asking for types.
    private func forEachObject(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms, _ body: (CoreStoreObject) -> Void
    ) throws(CoreStoreError) {
        do {
            let isDone = try forEachKeyedRow(type, configurations, terms) { access, number, row in
                let object = try context.object(number, row: row, access)
                if object.state != .deleted { body(object) }
            }
            if isDone { return }
            try FetchPlan(self, type, configurations, terms).forEach { store, reader, number, row in
                let access = try context.access(to: store)
                // A row from before the transaction may be older than what the object has there.
                let object =
                    reader === access.reader
                    ? try context.object(number, row: row, access)
                    : try context.object(
                        number, in: reader.schema.knownEntity(tag: row.entityTag).hierarchy,
                        of: store)
                if let object, object.state != .deleted { body(object) }
            }
        } catch {
            throw reported(error)
        }
    }

    /// Lends the records that the lookup of a key finds, if that is all there is to do: nothing to
    /// plan, to merge or to sort. False for most requests, though not for most of those that
    /// programs make.
    private func forEachKeyedRow(
        _ type: any DynamicObject.Type, _ configurations: [ModelConfiguration]?,
        _ terms: FetchTerms, _ body: (StoreAccess, ObjectNumber, RowView) throws -> Void
    ) throws -> Bool {
        guard let condition = terms.condition, condition.isEquality,
            terms.sortKeys.isEmpty, terms.includesPendingChanges || context.role == .view,
            let type = type as? CoreStoreObject.Type,
            let (store, entity) = stack.soleStore(for: type, in: configurations),
            case .equality(let name, let value) = condition.in(store.id)
        else { return false }
        try context.flush()
        let access = try context.access(to: store)
        return try KeyLookup.forEach(
            name, equals: value, of: entity, in: access.reader,
            includesSubentities: terms.includesSubentities, limit: terms.limit,
            offset: terms.offset
        ) { number, row in
            try body(access, number, row)
        }
    }

    func count<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int {
        try run {
            let plan = try FetchPlan(self, O.self, from.configurations, FetchTerms(clauses))
            var total = 0
            for part in plan.parts {
                var request = part.request
                (request.limit, request.offset) = (nil, 0)
                total += try QueryRunner(part.reader).count(request)
            }
            let rest = max(0, total - plan.offset)
            return min(rest, plan.limit ?? rest)
        }
    }

    func fetchIDs<O: DynamicObject>(
        _ from: From<O>, _ clauses: [any FetchClause], limit: Int = 0
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try run {
            var ids: [NSManagedObjectID] = []
            func add(
                _ store: AttachedStore, _ reader: RecordReader, _ number: ObjectNumber,
                _ row: RowView
            ) {
                let entity = reader.schema.knownEntity(tag: row.entityTag)
                ids.append(NSManagedObjectID(number, in: store.home(of: entity)))
            }
            let terms = FetchTerms(clauses, limit: limit)
            let isDone = try forEachKeyedRow(O.self, from.configurations, terms) {
                access, number, row in
                add(access.store, access.reader, number, row)
            }
            if !isDone { try FetchPlan(self, O.self, from.configurations, terms).forEach(add) }
            return ids
        }
    }

    /// The objects whose property has one of these values, each with its value's place in the
    /// list. Nil unless an index of one store finds them all.
    func objects<O: CoreStoreObject>(
        _ type: O.Type, where name: KeyPathString, isOneOf values: [Value]
    ) throws(CoreStoreError) -> [(position: Int, object: O)]? {
        try run {
            guard let (store, entity) = stack.soleStore(for: type, in: nil),
                let index = entity.index(on: name)
            else { return nil }
            try context.flush()
            let access = try context.access(to: store)
            guard let matches = try access.reader.matches(in: index, equalTo: values) else {
                return nil
            }
            let rows = access.reader.rowLookup(entity.hierarchy)
            return try matches.compactMap { match in
                let object = try rows.withRow(match.number) { row throws(StoreError) in
                    try context.object(match.number, row: row, access)
                }
                guard let object = object as? O, object.state != .deleted else { return nil }
                return (match.position, object)
            }
        }
    }

    func existing(_ id: NSManagedObjectID) -> CoreStoreObject? {
        do throws(StoreError) {
            try context.makeRoom()
            return try context.existing(id)
        } catch {
            Log.error(CoreStoreError(error), "an object could not be fetched.")
            return nil
        }
    }

    // MARK: Values

    func value<O: DynamicObject, U: QueryableAttributeType>(
        _ from: From<O>, _ select: Select<O, U>, _ clauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try run {
            let rows = try rows(
                from, Array(select.columns.prefix(1)), clauses, ValueBridge.native)
            guard let native = rows.first?.first ?? nil else { return nil }
            return U.cs_fromQueryableNativeType(native)
        }
    }

    func attributes<O: DynamicObject>(
        _ from: From<O>, _ select: Select<O, NSDictionary>, _ clauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]] {
        try run {
            try rows(from, select.columns, clauses, ValueBridge.boxed).map { row in
                var dictionary: [String: Any] = [:]
                for (column, value) in zip(select.columns, row) {
                    if let value { dictionary[column.alias] = value }
                }
                return dictionary
            }
        }
    }

    private func rows<O: DynamicObject>(
        _ from: From<O>, _ columns: [Column], _ clauses: [any QueryClause],
        _ form: (Value) -> Any?
    ) throws -> [[Any?]] {
        // One by one: as a whole the list would be cast while the program runs.
        let terms = FetchTerms(clauses.map { $0 })
        let plan = try FetchPlan(
            self, O.self, from.configurations, terms, seesPendingChanges: false)
        guard plan.parts.count == 1, let part = plan.parts.first else {
            throw QueryError(
                "a query reads one store: name a configuration in From, because several have "
                    + "\(O.self)")
        }
        let request = ValueRequest(
            part.request, terms: columns.map(\.term),
            groupPaths: plan.groupKeyPaths.map { $0.split(separator: ".").map(String.init) },
            returnsDistinct: plan.returnsDistinct)
        let schema = part.reader.schema
        let entities = columns.map {
            Self.entity(of: $0, in: schema, from: part.request.entityName)
        }
        return try QueryRunner(part.reader).rows(request).map { row in
            zip(row, entities).map { value, entity in
                if case .object(let number) = value, let entity {
                    return NSManagedObjectID(number, in: part.store.home(of: entity))
                }
                return form(value)
            }
        }
    }

    /// The entity of the objects that a column names: of those that its path leads to.
    private static func entity(
        of column: Column, in schema: Schema, from name: EntityName
    ) -> EntityLayout? {
        guard var entity = schema.entity(named: name) else { return nil }
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
    private func run<Result>(_ body: () throws -> Result) throws(CoreStoreError) -> Result {
        do {
            return try body()
        } catch {
            throw reported(error)
        }
    }

    private func reported(_ error: any Error) -> CoreStoreError {
        let failure: CoreStoreError
        switch error {
        case let error as CoreStoreError: failure = error
        case let error as QueryError: failure = .failure(.query, error.message)
        default: failure = CoreStoreError(error)
        }
        Log.error(failure, "a fetch failed.")
        return failure
    }
}
