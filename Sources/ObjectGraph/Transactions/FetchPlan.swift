import Query
import RecordStore

/// A request resolved against the stores that it goes to.
struct FetchPlan {
    struct Part {
        var store: AttachedStore
        var reader: RecordReader
        var request: FetchRequest
    }

    private(set) var parts: [Part] = []
    let limit: Int?
    let offset: Int
    let groupKeyPaths: [KeyPathString]
    let returnsDistinct: Bool
    private let sortKeys: [Query.SortKey]

    init(
        _ runner: FetchRunner, _ object: any DynamicObject.Type,
        _ configurations: [ModelConfiguration]?, _ terms: FetchTerms,
        seesPendingChanges: Bool = true
    ) throws {
        guard let type = object as? CoreStoreObject.Type else {
            throw CoreStoreError.persistentStoreNotFound(entity: object)
        }
        let stores = runner.stack.stores(for: type, in: configurations)
        guard !stores.isEmpty else {
            throw CoreStoreError.persistentStoreNotFound(entity: object)
        }
        let isPending = seesPendingChanges && terms.includesPendingChanges
        if isPending { try runner.context.flush() }
        limit = terms.limit
        offset = terms.offset
        groupKeyPaths = terms.groupKeyPaths
        returnsDistinct = terms.returnsDistinctResults
        sortKeys = terms.sortKeys
        for store in stores {
            guard let entity = store.entities[ObjectIdentifier(type)] else { continue }
            let reader =
                isPending
                ? try runner.context.reader(for: store)
                : try runner.context.readerBefore(for: store)
            parts.append(
                Part(
                    store: store, reader: reader,
                    request: try terms.request(entityName: entity.name, in: store.id)))
        }
    }

    /// Lends each record in the order of the request; several stores are merged by their sort
    /// values, and the limit counts over all of them.
    func forEach(
        _ body: (AttachedStore, RecordReader, ObjectNumber, RowView) throws -> Void
    ) throws {
        if parts.count == 1, let part = parts.first {
            func lend(_ number: ObjectNumber, _ row: RowView) throws -> Bool {
                try body(part.store, part.reader, number, row)
                return true
            }
            try QueryRunner(part.reader).forEach(part.request, lend)
            return
        }
        var found: [(part: Int, number: ObjectNumber, values: [Value])] = []
        for (index, part) in parts.enumerated() {
            var request = part.request
            request.limit = limit.map { $0 + offset }
            request.offset = 0
            for (number, values) in try QueryRunner(part.reader).sortedNumbers(request) {
                found.append((index, number, values))
            }
        }
        found.sort { left, right in
            let order = SortOrder.compare(left.values, right.values, sortKeys)
            if order != 0 { return order < 0 }
            return left.part != right.part ? left.part < right.part : left.number < right.number
        }
        let rest = found.dropFirst(offset)
        for entry in limit.map({ rest.prefix($0) }) ?? rest {
            let part = parts[entry.part]
            guard let entity = part.reader.schema.entity(named: part.request.entityName) else {
                continue
            }
            var failure: (any Error)?
            _ = try part.reader.withRow(entry.number, in: entity.hierarchy) { row in
                do {
                    try body(part.store, part.reader, entry.number, row)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }
}
