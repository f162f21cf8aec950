import RecordStore

/// A key path with resolved properties: to-one steps, then an attribute, an object or a collection.
struct ResolvedPath: Sendable {
    enum End: Sendable {
        case attribute(FieldLayout)
        /// The object at the end of the steps.
        case object
        case collection(Collection)
    }

    struct Collection: Sendable {
        var relationship: RelationshipLayout
        var hierarchy: HierarchyID
        /// The path from each element; nil for the elements themselves.
        var elements: Box?
        var function: SelectTerm.Function?
    }

    /// Breaks the recursion of the value type.
    final class Box: Sendable {
        let path: ResolvedPath
        init(_ path: ResolvedPath) { self.path = path }
    }

    struct Step: Sendable {
        var field: FieldLayout
        var hierarchy: HierarchyID
    }

    var steps: [Step]
    var end: End
    /// The entity at the end of the steps.
    var entity: EntityLayout

    /// Whether a record has one value, rather than several.
    var isSingle: Bool {
        guard case .collection(let collection) = end else { return true }
        return collection.function != nil
    }

    /// The hierarchy of the objects at the end of the path; nil if it ends with values.
    var hierarchy: HierarchyID? {
        switch end {
        case .attribute: return nil
        case .object: return entity.hierarchy
        case .collection(let collection):
            guard collection.function == nil else { return nil }
            return collection.elements.map(\.path.hierarchy) ?? collection.hierarchy
        }
    }

    /// Whether the path names the record itself.
    var isSelf: Bool {
        guard steps.isEmpty, case .object = end else { return false }
        return true
    }

    /// The column of the record itself that the path names.
    var ownField: FieldLayout? {
        guard steps.isEmpty, case .attribute(let field) = end else { return nil }
        return field
    }

    /// The to-one property of the record itself that the path names.
    var ownLink: FieldLayout? {
        guard steps.count == 1, case .object = end else { return nil }
        return steps[0].field
    }
}
