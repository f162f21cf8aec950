import RecordStore

extension ResolvedPath {
    /// Whether the values at the end are attributes, or calculated from attributes.
    var isAttribute: Bool {
        switch end {
        case .attribute: true
        case .object: false
        case .collection(let collection):
            collection.function != nil || collection.elements?.path.isAttribute == true
        }
    }

    /// How many to-many relationships the path crosses.
    var crossingCount: Int {
        guard case .collection(let collection) = end else { return 0 }
        return 1 + (collection.elements?.path.crossingCount ?? 0)
    }

    /// The entity of the objects that a path with several values leads to; nil for other values.
    fileprivate func elementEntity(in schema: Schema) -> EntityLayout? {
        switch end {
        case .attribute: return nil
        case .object: return entity
        case .collection(let collection):
            guard collection.function == nil else { return nil }
            guard let elements = collection.elements?.path else {
                return schema.knownEntity(tag: collection.relationship.destinationTag)
            }
            return elements.elementEntity(in: schema)
        }
    }
}

extension EntityLayout {
    fileprivate func isWithout(_ name: String) -> Bool {
        field(named: name) == nil && relationship(named: name) == nil
    }
}

/// Resolves the properties that paths name.
struct PathResolver {
    /// The most names of a path, because following it uses stack.
    static let nameCountMax = 64
    /// The most to-many relationships that one record's value may take: each multiplies the work.
    static let crossingCountMax = 4

    let schema: Schema

    func resolve(_ path: [String], from entity: EntityLayout) throws(QueryError) -> ResolvedPath {
        guard path.count <= Self.nameCountMax else {
            throw QueryError("a path has at most \(Self.nameCountMax) names, not \(path.count)")
        }
        // Most paths are an attribute's name; one of four bytes may be SELF.
        if path.count == 1, path[0].utf8.count != 4, entity.relationship(named: path[0]) == nil,
            let field = entity.field(named: path[0])
        {
            return ResolvedPath(steps: [], end: .attribute(field), entity: entity)
        }
        var steps: [ResolvedPath.Step] = []
        var current = entity
        var rest = path[...]
        if let first = rest.first, first.uppercased() == "SELF", entity.isWithout(first) {
            rest = rest.dropFirst()
        }
        if let first = rest.first, first.hasPrefix("@"), rest.count > 1 {
            // `@sum.items.price` means the same as `items.price.@sum`.
            rest = rest.dropFirst() + [first]
        }
        while let name = rest.popFirst() {
            if let relationship = current.relationship(named: name) {
                let target = schema.knownEntity(tag: relationship.destinationTag)
                if let field = relationship.field {
                    steps.append(ResolvedPath.Step(field: field, hierarchy: target.hierarchy))
                    current = target
                    continue
                }
                let collection = try collection(relationship, target, rest, path)
                return ResolvedPath(steps: steps, end: .collection(collection), entity: current)
            }
            guard let field = current.field(named: name) else {
                throw QueryError(unknown(name, of: current, in: path))
            }
            guard rest.isEmpty else {
                throw QueryError(
                    "“\(path.joined(separator: "."))”: \(name) of \(current.name) is an "
                        + "attribute, so nothing can follow it")
            }
            return ResolvedPath(steps: steps, end: .attribute(field), entity: current)
        }
        return ResolvedPath(steps: steps, end: .object, entity: current)
    }

    private func unknown(
        _ name: String, of entity: EntityLayout, in path: [String]
    ) -> String {
        let text = "“\(path.joined(separator: "."))”: "
        if entity.virtualNames.contains(name) {
            return text + "\(name) of \(entity.name) is virtual: it is computed and not stored, so "
                + "no query finds or sorts by it"
        }
        let known = (entity.fields.map(\.name) + entity.relationships.map(\.name))
        let names = Array(Set(known)).sorted().joined(separator: ", ")
        return text + "\(entity.name) has no property “\(name)”; "
            + "it has \(names)"
    }

    /// The part of a path after a to-many: `@count`, `@sum.age`, `age.@sum`, `age`, or nothing.
    private func collection(
        _ relationship: RelationshipLayout, _ target: EntityLayout, _ rest: ArraySlice<String>,
        _ path: [String]
    ) throws(QueryError) -> ResolvedPath.Collection {
        var names = Array(rest)
        var function: SelectTerm.Function?
        if let index = names.firstIndex(where: { $0.hasPrefix("@") }) {
            function = try Self.function(names[index], in: path)
            names.remove(at: index)
        }
        let elements: ResolvedPath? = names.isEmpty ? nil : try resolve(names, from: target)
        guard elements?.crossingCount ?? 0 < Self.crossingCountMax else {
            throw Self.tooManyCrossings
        }
        if let function, function != .count, elements?.isAttribute != true {
            throw QueryError(
                "“\(path.joined(separator: "."))” calculates with objects: name a property of "
                    + "\(target.name) to calculate with")
        }
        return ResolvedPath.Collection(
            relationship: relationship, hierarchy: target.hierarchy,
            elements: elements.map { ResolvedPath.Box($0) }, function: function)
    }

    static var tooManyCrossings: QueryError {
        QueryError(
            "a path, with the SUBQUERY around it, crosses at most \(crossingCountMax) to-many "
                + "relationships")
    }

    private static func function(
        _ name: String, in path: [String]
    ) throws(QueryError) -> SelectTerm.Function {
        switch name {
        case "@count": return .count
        case "@sum": return .sum
        case "@avg", "@average": return .average
        case "@min": return .minimum
        case "@max": return .maximum
        default:
            throw QueryError(
                "“\(path.joined(separator: "."))”: \(name) is no collection operator; "
                    + "@count, @sum, @avg, @min and @max are")
        }
    }

    /// The entity of the elements of a to-many path.
    func elementEntity(
        of path: ResolvedPath, _ text: @autoclosure () -> String
    ) throws(QueryError) -> EntityLayout {
        guard !path.isSingle, let element = path.elementEntity(in: schema) else {
            throw QueryError(
                "SUBQUERY needs a to-many relationship, and “\(text())” is none")
        }
        return element
    }
}
