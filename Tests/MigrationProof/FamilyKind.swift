import Foundation
import ObjectGraph
import Proof
import RecordStore
import TestSupport

/// An entity with the class that a version has for it.
struct FamilyKind<Object: FamilyObject>: FamilyEntity {
    let name: String

    init(_ name: String) { self.name = name }

    func create(_ transaction: BaseDataTransaction) -> any FamilyObject {
        transaction.create(Into<Object>())
    }

    func read(_ source: some FetchableSource) throws -> [any FamilyObject] {
        try source.fetchAll(From<Object>())
    }

    func check(
        _ source: some FetchableSource & QueryableSource, _ objects: [Int64: RewriteObject],
        _ model: SchemaDescription, _ random: inout SeededRandom
    ) throws {
        let own = objects.filter { $0.value.entityName == name }
        let count = try source.fetchCount(From<Object>())
        try hold(count == own.count, "\(name) counts \(count) objects")
        let greatest = try source.queryValue(
            From<Object>().select(Int64.self, .maximum("uid" as KeyPathString)))
        try hold(greatest == own.keys.max(), "the greatest uid of \(name) is \(greatest ?? -1)")
        for uid in own.keys.sorted().shuffled(using: &random).prefix(2) {
            for attribute in model.attributes(of: name) {
                try check(source, own, attribute, own[uid]?.values[attribute.name] ?? .null)
            }
            for relationship in model.relationships(of: name) {
                let targets = own[uid]?.links[relationship.name] ?? []
                try check(source, own, relationship, targets.first, targets.count)
            }
        }
        try checkWindow(source, own, &random)
    }

    /// A condition by its format, and the objects that it holds for.
    private func check(
        _ source: some FetchableSource & QueryableSource, _ own: [Int64: RewriteObject],
        _ format: String, _ arguments: [Any], _ holds: (RewriteObject) -> Bool
    ) throws {
        let condition = Where<Object>(format, argumentArray: arguments)
        let found = try source.fetchAll(From<Object>().where(condition)).map { Int64($0.uid) }
        let expected = own.filter { holds($0.value) }.keys.sorted()
        let text = "\(name) where \(format), \(String("\(arguments)".prefix(60)))"
        try hold(found.sorted() == expected, "\(text): \(found.sorted()) instead of \(expected)")
        let count = try source.fetchCount(From<Object>().where(condition))
        try hold(count == expected.count, "\(text): counts \(count)")
    }

    private func check(
        _ source: some FetchableSource & QueryableSource, _ own: [Int64: RewriteObject],
        _ attribute: AttributeDescription, _ value: Value
    ) throws {
        let name = attribute.name
        guard let argument = Self.argument(value) else {
            return try check(source, own, "\(name) == nil", []) { $0.values[name] == .null }
        }
        try check(source, own, "\(name) == %@", [argument]) { $0.values[name] == value }
        guard attribute.type.isNumber || attribute.type == .date else { return }
        try check(source, own, "\(name) > %@", [argument]) { object in
            guard let other = object.values[name], other != .null else { return false }
            return Self.number(other) > Self.number(value)
        }
    }

    private func check(
        _ source: some FetchableSource & QueryableSource, _ own: [Int64: RewriteObject],
        _ relationship: RelationshipDescription, _ target: Int64?, _ linkCount: Int
    ) throws {
        let name = relationship.name
        if relationship.kind == .toOne {
            guard let target else {
                return try check(source, own, "\(name) == nil", []) { $0.links[name] == [] }
            }
            return try check(source, own, "\(name).uid == %@", [target]) {
                $0.links[name] == [target]
            }
        }
        try check(source, own, "\(name).@count == %@", [linkCount]) {
            $0.links[name]?.count == linkCount
        }
        guard let target else { return }
        try check(source, own, "ANY \(name).uid == %@", [target]) {
            $0.links[name]?.contains(target) == true
        }
    }

    /// A part of the objects in an order.
    private func checkWindow(
        _ source: some FetchableSource & QueryableSource, _ own: [Int64: RewriteObject],
        _ random: inout SeededRandom
    ) throws {
        let (offset, limit) = (random.below(4), 1 + random.below(5))
        let found = try source.fetchAll(
            From<Object>().orderBy(.descending("uid")).tweak {
                ($0.fetchOffset, $0.fetchLimit) = (offset, limit)
            })
        let expected = own.keys.sorted(by: >).dropFirst(offset).prefix(limit)
        try hold(
            found.map { Int64($0.uid) } == Array(expected), "\(name) from \(offset) in its order")
    }

    private static func argument(_ value: Value) -> Any? {
        switch value {
        case .int(let number): number
        case .float(let number): number
        case .double(let number): number
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        default: nil
        }
    }

    private static func number(_ value: Value) -> Double {
        switch value {
        case .int(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number), .date(let number): number
        default: 0
        }
    }
}

extension RewriteMapping {
    /// The mapping as a program writes it over the public API.
    var custom: CustomSchemaMappingProvider.CustomMapping {
        switch self {
        case .delete(let source): .deleteEntity(sourceEntity: source)
        case .insert(let destination): .insertEntity(destinationEntity: destination)
        case .copy(let source, let destination):
            .copyEntity(sourceEntity: source, destinationEntity: destination)
        case .transform(let source, let destination, let transform):
            .transformEntity(
                sourceEntity: source, destinationEntity: destination,
                transformer: { try transform.map($0, $1) })
        }
    }
}

extension RewriteTransform {
    fileprivate func map(
        _ source: UnsafeSourceObject, _ make: () -> UnsafeDestinationObject
    ) throws {
        guard let uid = source["uid"] as? Int64 else { throw Failure() }
        if self == .fails(uid: uid) { throw Failure() }
        if self == .dropsThirds, uid.isMultiple(of: 3) { return }
        let made = make()
        made.enumerateAttributes { attribute, earlier in
            guard let earlier, let value = source[earlier] else { return }
            made[attribute] = value
        }
        guard case .splits(let text, let first, let second) = self,
            let whole = source[text] as? String
        else { return }
        made[first] = Self.half(whole, isFirst: true)
        made[second] = Self.half(whole, isFirst: false)
    }
}
