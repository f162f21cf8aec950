import PageStore

/// Converts the records of one entity of the file to a later version, by the union schema. A class,
/// because a loop over records would copy a struct's parts.
final class EntityRewrite {
    /// A later attribute, and the source of its value. A class, because a loop over records would
    /// copy a struct's names.
    final class Assignment {
        let field: FieldLayout
        /// The field's, apart from it so that a loop over records does not copy its name.
        let (type, byteOffset): (AttributeType?, Int)
        let attribute: AttributeDescription
        /// The earlier attribute; nil if there is none.
        let source: FieldLayout?
        let initialValue: (any InitialValue)?

        init(
            _ field: FieldLayout, _ attribute: AttributeDescription, source: FieldLayout?,
            _ initialValue: (any InitialValue)?
        ) {
            (self.field, type, byteOffset) = (field, field.type, field.byteOffset)
            self.attribute = attribute
            (self.source, self.initialValue) = (source, initialValue)
        }
    }

    /// A to-one link that remains to-one.
    struct Link {
        var field: FieldLayout
        var source: FieldLayout
        /// That of the earlier targets.
        var hierarchy: HierarchyID
        var targets: NumberMap
    }

    let source: EntityLayout
    let destination: EntityLayout
    /// Whether records stay in their tree.
    let isInPlace: Bool
    private(set) var assignments: [Assignment] = []
    private(set) var links: [Link] = []
    /// Earlier attributes that are set to nil.
    private var cleared: [FieldLayout] = []
    private let mapper: RecordMapper?
    /// Whether the program's mapping makes the later records.
    var isMapped: Bool { mapper != nil }
    /// Which links may be dropped.
    private let permission: LinkPermission
    private let sourceFields: MappedFields
    private let destinationFields: MappedFields
    /// The defaults of the later attributes, in the order of the assignments of a mapped entity.
    private let defaults: [Value]
    /// What begins with another value than its default, by position.
    private let initialized: [(position: Int, value: any InitialValue)]

    /// Whether any record is written.
    var isNeeded: Bool {
        !isInPlace || mapper != nil || !links.isEmpty
            || assignments.contains { assignment in
                assignment.source != nil || assignment.initialValue != nil
                    // The union schema has no default for a filled attribute: existing records lack
                    // it.
                    || assignment.field.defaultValue != assignment.attribute.defaultValue
            }
    }

    /// Whether every record of the entity is rewritten in its tree, and has no value in a slot
    /// then: that of an attribute that goes.
    func clears(_ field: FieldLayout) -> Bool {
        isInPlace && isNeeded && cleared.contains { $0.byteOffset == field.byteOffset }
    }

    /// Whether every record of the entity is rewritten in its tree, and has a value in a slot then:
    /// that of a required attribute.
    func fills(_ field: FieldLayout) -> Bool {
        guard isInPlace,
            let assignment = assignments.first(where: {
                $0.field.byteOffset == field.byteOffset && !$0.attribute.isOptional
            })
        else { return false }
        // What makes initial values may make nil, which only a mapped record is refused for.
        return isMapped
            || assignment.initialValue == nil && assignment.attribute.defaultValue != .null
    }

    /// - Parameter name: an entity of the file; the result is nil if it has no later one.
    init?(
        _ name: String, _ lineage: SchemaLineage, _ both: Schema, _ numbers: NumberMaps,
        _ step: MigrationStep
    ) {
        guard let later = lineage.pairs.later[name],
            let source = both.entity(named: lineage.bothName(name)),
            let destination = both.entity(named: later)
        else { return nil }
        self.source = source
        self.destination = destination
        isInPlace = source == destination
        mapper = lineage.pairs.mappers[name]
        permission = LinkPermission(lineage, both, step)
        let attributes = lineage.before.attributes(of: later)
        sourceFields = MappedFields(
            name,
            attributes.compactMap { path, attribute in
                source.field(named: lineage.bothName(path)).map { (attribute, $0) }
            })
        var mapped: [(AttributeDescription, FieldLayout)] = []
        var sources: [AttributeDescription?] = []
        for (path, attribute) in lineage.after.attributes(of: later) {
            guard let field = destination.field(named: path.name) else { continue }
            let earlier = lineage.source(ofAttribute: path, in: later)
            mapped.append((attribute, field))
            sources.append(earlier.flatMap { lineage.before.attribute($0) })
            let isKept = isInPlace && earlier.map { lineage.kept($0) == path } == true
            guard !isKept || mapper != nil else { continue }
            let inferred = earlier.flatMap { lineage.isInferred($0, path) ? $0 : nil }
            assignments.append(
                Assignment(
                    field, attribute,
                    source: inferred.flatMap { source.field(named: lineage.bothName($0)) },
                    step.initialValues[path]
                        ?? (mapper != nil ? step.optionalInitialValues[path] : nil)))
        }
        destinationFields = MappedFields(later, mapped, sources: sources)
        defaults = assignments.map(\.attribute.defaultValue)
        initialized = assignments.enumerated().compactMap { position, assignment in
            assignment.initialValue.map { (position, $0) }
        }
        if isInPlace {
            cleared = attributes.compactMap { path, _ in
                lineage.kept(path) == nil ? source.field(named: lineage.bothName(path)) : nil
            }
        }
        addLinks(later, lineage, both, numbers)
    }

