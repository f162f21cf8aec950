import PageStore

/// The later number of each object of a hierarchy whose records go to another tree.
struct NumberMap {
    /// The offset that is added to a number; nil where no object goes there.
    let offset: UInt64?

    /// Nil where the object goes nowhere; throws `corrupt` for a number that no object has.
    func later(_ number: ObjectNumber) throws(StoreError) -> ObjectNumber? {
        guard let offset else { return nil }
        let (later, isTooLarge) = number.rawValue.addingReportingOverflow(offset)
        guard !isTooLarge, later <= NumberReserve.numberMax else {
            throw .corrupt(nil, "the number \(number.rawValue) is larger than any object's")
        }
        return ObjectNumber(later)
    }
}

/// How numbers follow their objects: the first hierarchy that goes to a tree keeps its numbers, and
/// those of each further one begin behind the last number that the ones before have given out.
struct NumberMaps {
    private struct Way: Hashable {
        var before: String
        var after: String
    }

    private let lineage: SchemaLineage
    private var offsets: [Way: UInt64] = [:]
    /// The last number that a tree's hierarchy has given out, by the later name of its root.
    private(set) var lastNumbers: [String: UInt64] = [:]

    /// - Parameter both: the schema that has both versions.
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

    /// In the order in which the file got the earlier hierarchies: that of declarations is
    /// different from program to program.
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

    /// The later numbers of objects of one entity as objects of another.
    func map(from before: String, to after: String) -> NumberMap {
        let way = Way(before: lineage.before.root(before), after: lineage.after.root(after))
        if let offset = offsets[way] { return NumberMap(offset: offset) }
        let isStill = way.before == way.after && !lineage.isMoved(earlier: before)
        return NumberMap(offset: isStill ? 0 : nil)
    }
}
