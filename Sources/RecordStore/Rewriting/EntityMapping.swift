/// A program's instruction for one entity on the way to a later version.
package enum EntityMapping: Sendable {
    /// The objects are dropped.
    case delete(String)
    /// The entity begins without objects, whatever had its name.
    case insert(String)
    /// The objects follow as they would without a mapping, under another name too.
    case copy(from: String, to: String)
    /// The program makes each object.
    case transform(from: String, to: String, RecordMapper)

    /// Whether the program's own code is called.
    var calls: Bool {
        if case .transform = self { true } else { false }
    }

    /// A text that identifies the mapping, but for its code.
    var words: String {
        switch self {
        case .delete(let source): "delete \(source)"
        case .insert(let destination): "insert \(destination)"
        case .copy(let source, let destination): "copy \(source) \(destination)"
        case .transform(let source, let destination, _): "transform \(source) \(destination)"
        }
    }

    fileprivate var source: String? {
        switch self {
        case .delete(let source), .copy(let source, _), .transform(let source, _, _): source
        case .insert: nil
        }
    }

    fileprivate var destination: String? {
        switch self {
        case .insert(let destination), .copy(_, let destination),
            .transform(_, let destination, _):
            destination
        case .delete: nil
        }
    }
}

/// Makes a later object of an earlier one by the second argument, or none, which drops the object.
/// The two are valid for the call alone.
package typealias RecordMapper =
    @Sendable (SourceRecord, @escaping () throws(StoreError) -> DestinationRecord) throws -> Void

/// Which entity of a later version each earlier one is, and which the program transforms.
struct EntityPairs {
    /// By the earlier names.
    private(set) var later: [String: String] = [:]
    /// By the earlier names.
    private(set) var mappers: [String: RecordMapper] = [:]

    /// Infers the entities that no mapping names: by the same name, or by the earlier name that the
    /// later one declares. Throws `invalidArgument` for a mapping of an unknown entity, and for two
    /// of one entity.
    init(
        from stored: SchemaDescription, to wanted: SchemaDescription, _ mappings: [EntityMapping]?
    ) throws(StoreError) {
        guard let mappings else {
            later = SchemaDifference.entities(from: stored, to: wanted)
            return
        }
        let sources = try Self.names(mappings.compactMap(\.source), of: stored)
        let destinations = try Self.names(mappings.compactMap(\.destination), of: wanted)
        for mapping in mappings {
            guard let source = mapping.source, let destination = mapping.destination else {
                continue
            }
            later[source] = destination
            if case .transform(_, _, let mapper) = mapping { mappers[source] = mapper }
        }
        // Among what is left.
        var (before, after) = (stored, wanted)
        before.entities.removeAll { sources.contains($0.name) }
        after.entities.removeAll { destinations.contains($0.name) }
        later.merge(SchemaDifference.entities(from: before, to: after)) { first, _ in first }
    }

    private static func names(
        _ names: [String], of schema: SchemaDescription
    ) throws(StoreError) -> Set<String> {
        var known = Set(schema.entities.map(\.name))
        for name in names where known.remove(name) == nil {
            throw StoreError(
                .invalidArgument,
                "the mapping names “\(name)” twice, or it is no entity of the version "
                    + "“\(schema.modelVersion)”")
        }
        return Set(names)
    }
}
