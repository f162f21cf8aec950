import RecordStore

/// A request for the objects whose one property equals a value, where an index is on just that
/// property: no plan is better, and no filter has anything left to test. What programs ask most
/// often, and the one request that costs less than planning it.
package enum KeyLookup {
    /// Lends each record of an entity whose property has a value, in the order of the numbers.
    /// False, and nothing is lent, unless an index is on just that property and its keys say all
    /// of the value: a ``QueryRunner`` finds the others.
    package static func forEach(
        _ name: String, equals value: Value, of entity: EntityLayout, in reader: RecordReader,
        includesSubentities: Bool, limit: Int?, offset: Int,
        _ body: (ObjectNumber, RowView) throws -> Void
    ) throws -> Bool {
        guard limit != 0, let index = entity.index(on: name) else { return false }
        var key = reader.keyEncoder(columnCount: 1)
        guard key.appendWhole(value, index.columns[0].content) else { return false }
        let isForAll = includesSubentities && index.entityTag == entity.tag
        var skips = offset
        var rest = limit ?? .max
        try reader.forEachNumber(in: index, equalTo: key) { number in
            var failure: (any Error)?
            _ = try reader.withRow(number, in: entity.hierarchy) { row in
                guard isForAll || isOf(entity, row, includesSubentities) else { return }
                guard skips == 0 else {
                    skips -= 1
                    return
                }
                rest -= 1
                do {
                    try body(number, row)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return rest > 0
        }
        return true
    }

    private static func isOf(
        _ entity: EntityLayout, _ row: RowView, _ includesSubentities: Bool
    ) -> Bool {
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
