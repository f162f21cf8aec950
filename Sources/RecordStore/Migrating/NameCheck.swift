/// Refuses renamings that are not certain, but for the objects that the program's mappings make or
/// drop. Recreating the file is no remedy: the program is wrong, and the file may be right.
struct NameCheck {
    private let stored: SchemaDescription
    private let version: MigrationStep
    private let sources: PropertySources

    init(from stored: SchemaDescription, to version: MigrationStep) throws(StoreError) {
        try SchemaCheck.validate(version.schema)
        self.stored = stored
        self.version = version
        sources = try PropertySources(from: stored, to: version)
    }

    func refuse() throws(StoreError) {
        let unmapped = sources.pairs.unmapped
        let entity = SchemaDifference.unfollowedEntity(from: unmapped.before, to: unmapped.after)
        if let (name, earlier) = entity { throw Self.uncertain(name, earlier) }
        for entity in version.schema.entities
        where sources.isPaired(entity.name) && !sources.isMapped(entity.name) {
            try refuse(entity.name, .attributes)
            try refuse(entity.name, .relationships)
            guard let before = sources.before[entity.name],
                let after = sources.after[entity.name],
                let (name, earlier) = SchemaDifference.contestedProperty(of: before, and: after)
            else { continue }
            throw Self.uncertain("\(PropertyPath(entity.name, name))", earlier)
        }
        try refuseExchange()
    }

    // MARK: Properties

    /// Refuses names of properties of one kind that an entity has: own and inherited ones.
    private func refuse(
        _ entity: String, _ lookup: PropertySources.Lookup
    ) throws(StoreError) {
        let renamed = lookup.paths(sources.after, entity).filter { path in
            lookup.previousName(sources.after, path).map { $0 != path.name } ?? false
        }
        guard !renamed.isEmpty else { return }
        let statements = renamed.filter { sources.isNew($0, in: entity, lookup) }
        let names = statements.compactMap { lookup.previousName(sources.after, $0) }
        for (path, name) in zip(statements, names)
        where !isClear(path, name, names, in: entity, lookup) {
            throw Self.uncertain("\(path)", name)
        }
        for path in renamed {
            guard let source = sources.source(of: path, in: entity, lookup) else { continue }
            let own = lookup.find(sources.after, source.name, entity).map { [$0] } ?? []
            for other in own + renamed
            where other != path && sources.source(of: other, in: entity, lookup) == source {
                throw StoreError(
                    .invalidArgument,
                    "\(path) and \(other) would both take the values of \(source.name), which the "
                        + "objects of \(entity) have: name the versions between the two in a "
                        + "migration chain, or state no earlier name")
            }
        }
    }

    /// Whether it is certain what a statement means: it is followed, or the objects have both
    /// properties as they had them.
    private func isClear(
        _ path: PropertyPath, _ name: String, _ names: [String], in entity: String,
        _ lookup: PropertySources.Lookup
    ) -> Bool {
        guard let source = sources.source(of: path, in: entity, lookup) else { return false }
        if source.name == name { return true }
        guard names.count(where: { $0 == name }) == 1 else { return false }
        guard source.name == path.name else { return true }
        return lookup.find(sources.after, name, entity).map { kept in
            sources.source(of: kept, in: entity, lookup)?.name == name
        } ?? false
    }

    private static func uncertain(_ element: String, _ name: String) -> StoreError {
        StoreError(
            .invalidArgument,
            "\(element) states the earlier name “\(name)”, and another one of the model is what "
                + "the file has by that name: name the versions between the two in a migration "
                + "chain, or state no earlier name")
    }

    // MARK: Equal models

    private func refuseExchange() throws(StoreError) {
        guard stored.fingerprint == version.schema.fingerprint else { return }
        guard version.mappings == nil else {
            return try Self.refuseExchange(from: stored, to: version.schema, by: [version])
        }
        let edits = SchemaDifference.edits(from: stored, to: version.schema)
        guard let renaming = edits.first(where: \.isRenaming) else { return }
        throw Self.exchange("\(renaming), and the model is otherwise the file's")
    }

    private static func exchange(_ what: String) -> StoreError {
        StoreError(
            .invalidArgument,
            "\(what): programs of the two models would open each other's files and take one's "
                + "values for the other's; give the entity or the property a versionHashModifier")
    }

    /// Refuses a way through several versions at whose end a model is equal to the first one but
    /// for what its names mean. A file of the first one would be taken for one of the last one.
    static func refuseExchange(
        from first: SchemaDescription, through versions: [MigrationStep]
    ) throws(StoreError) {
        guard versions.count > 1, let last = versions.last?.schema,
            first.fingerprint == last.fingerprint
        else { return }
        try refuseExchange(from: first, to: last, by: versions)
    }

    private static func refuseExchange(
        from first: SchemaDescription, to last: SchemaDescription, by versions: [MigrationStep]
    ) throws(StoreError) {
        var entities = Dictionary(first.entities.map { ($0.name, $0.name) }) { first, _ in first }
        var paths: [PropertyPath: PropertyPath] = [:]
        for entity in first.entities {
            for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
                let path = PropertyPath(entity.name, name)
                paths[path] = path
            }
        }
        var current = first
        for version in versions {
            let sources = try PropertySources(from: current, to: version)
            let later = sources.pairs.later
            entities = entities.compactMapValues { later[$0] }
            paths = paths.compactMapValues { path in
                guard let entity = later[path.entityName], !sources.isMapped(entity) else {
                    return nil
                }
                return sources.paths[PropertyPath(entity, path.name)]
            }
            current = version.schema
        }
        let renamed =
            entities.filter { $0 != $1 }.map { "\($0) is \($1)" }
            + paths.filter { $0 != $1 }.map { "\($0) is \($1)" }
        guard let example = renamed.sorted().first else { return }
        throw exchange(
            "\(example) on the way from “\(first.modelVersion)” to “\(last.modelVersion)”, and the "
                + "two models are otherwise equal")
    }
}
