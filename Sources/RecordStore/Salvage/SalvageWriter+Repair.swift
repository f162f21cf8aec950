import PageStore

/// What records of different ages may contradict: links between two to-one sides, and unique
/// constraints.
extension SalvageWriter {
    /// Beyond it equal values are only counted as a loss: each pair costs a scan.
    private static let conflictCountMax = 100

    /// Gives each link to a to-one side the one that leads back, where that side has none. A link
    /// to an object that leads elsewhere goes.
    mutating func repairPairs() throws(StoreError) {
        for relationship in database.schema.relationships {
            guard relationship.kind == .toOne, let field = relationship.field,
                let inverse = relationship.inverseID.map({ database.schema.relationship(id: $0) }),
                inverse.kind == .toOne, let back = inverse.field
            else { continue }
            for (number, target) in try loosePairs(relationship, field, back) {
                try repair(relationship, field, number, target, back)
            }
        }
    }

    /// The objects whose link does not lead back, with their targets.
    private func loosePairs(
        _ relationship: RelationshipLayout, _ field: FieldLayout, _ back: FieldLayout
    ) throws(StoreError) -> [(ObjectNumber, ObjectNumber)] {
        let reader = try database.snapshot()
        let source = reader.schema.knownEntity(tag: relationship.sourceTag)
        let destination = reader.schema.knownEntity(tag: relationship.destinationTag)
        var loose: [(ObjectNumber, ObjectNumber)] = []
        let cursor = reader.recordCursor(source.hierarchy, isScan: true)
        while try cursor.next() {
            let row = try cursor.row()
            guard source.tags.contains(row.entityTag), let target = row.link(at: field.byteOffset)
            else { continue }
            let number = cursor.number
            let leadsBack = try reader.withRow(target, in: destination.hierarchy) {
                $0.link(at: back.byteOffset) == number
            }
            if leadsBack != true { loose.append((number, target)) }
        }
        return loose
    }

    private mutating func repair(
        _ relationship: RelationshipLayout, _ field: FieldLayout, _ number: ObjectNumber,
        _ target: ObjectNumber, _ back: FieldLayout
    ) throws(StoreError) {
        let destination = database.schema.knownEntity(tag: relationship.destinationTag)
        let source = database.schema.knownEntity(tag: relationship.sourceTag)
        let transaction = try database.beginWrite()
        let isFree = try transaction.withRow(target, in: destination.hierarchy) {
            $0.link(at: back.byteOffset) == nil
        }
        if isFree == true {
            try set(number, back, of: target, in: destination.hierarchy, transaction)
        } else {
            try set(nil, field, of: number, in: source.hierarchy, transaction)
            lose(field, of: number, source, "the link")
        }
        _ = try transaction.commit(.relaxed)
    }

    private func set(
        _ link: ObjectNumber?, _ field: FieldLayout, of number: ObjectNumber,
        in hierarchy: HierarchyID, _ transaction: RecordTransaction
    ) throws(StoreError) {
        guard let row = try transaction.row(number, in: hierarchy) else { return }
        defer { row.deallocate() }
        row.setLink(link, at: field.byteOffset)
        var batch = RecordBatch()
        batch.update(transaction.schema.knownEntity(tag: row.view.entityTag), number, row: row)
        try transaction.apply(batch)
    }

    /// Of two objects with equal values of a unique constraint, the one with the smaller number
    /// loses a value that it need not have: the other one is the newer object.
    mutating func repairConstraints() throws(StoreError) {
        for index in database.schema.indexes where index.isUnique {
            let entity = database.schema.knownEntity(tag: index.entityTag)
            var count = 0
            while let pair = try DuplicateSearch(index, try database.snapshot()).firstPair() {
                count += 1
                guard let column = index.columns.first(where: \.isOptional),
                    count <= Self.conflictCountMax
                else {
                    let names = index.columns.map(\.name).joined(separator: ", ")
                    lose(
                        "the uniqueness of \(names): objects \(pair.first.rawValue) and "
                            + "\(pair.second.rawValue) have the same, and perhaps others", entity)
                    break
                }
                let number = min(pair.first, pair.second)
                let transaction = try database.beginWrite()
                if var row = try transaction.row(number, in: entity.hierarchy) {
                    defer { row.deallocate() }
                    row.setValue(.null, column)
                    var batch = RecordBatch()
                    batch.update(
                        database.schema.knownEntity(tag: row.view.entityTag), number, row: row)
                    try transaction.apply(batch)
                }
                _ = try transaction.commit(.relaxed)
                lose(column, of: number, entity, "the value")
            }
        }
    }

    private mutating func lose(
        _ field: FieldLayout, of number: ObjectNumber, _ entity: EntityLayout, _ what: String
    ) {
        let root = database.schema.knownEntity(tag: entity.hierarchy.rootTag)
        report.lose(
            TreeTable.recordsName(root.name),
            "\(what) of \(number.rawValue).\(field.name), which another object has now",
            number.rawValue...number.rawValue)
    }

    private mutating func lose(_ what: String, _ entity: EntityLayout) {
        let root = database.schema.knownEntity(tag: entity.hierarchy.rootTag)
        report.lose(TreeTable.recordsName(root.name), what)
    }
}
