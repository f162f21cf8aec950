import PageStore

/// Maps the numbers of a hierarchy's objects to those in the tree that their records move to.
struct NumberMap {
    /// The offset that is added to a number; nil if no object moves there.
    let offset: UInt64?

    /// Nil if the object does not move there; throws `corrupt` for a number that no object can
    /// have.
    func later(_ number: ObjectNumber) throws(StoreError) -> ObjectNumber? {
        guard let offset else { return nil }
        let (later, isTooLarge) = number.rawValue.addingReportingOverflow(offset)
        guard !isTooLarge, later <= NumberReserve.numberMax else {
            throw .corrupt(nil, "the number \(number.rawValue) is larger than any object's")
        }
        return ObjectNumber(later)
    }
}

/// How numbers change when records move: the first hierarchy that moves to a tree keeps its
/// numbers; those of each further one start after the last number that the previous ones have given
/// out.
struct NumberMaps {
    private struct Way: Hashable {
        var before: String
        var after: String
    }

    private let lineage: SchemaLineage
    private var offsets: [Way: UInt64] = [:]
    /// The last number that a tree's hierarchy has given out, by the later name of its root.
    private(set) var lastNumbers: [String: UInt64] = [:]

    /// - Parameter both: the union schema.
    /// - Parameter lastNumber: the last number of an earlier hierarchy.
    init(
        _ lineage: SchemaLineage, _ both: Schema,
        _ lastNumber: (HierarchyID) throws(StoreError) -> UInt64
    ) throws(StoreError) {
        self.lineage = lineage
        for (hierarchy, way) in Self.ways(lineage, both) {
            let offset = lastNumbers[way.after] ?? 0
            let last = try lastNumber(hierarchy)
            guard last <= NumberReserve.numberMax - offset else {
                throw StoreError(
                    .tooLarge, "the hierarchies that become one have given out too many numbers")
            }
            offsets[way] = offset
            lastNumbers[way.after] = offset + last
        }
    }

    /// Sorted by when the file got the earlier hierarchies, because the order of declarations
    /// differs between programs.
    private static func ways(
        _ lineage: SchemaLineage, _ both: Schema
    ) -> [(hierarchy: HierarchyID, way: Way)] {
        var ways: [Way: HierarchyID] = [:]
        for entity in lineage.renamed.entities
        where lineage.isPaired(entity.name) && lineage.isMoved(earlier: entity.name) {
            let before = lineage.before.root(entity.name)
            guard let root = both.entity(named: lineage.bothName(renamed: before)) else { continue }
            ways[Way(before: before, after: lineage.after.root(entity.name))] = root.hierarchy
        }
        return ways.map { ($1, $0) }.sorted { left, right in
            (left.0.rootTag, left.1.after) < (right.0.rootTag, right.1.after)
        }
    }

    /// What becomes of the entities: see ``MovedObjects``.
    func moves() -> [MovedObjects.Move] {
        lineage.stored.entities.map { entity in
            let later = lineage.pairs.later[entity.name]
            let offset = later.flatMap { map(from: $0, to: $0).offset } ?? 0
            return MovedObjects.Move(entity.name, later, offset: offset)
        }
    }

    /// Maps numbers from objects of one entity to objects of another.
    func map(from before: String, to after: String) -> NumberMap {
        let way = Way(before: lineage.before.root(before), after: lineage.after.root(after))
        if let offset = offsets[way] { return NumberMap(offset: offset) }
        let isStill = way.before == way.after && !lineage.isMoved(earlier: before)
        return NumberMap(offset: isStill ? 0 : nil)
    }
}