    private func addLinks(
        _ later: String, _ lineage: SchemaLineage, _ both: Schema, _ numbers: NumberMaps
    ) {
        for (path, relationship) in lineage.after.relationships(of: later)
        where relationship.kind == .toOne {
            guard let earlier = lineage.source(ofRelationship: path, in: later),
                let former = lineage.before.relationship(earlier), former.kind == .toOne,
                !isInPlace || lineage.kept(earlier) != path,
                let field = destination.field(named: path.name),
                let sourceField = source.field(named: lineage.bothName(earlier)),
                let targets = both.entity(
                    named: lineage.bothName(renamed: former.destinationEntityName))
            else { continue }
            links.append(
                Link(
                    field: field, source: sourceField, hierarchy: targets.hierarchy,
                    targets: numbers.map(
                        from: former.destinationEntityName,
                        to: relationship.destinationEntityName)))
        }
    }

    /// Room in a copied record for texts that grow.
    private static let spareSizeInBytes = 64

    /// The later record, which the caller frees; nil if the program's mapping makes none.
    func row(
        _ number: ObjectNumber, _ row: RowView, _ reader: RecordReader,
        _ control: MigrationControl?
    ) throws(StoreError) -> RowBuffer? {
        var values: [Value]?
        if let mapper {
            values = try map(mapper, number, row, reader, control)
            guard values != nil else { return nil }
        }
        var changed =
            isInPlace
            ? try RowBuffer(copying: row, of: destination, spare: Self.spareSizeInBytes)
            : destination.emptyRow()
        do throws(StoreError) {
            for field in cleared { changed.clear(at: field.byteOffset) }
            for (position, assignment) in assignments.enumerated() {
                let value =
                    if let values {
                        values[position]
                    } else {
                        try value(of: assignment, row, reader)
                    }
                try check(value, assignment.attribute, number)
                changed.setValue(value, assignment.type, at: assignment.byteOffset)
            }
            for link in links {
                let former = row.link(at: link.source.byteOffset)
                let target = try former.flatMap { number throws(StoreError) in
                    try link.targets.later(number)
                }
                if let former, target == nil, try !mayLose(link, to: former, reader) {
                    throw LossCheck.refusal(
                        "object \(number.rawValue) has a \(destination.name).\(link.field.name), "
                            + "which leads to another entity now",
                        isLoss: try reader.contains(former, in: link.hierarchy))
                }
                changed.setLink(target, at: link.field.byteOffset)
            }
        } catch {
            changed.deallocate()
            throw error
        }
        return changed
    }

    private func mayLose(
        _ link: Link, to target: ObjectNumber, _ reader: RecordReader
    ) throws(StoreError) -> Bool {
        if permission.allows(link.field.name, of: destination)
            || permission.allows(link.source.name, of: source)
        {
            return true
        }
        return try reader.withRow(target, in: link.hierarchy) {
            permission.allows(target: $0.entityTag)
        } ?? false
    }

    /// Inferred values of records that stay in their tree are checked for nil by the last layout
    /// plan.
    private func check(
        _ value: Value, _ attribute: AttributeDescription, _ number: ObjectNumber
    ) throws(StoreError) {
        guard value == .null, !attribute.isOptional, !isInPlace || mapper != nil else { return }
        throw StoreError(
            .invalidArgument,
            "\(destination.name).\(attribute.name) may not be nil, and object \(number.rawValue) "
                + "has no value")
    }

    private func value(
        of assignment: Assignment, _ row: RowView, _ reader: RecordReader
    ) throws(StoreError) -> Value {
        let attribute = assignment.attribute
        if let source = assignment.source {
            let stored = try reader.value(source, of: row)
            guard let value = ValueConversion.value(stored, as: attribute.type) else {
                throw StoreError(
                    .invalidArgument,
                    "\(destination.name).\(attribute.name) cannot hold \(stored)")
            }
            if value != .null { return value }
            // Nil stays nil unless the attribute is required.
            guard !attribute.isOptional else { return .null }
        }
        if let initialValue = assignment.initialValue { return try initialValue.value() }
        return attribute.defaultValue
    }

    // MARK: The program's mapping

    private func map(
        _ mapper: RecordMapper, _ number: ObjectNumber, _ row: RowView, _ reader: RecordReader,
        _ control: MigrationControl?
    ) throws(StoreError) -> [Value]? {
        let record = SourceRecord(sourceFields, number, row, reader)
        defer { record.end() }
        var made: DestinationRecord?
        do {
            try mapper(record) { () throws(StoreError) -> DestinationRecord in
                if let made { return made }
                let record = DestinationRecord(
                    self.destinationFields, try self.initialValues())
                made = record
                return record
            }
        } catch let error as StoreError {
            throw error
        } catch {
            control?.fail(error)
            throw StoreError(
                .invalidArgument,
                "the mapping of \(sourceFields.entityName) failed at object \(number.rawValue): "
                    + "\(error)")
        }
        return made?.values
    }

    private func initialValues() throws(StoreError) -> [Value] {
        var values = defaults
        for (position, value) in initialized { values[position] = try value.value() }
        return values
    }
}
