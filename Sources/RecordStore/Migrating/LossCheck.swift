import PageStore

/// Data of an earlier schema for which a later schema has no entity or property.
struct StoredLoss {
    let schema: Schema
    /// Entities of which no object may be stored.
    var entities: [String] = []
    /// Properties of which no value may be stored, by the tag of exactly the entity.
    var fields: [UInt16: [FieldLayout]] = [:]
    /// To-many relationships of which no link may be stored, with the tags of exactly the owning
    /// entities.
    var links: [RelationshipLayout: Set<UInt16>] = [:]
    /// The tags of exactly the targets whose links are lost, for a relationship whose inverse keeps
    /// the links to others. Where there are none, all links of the relationship are lost.
    var lostTargets: [LostLinks: Set<UInt16>] = [:]

    init(_ schema: Schema) { self.schema = schema }

    var isEmpty: Bool { entities.isEmpty && fields.isEmpty && links.isEmpty }

    var hierarchies: Set<HierarchyID> {
        Set(fields.keys.map { schema.knownEntity(tag: $0).hierarchy })
    }

    /// The lost properties that have a value in a record. A link among them is lost only if
    /// ``lostTargets`` has its target.
    func stored(in row: RowView) -> [FieldLayout] {
        (fields[row.entityTag] ?? []).filter { !row.isNull(at: $0.byteOffset) }
    }
}

/// The links of a relationship that objects of exactly one entity own.
struct LostLinks: Hashable {
    var relationshipID: Int
    var ownerTag: UInt16
}

extension LayoutPlan {
    /// All that the plan removes, permitted or not.
    var loss: StoredLoss {
        var loss = StoredLoss(stored)
        loss.entities = removedEntities
        for path in removed {
            guard let owner = stored.entity(named: path.entityName) else { continue }
            let relationship = owner.relationship(named: path.name)
            // Links that the inverse still stores are not lost.
            if let relationship, isKeptByInverse(relationship) { continue }
            if let field = owner.field(named: path.name) {
                for tag in owner.tags { loss.fields[tag, default: []].append(field) }
            } else if let relationship, relationship.hasEdges {
                loss.links[relationship] = owner.tags
            }
        }
        return loss
    }

    private func isKeptByInverse(_ relationship: RelationshipLayout) -> Bool {
        guard let inverse = relationship.inverseID.map({ stored.relationship(id: $0) }) else {
            return false
        }
        let source = stored.knownEntity(tag: inverse.sourceTag).name
        return !removed.contains(PropertyPath(source, inverse.name))
    }
}

/// Searches the file for data that a migration would drop. Reads counters, the links of removed
/// relationships, and the records of hierarchies that lose a property.
struct LossCheck {
    private let loss: StoredLoss
    private let reader: RecordReader

    private var schema: Schema { reader.schema }

    /// - Parameter reader: uses the schema of the loss.
    init(_ loss: StoredLoss, _ reader: RecordReader) {
        self.loss = loss
        self.reader = reader
    }

    /// Throws `schemaMismatch` if data is stored that would be lost.
    func run() throws(StoreError) {
        for entity in loss.entities.compactMap({ schema.entity(named: $0) }) {
            let count = try reader.recordCount(of: entity, includesSubentities: false)
            guard count == 0 else {
                throw Self.refusal(
                    "the entity \(entity.name) is gone, and \(count) objects are stored")
            }
        }
        for (relationship, tags) in loss.links.sorted(by: { $0.key.id < $1.key.id }) {
            try checkLinks(relationship, of: tags)
        }
        for hierarchy in loss.hierarchies {
            let cursor = reader.recordCursor(hierarchy, isScan: true)
            while try cursor.next() {
                let row = try cursor.row()
                guard let lost = try firstLost(in: row) else { continue }
                throw Self.refusal(
                    "\(schema.knownEntity(tag: row.entityTag).name).\(lost.name) is gone, and "
                        + "object \(cursor.number.rawValue) has a value")
            }
        }
    }

    /// - Parameter isLoss: whether the model is what loses the data. A link to an object that is
    ///   gone is no loss by it: the file is damaged, or the program's mapping has dropped the
    ///   object.
    static func refusal(_ message: String, isLoss: Bool = true) -> StoreError {
        var error = StoreError(
            .schemaMismatch,
            message + "; allow the loss of data, or name the model versions in a migration chain")
        error.refusesLoss = isLoss
        return error
    }

    private func firstLost(in row: RowView) throws(StoreError) -> FieldLayout? {
        for field in loss.stored(in: row) {
            guard case .link(let id) = field.content else { return field }
            let targets = loss.lostTargets[LostLinks(relationshipID: id, ownerTag: row.entityTag)]
            let target = row.link(at: field.byteOffset)
            if try isLost(target, of: schema.relationship(id: id), among: targets) { return field }
        }
        return nil
    }

    /// - Parameter targets: the entities of which links are lost; nil if all are.
    private func isLost(
        _ target: ObjectNumber?, of relationship: RelationshipLayout, among targets: Set<UInt16>?
    ) throws(StoreError) -> Bool {
        guard let targets else { return true }
        guard let target, !targets.isEmpty else { return false }
        let destination = schema.knownEntity(tag: relationship.destinationTag)
        let isLost = try reader.withRow(target, in: destination.hierarchy) {
            targets.contains($0.entityTag)
        }
        return isLost ?? false
    }

    private func checkLinks(
        _ relationship: RelationshipLayout, of tags: Set<UInt16>
    ) throws(StoreError) {
        let source = schema.knownEntity(tag: relationship.sourceTag)
        var known: ObjectNumber?
        var targets: Set<UInt16>?
        try reader.forEachEdge(relationship) { owner, edge throws(StoreError) in
            if owner == known {
                guard targets != nil else { return }
            } else {
                known = owner
                let tag = try reader.withRow(owner, in: source.hierarchy) { $0.entityTag }
                targets = tag.flatMap { tag in
                    let links = LostLinks(relationshipID: relationship.id, ownerTag: tag)
                    return tags.contains(tag) ? loss.lostTargets[links] : []
                }
            }
            guard try isLost(edge.target, of: relationship, among: targets) == false else {
                throw Self.refusal(
                    "\(source.name).\(relationship.name) is gone, and links of it are stored")
            }
        }
    }
}
