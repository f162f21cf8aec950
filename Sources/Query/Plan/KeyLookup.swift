import RecordStore

/// A request for the objects whose one property equals a value, where an index is on just that
/// property: no plan is better, and no filter has anything left to test. What programs ask most
/// often, and the one request that costs less than planning it.
package struct KeyLookup {
    private let reader: RecordReader
    private let entity: EntityLayout
    private let index: IndexLayout
    private let key: KeyEncoder
    private let includesSubentities: Bool
    private let limit: Int
    private let offset: Int

    /// Of the request's entity. Nil for every other request: a ``QueryRunner`` runs those.
    package init?(_ request: FetchRequest, _ entity: EntityLayout, _ reader: RecordReader) {
        guard case .comparison(let comparison) = request.condition,
            comparison.operation == .equal, comparison.quantifier == .none,
            comparison.options.isEmpty, case .keyPath(let path) = comparison.left,
            path.count == 1, case .constant(let value) = comparison.right,
            request.sortKeys.isEmpty, request.limit != 0,
            let index = entity.index(on: path[0]),
            let key = Self.key(value, index.columns[0], reader)
        else { return nil }
        self.reader = reader
        self.entity = entity
        self.index = index
        self.key = key
        includesSubentities = request.includesSubentities
        limit = request.limit ?? .max
        offset = request.offset
    }

    /// Nil unless the key has all of the value.
    private static func key(
        _ value: Value, _ column: FieldLayout, _ reader: RecordReader
    ) -> KeyEncoder? {
        var key = reader.keyEncoder(columnCount: 1)
        return key.appendWhole(value, column) ? key : nil
    }

    /// Lends each record, in the order of the numbers, until the body says to stop.
    package func forEach(_ body: (ObjectNumber, RowView) throws -> Bool) throws {
        let isForAll = includesSubentities && index.entityTag == entity.tag
        var skipped = 0
        var taken = 0
        try reader.forEachNumber(in: index, equalTo: key) { number in
            var goesOn = true
            var failure: (any Error)?
            _ = try reader.withRow(number, in: entity.hierarchy) { row in
                guard isForAll || isWanted(row) else { return }
                guard skipped == offset else {
                    skipped += 1
                    return
                }
                taken += 1
                do {
                    goesOn = try body(number, row) && taken < limit
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return goesOn
        }
    }

    private func isWanted(_ row: RowView) -> Bool {
        includesSubentities
            ? entity.tags.contains(row.entityTag) : row.entityTag == entity.tag
    }
}
