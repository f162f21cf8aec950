import RecordStore

/// How the candidates of a request are found. Except with `key`, the whole condition is then tested
/// for each.
enum AccessPlan {
    /// No record: the condition is never true, or the limit is zero.
    case none
    /// The record count that the store keeps for each entity: no record is read.
    case counter
    case scan
    /// The entries of an index that equal a key. The key represents the whole condition, so that
    /// nothing is left to test.
    case key(IndexLayout, KeyEncoder)
    case index(IndexLayout, [KeyRange])
    /// The objects whose to-one relationship leads to one of these.
    case sources(RelationshipLayout, [ObjectNumber])
    case numbers([ObjectNumber])

    var description: String {
        switch self {
        case .none: "no record"
        case .counter: "the count that the store keeps"
        case .scan: "scan of all records"
        case .key(let index, _): "lookup of a key in the index on \(Self.names(index))"
        case .index(let index, let ranges):
            "\(ranges.count) range\(ranges.count == 1 ? "" : "s") of the index on "
                + Self.names(index)
        case .sources(let relationship, let targets):
            "links of \(relationship.name) to \(targets.count) object"
                + (targets.count == 1 ? "" : "s")
        case .numbers(let numbers):
            "\(numbers.count) known object\(numbers.count == 1 ? "" : "s")"
        }
    }

    private static func names(_ index: IndexLayout) -> String {
        index.columns.map(\.name).joined(separator: ", ")
    }
}
