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

    /// Of an entity's objects those whose property has a value. Nil unless an index is on just
    /// that property, and its keys say all of the value: a ``QueryRunner`` finds the others.
    package init?(
        _ name: String, equals value: Value, _ entity: EntityLayout, _ reader: RecordReader,
        includesSubentities: Bool, limit: Int?, offset: Int
    ) {
        guard limit != 0, let index = entity.index(on: name) else { return nil }
        var key = reader.keyEncoder(columnCount: 1)
        guard key.appendWhole(value, index.columns[0]) else { return nil }
        self.reader = reader
        self.entity = entity
        self.index = index
        self.key = key
        self.includesSubentities = includesSubentities
        self.limit = limit ?? .max
        self.offset = offset
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

extension Condition {
    /// What a condition says that is of one property and one value, and no more than that they are
    /// equal.
    package var equality: (name: String, value: Value)? {
        guard case .comparison(let comparison) = self, comparison.operation == .equal,
            comparison.quantifier == .none, comparison.options.isEmpty,
            case .keyPath(let path) = comparison.left, path.count == 1,
            case .constant(let value) = comparison.right
        else { return nil }
        return (path[0], value)
    }

    /// The condition that says so.
    package static func equality(_ name: String, _ value: Value) -> Condition {
        .comparison(Comparison(.keyPath([name]), .equal, .constant(value)))
    }
}
