import Query
import RecordStore

/// The stores that a fetch goes to, and the merging of their results.
struct StoreFanOut {
    /// Returns whether the fetch goes on.
    typealias Body = (Part, ObjectNumber, RowView) throws -> Bool

    struct Part {
        let store: AttachedStore
        let entity: EntityLayout
        let reader: RecordReader
        /// The access that the reader belongs to; nil where uncommitted changes do not count.
        let access: StoreAccess?

        /// - Parameter pending: whether changes that were not committed count.
        init(
            _ store: AttachedStore, _ entity: EntityLayout, _ runner: FetchRunner, pending: Bool
        ) throws(StoreError) {
            self.store = store
            self.entity = entity
            if pending {
                try runner.context.flush()
                let access = try runner.context.access(to: store)
                (reader, self.access) = (access.reader, access)
            } else {
                (reader, access) = (try runner.context.readerBefore(for: store), nil)
            }
        }

        func query(
            _ request: FetchRequest, for purpose: PreparedQuery.Purpose = .records
        ) throws(QueryError) -> PreparedQuery {
            try PreparedQuery.prepare(
                request, of: entity, in: reader, store: store.identity, for: purpose)
        }

        func values(_ request: ValueRequest) throws(QueryError) -> PreparedValues {
            try PreparedValues(request, of: entity, in: reader, store: store.identity)
        }
    }

    let parts: [Part]

    init(
        _ runner: FetchRunner, _ object: any DynamicObject.Type,
        _ configurations: [ModelConfiguration]?, _ affected: [any StorageInterface]?,
        pending: Bool
    ) throws {
        guard let type = object as? CoreStoreObject.Type else {
            throw CoreStoreError.persistentStoreNotFound(entity: object)
        }
        let stores = runner.stack.stores(for: type, in: configurations, of: affected)
        parts = try stores.compactMap { store in
            guard runner.context.sees(store) else { return nil }
            return try store.entities[ObjectIdentifier(type)].map { entity in
                try Part(store, entity, runner, pending: pending)
            }
        }
        guard !parts.isEmpty else {
            throw CoreStoreError.persistentStoreNotFound(entity: object)
        }
    }

    /// Lends each record in the order of the request. Several stores are merged by their sort
    /// values, and the limit counts over all of them.
    func forEach(_ terms: FetchTerms, _ body: Body) throws {
        let queries = try parts.map { try $0.query(terms.ofEachStore) }
        let found = try PreparedQuery.merged(
            queries, limit: terms.request.limit, offset: terms.request.offset)
        for (index, number) in found {
            let part = parts[index]
            var goesOn = true
            try part.reader.lendRow(number, in: part.entity.hierarchy) { row in
                goesOn = try body(part, number, row)
            }
            guard goesOn else { return }
        }
    }
}
