import RecordStore

/// Decides which changes of a store concern a list, and maps related objects back to the list's.
struct RequestWatch {
    /// Objects that a to-one path leads to, and their properties that matter to the list.
    struct Dependency {
        /// From the list's objects to these.
        var steps: [RelationshipLayout]
        var hierarchy: HierarchyID
        /// Properties that conditions, order and sections use.
        var fields: [FieldLayout] = []
        /// Properties that the list watches.
        var watchedFields: [FieldLayout] = []
    }

    /// The objects that a change may concern.
    struct Candidates {
        /// Ascending, each once.
        var numbers: [ObjectNumber] = []
        /// Objects whose watched values may differ.
        var withWatchedChange: Set<ObjectNumber> = []
    }

    let parts: RequestParts
    private(set) var dependencies: [Dependency] = []
    /// The to-many relationships of the list's objects. A change of links is a change of the
    /// object.
    let linkRelationships: [RelationshipLayout]
    private let schema: Schema

    var hierarchy: HierarchyID { parts.entity.hierarchy }

    /// Whether a change of another object may update one of the list's.
    var watchesRelated: Bool { dependencies.contains { !$0.watchedFields.isEmpty } }

    init(_ parts: RequestParts, _ schema: Schema) {
        self.parts = parts
        self.schema = schema
        let hierarchy = parts.entity.hierarchy
        linkRelationships = schema.relationships.filter {
            $0.kind != .toOne && schema.knownEntity(tag: $0.sourceTag).hierarchy == hierarchy
        }
        let asked =
            parts.order.map(\.path) + parts.conditionPaths + [parts.section].compactMap { $0 }
        for path in asked { add(path, isWatched: false) }
        for path in parts.watched { add(path, isWatched: true) }
    }

    private mutating func add(_ path: ResolvedPath, isWatched: Bool) {
        var steps: [RelationshipLayout] = []
        for (depth, step) in path.steps.enumerated() {
            guard case .link(let id) = step.field.content else { return }
            steps.append(schema.relationship(id: id))
            // The relevant property of the object here: the next link, or the attribute at the end.
            // The first link is a property of the list's object itself.
            var field: FieldLayout?
            if depth + 1 < path.steps.count {
                field = path.steps[depth + 1].field
            } else if case .attribute(let attribute) = path.end {
                field = attribute
            }
            let index =
                dependencies.firstIndex { $0.steps == steps }
                ?? {
                    dependencies.append(Dependency(steps: steps, hierarchy: step.hierarchy))
                    return dependencies.count - 1
                }()
            guard let field else { continue }
            if isWatched {
                dependencies[index].watchedFields.append(field)
            } else {
                dependencies[index].fields.append(field)
            }
        }
    }

    /// Whether changes touch anything that the request reads, or the list's objects. Other changes
    /// leave the list unchanged, even one that is always refetched.
    func isConcerned(by changes: ChangeSet) -> Bool {
        for hierarchy in parts.readHierarchies {
            guard let records = changes.records(in: hierarchy), records.isEmpty else { return true }
        }
        for relationship in linkRelationships + parts.readRelationships {
            guard let owners = changes.owners(of: relationship), owners.isEmpty else { return true }
        }
        return false
    }

    // MARK: Candidates

    /// Nil if they are unknown or more than `countMax`.
    func candidates(of step: StoreStep, countMax: Int) throws(StoreError) -> Candidates? {
        guard let own = step.changes.records(in: hierarchy),
            own.inserted.count + own.updated.count + own.deleted.count <= countMax
        else { return nil }
        var numbers = Array(own.inserted) + Array(own.updated) + Array(own.deleted)
        for relationship in linkRelationships {
            guard let owners = step.changes.owners(of: relationship), owners.count <= countMax
            else { return nil }
            numbers += Array(owners)
        }
        var candidates = Candidates()
        for dependency in dependencies {
            guard let found = try changed(dependency, of: step, countMax: countMax) else {
                return nil
            }
            numbers += found.owners
            candidates.withWatchedChange.formUnion(found.watching)
            if numbers.count > 2 * countMax { return nil }
        }
        numbers.sort()
        for number in numbers where number != candidates.numbers.last {
            candidates.numbers.append(number)
        }
        return candidates.numbers.count > countMax ? nil : candidates
    }

