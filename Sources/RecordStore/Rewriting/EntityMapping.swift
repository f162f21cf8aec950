/// A program's instruction for one entity in the migration to a later version.
package enum EntityMapping: Sendable {
    /// The objects are dropped.
    case delete(String)
    /// The entity starts without objects, even if an earlier entity had its name.
    case insert(String)
    /// The objects are migrated as without a mapping, even under another name.
    case copy(from: String, to: String)
    /// The program makes each object.
    case transform(from: String, to: String, RecordMapper)

    /// Whether the program's own code is called.
    var calls: Bool {
        if case .transform = self { true } else { false }
    }

    /// Identifies the mapping in the fingerprint of a plan, except for its code.
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

/// Makes a later object from an earlier one by calling the second argument, or drops the object by
/// not calling it. Both arguments are valid only during the call.
package typealias RecordMapper =
    @Sendable (SourceRecord, @escaping () throws(StoreError) -> DestinationRecord) throws -> Void

/// The later entity of each earlier one, and the mapper of each that the program transforms.
struct EntityPairs {
    /// By the earlier names.
    private(set) var later: [String: String] = [:]
    /// By the earlier names.
    private(set) var mappers: [String: RecordMapper] = [:]
    /// The entities of both versions that no mapping names. The later ones are without the earlier
    /// names that say nothing of these.
    private(set) var unmapped: (before: SchemaDescription, after: SchemaDescription)

    /// Pairs the entities that no mapping names by equal names, or by the previous name that the
    /// later one declares. Throws `invalidArgument` if a mapping names an unknown entity, or two
    /// name the same one.
    init(
        from stored: SchemaDescription, to wanted: SchemaDescription, _ mappings: [EntityMapping]?
    ) throws(StoreError) {
        unmapped = (stored, wanted)
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
        unmapped.before.entities.removeAll { sources.contains($0.name) }
        unmapped.after.entities.removeAll { destinations.contains($0.name) }
        removeFollowedNames(stored, wanted, mappings)
        let inferred = SchemaDifference.entities(from: unmapped.before, to: unmapped.after)
        later.merge(inferred) { first, _ in first }
    }

    /// Takes from the unmapped later entities the earlier names that say nothing of the others.
    private mutating func removeFollowedNames(
        _ stored: SchemaDescription, _ wanted: SchemaDescription, _ mappings: [EntityMapping]
    ) {
        let sources = Set(mappings.compactMap(\.source))
        // What all names would say if a mapping from one name to another were an earlier name.
        var stating = wanted
        for mapping in mappings {
            guard let source = mapping.source, let destination = mapping.destination else {
                continue
            }
            for index in stating.entities.indices
            where stating.entities[index].name == destination {
                stating.entities[index].previousName = source == destination ? nil : source
            }
        }
        let all = SchemaDifference.entities(from: stored, to: stating)
        // What would be a source that a mapping drops begins empty, whatever has its name now.
        let dropped = mappings.filter { $0.destination == nil }.compactMap(\.source)
        let empty = Set(dropped.filter { all[$0] != $0 }.compactMap { all[$0] })
        unmapped.after.entities.removeAll { empty.contains($0.name) }
        for (index, entity) in unmapped.after.entities.enumerated() {
            guard let previousName = entity.previousName else { continue }
            // A source stated the same before, and has not passed its name on.
            let isFollowed =
                sources.contains(entity.name) && all[entity.name] == entity.name
                && stored.entities.contains {
                    $0.name == entity.name && $0.previousName == previousName
                }
            // The name of a source means the source.
            if sources.contains(previousName) || isFollowed {
                unmapped.after.entities[index].previousName = nil
            }
        }
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
