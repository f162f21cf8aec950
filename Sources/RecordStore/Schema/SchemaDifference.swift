/// Compares two schemas by names and previous names, in any order. Defaults and the name of the
/// model version are ignored.
package struct SchemaDifference {
    private let old: SchemaDescription
    private let new: SchemaDescription
    private let oldInverses: InverseTable
    private let newInverses: InverseTable
    /// Maps entities and properties of the earlier schema to those of the later one.
    private var entityNames: [String: String] = [:]
    private var paths: [PropertyPath: PropertyPath] = [:]
    private var edits: [SchemaEdit] = []

    /// The edits that turn the earlier schema into the later one; empty if they are equal. Both
    /// schemas must be checked.
    package static func edits(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> [SchemaEdit] {
        compared(from: old, to: new).edits
    }

    /// Maps each property of the earlier schema to the later one, if both have it.
    static func properties(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> [PropertyPath: PropertyPath] {
        compared(from: old, to: new).properties
    }

    /// See ``edits(from:to:)`` and ``properties(from:to:)``.
    static func compared(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> (edits: [SchemaEdit], properties: [PropertyPath: PropertyPath]) {
        var difference = SchemaDifference(old, new)
        difference.compare()
        return (difference.edits, difference.paths)
    }

    /// Maps each entity of the earlier schema to the later one.
    static func entities(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> [String: String] {
        let match = match(old.entities, new.entities, name: \.name, previousName: \.previousName)
        return Dictionary(match.pairs.map { ($0.name, $1.name) }) { first, _ in first }
    }

    /// An entity of the later schema that states an earlier name, which an entity of the earlier
    /// schema has or had, but is not that one, because another one is or may be; nil if there is
    /// none. A version between the two may have renamed the entity and used its name again.
    static func unfollowedEntity(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> (name: String, earlierName: String)? {
        let match = match(old.entities, new.entities, name: \.name, previousName: \.previousName)
        return (match.unfollowed + match.contested).first.map { ($0.name, $1) }
    }

    /// A property of a later entity that states an earlier name, as another one does, which one
    /// property of the earlier entity stated; nil if there is none.
    static func contestedProperty(
        of old: EntityDescription, and new: EntityDescription
    ) -> (name: String, earlierName: String)? {
        let attributes = match(
            old.attributes, new.attributes, name: \.name, previousName: \.previousName)
        if let (attribute, earlier) = attributes.contested.first {
            return (attribute.name, earlier)
        }
        let relationships = match(
            old.relationships, new.relationships, name: \.name, previousName: \.previousName)
        return relationships.contested.first.map { ($0.name, $1) }
    }

    /// Whether a file of the earlier schema must be migrated to the later one.
    package static func needsMigration(
        from old: SchemaDescription, to new: SchemaDescription
    ) -> Bool {
        edits(from: old, to: new).contains(where: \.needsMigration)
    }

    private init(_ old: SchemaDescription, _ new: SchemaDescription) {
        self.old = old
        self.new = new
        oldInverses = InverseTable(old)
        newInverses = InverseTable(new)
    }

    private mutating func compare() {
        let entities = Self.match(
            old.entities, new.entities, name: \.name, previousName: \.previousName)
        for (before, after) in entities.pairs { entityNames[before.name] = after.name }
        edits += entities.removed.map { SchemaEdit.entityRemoved($0.name) }
        edits += entities.added.map { SchemaEdit.entityAdded($0.name) }
        edits += entities.pairs.filter { !$0.0.name.hasSameBytes(as: $0.1.name) }
            .map { SchemaEdit.entityRenamed(from: $0.0.name, to: $0.1.name) }
        // All names are matched before the first comparison: inverses and columns may be renamed.
        let attributes = entities.pairs.map { pair in
            matchProperties(
                pair, \.attributes, name: \.name, previousName: \.previousName)
        }
        let relationships = entities.pairs.map { pair in
            matchProperties(
                pair, \.relationships, name: \.name, previousName: \.previousName)
        }
        for (index, (before, after)) in entities.pairs.enumerated() {
            compare(before, after)
            for (attribute, later) in attributes[index] {
                compare(attribute, later, PropertyPath(after.name, later.name))
            }
            for (relationship, later) in relationships[index] {
                compare(
                    relationship, PropertyPath(before.name, relationship.name), later,
                    PropertyPath(after.name, later.name))
            }
            compareColumns(before, after)
        }
    }

    // MARK: Names

    private typealias Match<Element> = (
        pairs: [(Element, Element)], removed: [Element], added: [Element],
        unfollowed: [(Element, earlierName: String)],
        contested: [(Element, earlierName: String)]
    )

    /// Pairs elements of equal names, then elements that a previous name joins, in the later order.
    /// A previous name is the older element's name. If that element had been renamed before, it may
    /// instead be the previous name that both declare, unless several elements of one of the two
    /// schemas declare it.
    ///
    /// `unfollowed` are statements of names that the older elements have, and `contested` those of
    /// names that both declare, if it is uncertain what they mean.
    ///
    /// - Parameter stated: the previous names of later elements, if not all of them count.
    private static func match<Element>(
        _ old: [Element], _ new: [Element], name: (Element) -> String,
        previousName: (Element) -> String?, stated: (Element) -> String?
    ) -> Match<Element> {
        let oldByName = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let oldByEarlierName = Dictionary(
            old.compactMap { element in previousName(element).map { ($0, [element]) } },
            uniquingKeysWith: +
        ).compactMapValues { $0.count == 1 ? $0.first : nil }
        let statements = statements(
            of: new, on: oldByName, name: name, previousName: previousName, stated: stated)
        let claims = claims(of: new, on: oldByName, statements, name: name)
        let kept = Set(new.map(name).filter { claims[$0] == nil })
        var taken = Set(claims.values)
        func free(_ element: Element?) -> Element? {
            element.flatMap { kept.contains(name($0)) || taken.contains(name($0)) ? nil : $0 }
        }
        // What an element was is found by its name before what it may have been is guessed.
        var found: [Element?] = []
        for element in new {
            let before =
                oldByName[claims[name(element)] ?? name(element)]
                ?? free(stated(element).flatMap { oldByName[$0] })
            if let before { taken.insert(name(before)) }
            found.append(before)
        }
        var match: Match<Element> = ([], [], [], [], [])
        let guesses = zip(new, found).map { element, known -> String? in
            guard known == nil, let earlier = stated(element),
                free(oldByEarlierName[earlier]) != nil
            else { return nil }
            return earlier
        }
        let (guessCounts, claimantCounts) = (counts(guesses), counts(Array(statements.values)))
        for (index, (element, known)) in zip(new, found).enumerated() {
            if let guess = guesses[index], guessCounts[guess, default: 0] > 1 {
                match.contested.append((element, guess))
                match.added.append(element)
                continue
            }
            let before = known ?? free(stated(element).flatMap { oldByEarlierName[$0] })
            if let before {
                taken.insert(name(before))
                match.pairs.append((before, element))
            } else {
                match.added.append(element)
            }
            guard let earlier = statements[name(element)], before.map(name) != earlier else {
                continue
            }
            // Where the model has both names as the file has them, both stay what they are.
            let isClear =
                claimantCounts[earlier] == 1
                && (known == nil ? before != nil : kept.contains(earlier))
            if !isClear { match.unfollowed.append((element, earlier)) }
        }
        match.removed = old.filter { !taken.contains(name($0)) }
        return match
    }

    private static func match<Element>(
        _ old: [Element], _ new: [Element], name: (Element) -> String,
        previousName: (Element) -> String?
    ) -> Match<Element> {
        match(old, new, name: name, previousName: previousName, stated: previousName)
    }

    /// The names of older elements that later ones state to have had, by the later names. What
    /// stated the same before was renamed then, and counts only if its own name goes to another
    /// element now: it is part of the renaming.
    private static func statements<Element>(
        of new: [Element], on oldByName: [String: Element], name: (Element) -> String,
        previousName: (Element) -> String?, stated: (Element) -> String?
    ) -> [String: String] {
        var statements: [String: String] = [:]
        var earlierOnes: [String: String] = [:]
        for element in new {
            guard let earlier = stated(element), earlier != name(element),
                oldByName[earlier] != nil
            else { continue }
            if oldByName[name(element)].flatMap(previousName) == earlier {
                earlierOnes[name(element)] = earlier
            } else {
                statements[name(element)] = earlier
            }
        }
        var next = Array(statements.values)
        while let name = next.popLast() {
            guard let earlier = earlierOnes.removeValue(forKey: name) else { continue }
            statements[name] = earlier
            next.append(earlier)
        }
        return statements
    }

    /// The statements that win over an older element of the later name: one that is gone, or has
    /// another name itself.
    private static func claims<Element>(
        of new: [Element], on oldByName: [String: Element], _ statements: [String: String],
        name: (Element) -> String
    ) -> [String: String] {
        var claims: [String: String] = [:]
        // Of several that state one name none has it for certain, in whatever order they stand.
        let counts = counts(Array(statements.values))
        for element in new where oldByName[name(element)] != nil {
            guard let earlier = statements[name(element)], counts[earlier] == 1 else { continue }
            claims[name(element)] = earlier
        }
        // An element that keeps its name cannot be what another one was.
        let names = Set(new.map(name))
        while let lost = claims.first(where: { names.contains($0.value) && claims[$0.value] == nil }
        ) {
            claims[lost.key] = nil
        }
        return claims
    }

    private static func counts(_ names: [String?]) -> [String: Int] {
        Dictionary(names.compactMap { $0 }.map { ($0, 1) }, uniquingKeysWith: +)
    }

    private mutating func matchProperties<Property>(
        _ entities: (EntityDescription, EntityDescription),
        _ properties: (EntityDescription) -> [Property], name: (Property) -> String,
        previousName: (Property) -> String?
    ) -> [(Property, Property)] {
        let (before, after) = entities
        // What another entity of the line stated of the same name has moved with the property: it
        // is no new statement.
        let relatives = old.relatives(of: before).flatMap(properties)
        let match = Self.match(
            properties(before), properties(after), name: name, previousName: previousName,
            stated: { property in
                previousName(property).flatMap { earlier in
                    let isMoved = relatives.contains {
                        name($0) == name(property) && previousName($0) == earlier
                    }
                    return isMoved ? nil : earlier
                }
            })
        edits += match.removed.map {
            SchemaEdit.propertyRemoved(PropertyPath(before.name, name($0)))
        }
        edits += match.added.map { SchemaEdit.propertyAdded(PropertyPath(after.name, name($0))) }
        for (earlier, later) in match.pairs {
            let path = PropertyPath(after.name, name(later))
            paths[PropertyPath(before.name, name(earlier))] = path
            if !name(earlier).hasSameBytes(as: name(later)) {
                edits.append(
                    .propertyRenamed(from: PropertyPath(before.name, name(earlier)), to: path))
            }
        }
        return match.pairs
    }

    /// Whether an entity of the earlier schema has no later one. Its name may be another one's.
    private func isGone(_ entityName: String?) -> Bool {
        entityName.map { entityNames[$0] == nil } ?? false
    }

    /// The later name of an entity, or its own name if it has none.
    private func renamed(_ entityName: String) -> String { entityNames[entityName] ?? entityName }

    // MARK: Entities and properties

    private mutating func compare(_ before: EntityDescription, _ after: EntityDescription) {
        let name = after.name
        let above = before.superentityName
        if above.flatMap({ entityNames[$0] }) != after.superentityName || isGone(above) {
            edits.append(
                .superentityChanged(name, from: above.map(renamed), to: after.superentityName))
        }
        if before.isAbstract != after.isAbstract {
            edits.append(.abstractnessChanged(name, isAbstract: after.isAbstract))
        }
        if before.versionHashModifier != after.versionHashModifier {
            edits.append(
                .entityModifierChanged(
                    name, from: before.versionHashModifier, to: after.versionHashModifier))
        }
        if before.className != after.className {
            edits.append(.classChanged(name, from: before.className, to: after.className))
        }
    }

    private mutating func compare(
        _ before: AttributeDescription, _ after: AttributeDescription, _ path: PropertyPath
    ) {
        if before.type != after.type {
            edits.append(.typeChanged(path, from: before.type, to: after.type))
        }
        if before.isOptional != after.isOptional {
            edits.append(.optionalityChanged(path, isOptional: after.isOptional))
        }
        if before.isCoded != after.isCoded {
            edits.append(.codingChanged(path, isCoded: after.isCoded))
        }
        compareModifiers(before.versionHashModifier, after.versionHashModifier, path)
    }

    private mutating func compare(
        _ before: RelationshipDescription, _ oldPath: PropertyPath,
        _ after: RelationshipDescription, _ path: PropertyPath
    ) {
        if before.kind != after.kind {
            edits.append(.kindChanged(path, from: before.kind, to: after.kind))
        }
        let destination = renamed(before.destinationEntityName)
        if destination != after.destinationEntityName || isGone(before.destinationEntityName) {
            edits.append(
                .destinationChanged(path, from: destination, to: after.destinationEntityName))
        }
        let inverse = oldInverses.inverse(of: oldPath)
        let later = newInverses.inverse(of: path)
        // The name of an inverse that is gone may be another one's.
        if inverse.flatMap({ paths[$0] }) != later || inverse.map({ paths[$0] == nil }) == true {
            edits.append(
                .inverseChanged(path, from: inverse.map { paths[$0] ?? $0 }, to: later))
        }
        if before.deleteRule != after.deleteRule {
            edits.append(
                .deleteRuleChanged(path, from: before.deleteRule, to: after.deleteRule))
        }
        if before.minCount != after.minCount {
            edits.append(.minCountChanged(path, from: before.minCount, to: after.minCount))
        }
        if before.maxCount != after.maxCount {
            edits.append(.maxCountChanged(path, from: before.maxCount, to: after.maxCount))
        }
        compareModifiers(before.versionHashModifier, after.versionHashModifier, path)
    }

    private mutating func compareModifiers(
        _ before: String?, _ after: String?, _ path: PropertyPath
    ) {
        guard before != after else { return }
        edits.append(.propertyModifierChanged(path, from: before, to: after))
    }

    // MARK: Indexes

    private mutating func compareColumns(
        _ before: EntityDescription, _ after: EntityDescription
    ) {
        func changes(
            _ lists: (EntityDescription) -> [[String]]
        ) -> (removed: [[String]], added: [[String]]) {
            let earlier = lists(before).map { columns in
                columns.map { renamed($0, of: before) }
            }
            let (known, wanted) = (Set(earlier), Set(lists(after)))
            return (
                known.subtracting(wanted).sorted { $0.lexicographicallyPrecedes($1) },
                wanted.subtracting(known).sorted { $0.lexicographicallyPrecedes($1) }
            )
        }
        let constraints = changes(\.uniqueConstraints)
        edits += constraints.removed.map { SchemaEdit.constraintRemoved(after.name, columns: $0) }
        edits += constraints.added.map { SchemaEdit.constraintAdded(after.name, columns: $0) }
        let indexes = changes(\.indexes)
        edits += indexes.removed.map { SchemaEdit.indexRemoved(after.name, columns: $0) }
        edits += indexes.added.map { SchemaEdit.indexAdded(after.name, columns: $0) }
    }

    /// The later name of a column, which the entity or one of its ancestors declares.
    private func renamed(_ column: String, of entity: EntityDescription) -> String {
        var current: EntityDescription? = entity
        while let owner = current {
            if let path = paths[PropertyPath(owner.name, column)] { return path.name }
            current = owner.superentityName.flatMap { name in
                old.entities.first { $0.name == name }
            }
        }
        return column
    }
}

extension SchemaDescription {
    /// The entities above and below one, without itself.
    fileprivate func relatives(of entity: EntityDescription) -> [EntityDescription] {
        let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        func line(_ entity: EntityDescription) -> [EntityDescription] {
            Array(
                sequence(first: entity) { $0.superentityName.flatMap { byName[$0] } }.dropFirst())
        }
        return line(entity)
            + entities.filter { other in line(other).contains { $0.name == entity.name } }
    }

    /// Describes the first difference from a program's model, for messages; nil if they are equal.
    /// Compares names, defaults, indexes and computed properties in any order, but neither classes
    /// nor the name of the version.
    func difference(to other: SchemaDescription) -> String? {
        let edits = SchemaDifference.edits(from: self, to: other).lazy.filter { edit in
            if case .classChanged = edit { false } else { true }
        }
        if let edit = edits.first { return edit.description }
        let entities = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        for entity in other.entities {
            guard let own = entities[entity.name] else { continue }
            if Set(own.virtualNames) != Set(entity.virtualNames) {
                return "\(entity.name) has other computed properties"
            }
            let defaults = Dictionary(own.attributes.map { ($0.name, $0.defaultValue) }) {
                first, _ in first
            }
            for attribute in entity.attributes
            where defaults[attribute.name] != attribute.defaultValue {
                return "\(entity.name).\(attribute.name) has another default"
            }
        }
        return nil
    }
}