    /// The list's objects from which a path leads to a changed object.
    private func changed(
        _ dependency: Dependency, of step: StoreStep, countMax: Int
    ) throws(StoreError) -> (owners: [ObjectNumber], watching: Set<ObjectNumber>)? {
        guard let changes = step.changes.records(in: dependency.hierarchy) else { return nil }
        let came = Array(changes.inserted) + Array(changes.deleted)
        var targets = Set(came)
        var watched = dependency.watchedFields.isEmpty ? [] : targets
        for number in changes.updated {
            if try differs(number, dependency.fields, dependency.hierarchy, step) {
                targets.insert(number)
            }
            if try differs(number, dependency.watchedFields, dependency.hierarchy, step) {
                watched.insert(number)
            }
        }
        guard let owners = try sources(of: targets, dependency.steps, step, countMax: countMax),
            let watching = try sources(of: watched, dependency.steps, step, countMax: countMax)
        else { return nil }
        return (Array(owners.union(watching)), watching)
    }

    private func differs(
        _ number: ObjectNumber, _ fields: [FieldLayout], _ hierarchy: HierarchyID, _ step: StoreStep
    ) throws(StoreError) -> Bool {
        guard !fields.isEmpty else { return false }
        func key(_ reader: RecordReader) throws(StoreError) -> [UInt8]? {
            var key = KeyEncoder(columnSizeMax: .max)
            return try reader.withRow(number, in: hierarchy) { row throws(StoreError) in
                let entity = reader.schema.knownEntity(tag: row.entityTag)
                // A record of another entity of the hierarchy may lack the property.
                for field in fields where entity.field(named: field.name) == field {
                    try reader.append(field, of: row, to: &key)
                }
                return key.bytes
            }
        }
        return try key(step.before) != (try key(step.after))
    }

    /// The objects from which the steps lead to one of the targets. A changed link is a change of
    /// the record that has it, so that the links after the step are enough.
    private func sources(
        of targets: Set<ObjectNumber>, _ steps: [RelationshipLayout], _ step: StoreStep,
        countMax: Int
    ) throws(StoreError) -> Set<ObjectNumber>? {
        var targets = targets
        for relationship in steps.reversed() {
            var found: Set<ObjectNumber> = []
            for target in targets {
                try step.after.forEachSource(of: relationship, target: target) { source in
                    found.insert(source)
                }
                if found.count > countMax { return nil }
            }
            targets = found
        }
        return targets
    }

    // MARK: Updates

    /// The list's objects whose watched values may differ; nil if unknown.
    func watchedChanges(of step: StoreStep) throws(StoreError) -> Set<ObjectNumber>? {
        var numbers: Set<ObjectNumber> = []
        for dependency in dependencies where !dependency.watchedFields.isEmpty {
            guard let found = try changed(dependency, of: step, countMax: .max) else { return nil }
            numbers.formUnion(found.watching)
        }
        return numbers
    }

    /// The list's objects that changes may have updated, where the records before them are not
    /// available; nil if unknown.
    ///
    /// - Parameter step: a later one, of the commits that the list has now.
    func possibleUpdates(
        by changes: ChangeSet, before step: StoreStep
    ) throws(StoreError) -> Set<ObjectNumber>? {
        guard let own = changes.records(in: hierarchy) else { return nil }
        var numbers = Set(own.updated)
        for relationship in linkRelationships {
            guard let owners = changes.owners(of: relationship) else { return nil }
            numbers.formUnion(owners)
        }
        for dependency in dependencies where !dependency.watchedFields.isEmpty {
            guard let changed = changes.records(in: dependency.hierarchy) else { return nil }
            let targets = Set(changed.updated).union(changed.inserted).union(changed.deleted)
            let found = try sources(of: targets, dependency.steps, step, countMax: .max)
            numbers.formUnion(found ?? [])
        }
        return numbers
    }

    /// Whether an object that exists before and after was itself changed.
    func isChanged(_ number: ObjectNumber, of step: StoreStep) throws(StoreError) -> Bool {
        if let known = step.changes.records(in: hierarchy), !known.updated.contains(number),
            !known.inserted.contains(number)
        {
            return try hasOtherLinks(number, in: step)
        }
        let isSame = try step.before.withRow(number, in: hierarchy) { old throws(StoreError) in
            try step.after.withRow(number, in: hierarchy) { new throws(StoreError) in
                try step.after.hasSameValues(new, as: old, of: step.before)
            }
        }
        guard let isSame = isSame ?? nil, isSame else { return true }
        return try hasOtherLinks(number, in: step)
    }

    /// Whether the to-many links of an object that exists before and after differ.
    func hasOtherLinks(_ number: ObjectNumber, in step: StoreStep) throws(StoreError) -> Bool {
        for relationship in linkRelationships {
            if let owners = step.changes.owners(of: relationship), !owners.contains(number) {
                continue
            }
            // A joined set may include links that changed back.
            let links = try step.before.linkedNumbers(relationship, of: number)
            if links != (try step.after.linkedNumbers(relationship, of: number)) { return true }
        }
        return false
    }
}
