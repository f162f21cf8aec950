import PageStore

/// Compares the trees of links with the records, and with each other if a relationship has an
/// inverse: both directions must hold each link.
struct LinkCheck {
    /// Two numbers in the order of the tree: target and source for a to-one, else owner and target.
    private struct Pair: Hashable {
        var first: ObjectNumber
        var second: ObjectNumber
    }

    /// One end of a relationship.
    private struct End {
        let entity: EntityLayout
        /// The tags of the entities that the inverse allows there too.
        let allowed: Set<UInt16>
    }

    private let reader: RecordReader
    private let tags: [UInt16: [ObjectNumber: UInt16]]
    private let linked: [Fingerprint]
    /// A fingerprint of each tree, in its order and with the two numbers swapped; nil for a
    /// relationship without a tree, or with one that could not be read.
    private var forwards: [Fingerprint?]
    private var backwards: [Fingerprint?]
    private(set) var findings: [Finding] = []

    init(_ records: RecordCheck) {
        reader = records.reader
        tags = records.tags
        linked = records.linked
        forwards = Array(repeating: nil, count: linked.count)
        backwards = forwards
    }

    private mutating func report(_ message: String) { report(Finding(.corrupt, message)) }

    private mutating func report(_ finding: Finding) {
        if findings.count < TreeCheck.findingCountMax { findings.append(finding) }
    }

    mutating func run() {
        let relationships = reader.schema.relationships
        for relationship in relationships where !relationship.mirrorsToOne {
            do throws(StoreError) {
                try readTree(relationship)
                if relationship.kind == .toOne { try compareWithRecords(relationship) }
            } catch {
                report(Finding(error))
            }
        }
        for relationship in relationships {
            guard let id = relationship.inverseID else { continue }
            let inverse = reader.schema.relationship(id: id)
            // Sides of equal kind are compared once, from the first; else the to-many with the
            // to-one.
            guard
                relationship.hasEdges != inverse.hasEdges
                    ? relationship.hasEdges : relationship.id <= inverse.id
            else { continue }
            do throws(StoreError) {
                try compare(relationship, inverse)
            } catch {
                report(Finding(error))
            }
        }
    }

    private func name(_ relationship: RelationshipLayout) -> String {
        "\(reader.schema.knownEntity(tag: relationship.sourceTag).name).\(relationship.name)"
    }

    private func entity(_ tag: UInt16) -> EntityLayout { reader.schema.knownEntity(tag: tag) }

    // MARK: One tree

    /// Reads a tree's pairs, and checks that both ends of each exist.
    private mutating func readTree(_ relationship: RelationshipLayout) throws(StoreError) {
        let kinds = relationship.kinds(in: reader.schema)
        let ends = [
            End(entity: entity(relationship.sourceTag), allowed: kinds.owners),
            End(entity: entity(relationship.destinationTag), allowed: kinds.targets),
        ]
        let (first, second) = relationship.kind == .toOne ? (ends[1], ends[0]) : (ends[0], ends[1])
        var forward = Fingerprint()
        var backward = Fingerprint()
        var owner: ObjectNumber?
        var targets: Set<ObjectNumber> = []
        try reader.forEachEdge(relationship) { number, edge in
            forward.add(number, edge.target)
            backward.add(edge.target, number)
            checkEnd(number, first, relationship)
            checkEnd(edge.target, second, relationship)
            // In other trees the key excludes duplicates.
            guard relationship.kind == .toManyOrdered else { return }
            if number != owner { targets = [] }
            owner = number
            if !targets.insert(edge.target).inserted {
                report(
                    "\(name(relationship)) of \(number.rawValue) has object "
                        + "\(edge.target.rawValue) twice")
            }
        }
        forwards[relationship.id] = forward
        backwards[relationship.id] = backward
    }

    private mutating func checkEnd(
        _ number: ObjectNumber, _ end: End, _ relationship: RelationshipLayout
    ) {
        guard let known = tags[end.entity.hierarchy.rootTag] else { return }
        let what = "\(name(relationship)) has a link of object \(number.rawValue)"
        if let tag = known[number] {
            if !end.entity.tags.contains(tag) {
                report("\(what), which is no \(end.entity.name)")
            } else if !end.allowed.contains(tag) {
                report("\(what), which is a \(entity(tag).name) that the inverse does not allow")
            }
        } else {
            report("\(what), which is not there")
        }
    }

    private mutating func compareWithRecords(
        _ relationship: RelationshipLayout
    ) throws(StoreError) {
        let source = entity(relationship.sourceTag)
        guard tags[source.hierarchy.rootTag] != nil, let field = relationship.field,
            forwards[relationship.id] != linked[relationship.id]
        else { return }
        var pairs = try pairs(relationship)
        let cursor = reader.recordCursor(source.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard source.tags.contains(row.entityTag),
                let target = row.link(at: field.byteOffset),
                pairs.remove(Pair(first: target, second: cursor.number)) == nil
            else { continue }
            report("the links lack \(name(relationship)) of object \(cursor.number.rawValue)")
        }
        for pair in pairs.sorted(by: { $0.second < $1.second }) {
            report(
                "\(name(relationship)) has a link from object \(pair.second.rawValue) to object "
                    + "\(pair.first.rawValue), which its record does not say")
        }
    }

    private func pairs(_ relationship: RelationshipLayout) throws(StoreError) -> Set<Pair> {
        var pairs: Set<Pair> = []
        try reader.forEachEdge(relationship) { number, edge in
            pairs.insert(Pair(first: number, second: edge.target))
        }
        return pairs
    }

    // MARK: Two directions

    private mutating func compare(
        _ relationship: RelationshipLayout, _ inverse: RelationshipLayout
    ) throws(StoreError) {
        // The tree of a to-one is sorted by target, that of the to-many side by owner.
        let isTurned = relationship.hasEdges == inverse.hasEdges
        let mirror = isTurned ? backwards[inverse.id] : forwards[inverse.id]
        guard let own = forwards[relationship.id], let mirror, own != mirror else { return }
        let pairs = try pairs(relationship)
        var others: Set<Pair> = []
        for pair in try self.pairs(inverse) {
            others.insert(isTurned ? Pair(first: pair.second, second: pair.first) : pair)
        }
        nameMissing(pairs.subtracting(others), in: inverse, of: relationship)
        nameMissing(others.subtracting(pairs), in: relationship, of: inverse)
    }

    private mutating func nameMissing(
        _ pairs: Set<Pair>, in relationship: RelationshipLayout, of inverse: RelationshipLayout
    ) {
        for pair in pairs.sorted(by: { ($0.first, $0.second) < ($1.first, $1.second) }) {
            report(
                "\(name(relationship)) lacks the link between objects \(pair.first.rawValue) and "
                    + "\(pair.second.rawValue) that its inverse \(name(inverse)) has")
        }
    }
}
