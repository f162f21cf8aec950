import Foundation
import ObjectGraph
import RecordStore
import TestSupport

/// An object of a version, which the proof fills, links and reads by its own properties.
protocol FamilyObject: CoreStoreObject {
    var uid: Int { get }
    /// The attributes by their names, as the getters give them.
    var content: [String: Value] { get }
    /// The objects that each relationship leads to.
    var linked: [String: [any FamilyObject]] { get }

    func fill(_ uid: Int, _ random: inout SeededRandom)
    func link(_ pool: FamilyPool, _ random: inout SeededRandom)
}

/// The objects that links may lead to.
struct FamilyPool {
    let objects: [any FamilyObject]

    /// An object of a class, or sometimes none.
    func pick<Object>(_ type: Object.Type, _ random: inout SeededRandom) -> Object? {
        random.below(4) == 0
            ? nil : objects.compactMap { $0 as? Object }.randomElement(using: &random)
    }

    func some<Object: Hashable>(_ type: Object.Type, _ random: inout SeededRandom) -> [Object] {
        var some: [Object] = []
        for _ in 0..<random.below(4) {
            if let object = pick(type, &random), !some.contains(object) { some.append(object) }
        }
        return some
    }
}

extension Value {
    static func of(_ number: Int?) -> Value { number.map { .int(Int64($0)) } ?? .null }
    static func of(_ number: Int32?) -> Value { number.map { .int(Int64($0)) } ?? .null }
    static func of(_ number: Float?) -> Value { number.map { .float($0) } ?? .null }
    static func of(_ number: Double?) -> Value { number.map { .double($0) } ?? .null }
    static func of(_ text: String?) -> Value { text.map { .string($0) } ?? .null }
    static func of(_ bytes: Data?) -> Value { bytes.map { .data(Array($0)) } ?? .null }
    static func of(_ date: Date?) -> Value {
        date.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null
    }
}

/// Random values of objects.
enum FamilyValue {
    /// What a closure makes for the objects that are older than the property `stamp`.
    static let stamp = 42
    /// What a closure makes where `seal` was nil in the first version.
    static let seal = 43

    static func text(_ random: inout SeededRandom) -> String {
        switch random.below(8) {
        case 0: ""
        case 1: String(repeating: "é", count: 600)
        default: "name \(random.below(20))"
        }
    }

    static func label(_ random: inout SeededRandom) -> String? {
        random.below(3) == 0 ? nil : "label \(random.below(6))"
    }

    static func bytes(_ random: inout SeededRandom) -> Data? {
        let count = [-1, -1, 0, 40, 1500, 9000][random.below(6)]
        return count < 0 ? nil : Data(random.bytes(count))
    }

    static func date(_ random: inout SeededRandom) -> Date? {
        random.below(3) == 0
            ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(10_000)) / 4)
    }
}

/// An entity whose objects exist, by its class.
protocol FamilyEntity: Sendable {
    var name: String { get }

    func create(_ transaction: BaseDataTransaction) -> any FamilyObject
    func read(_ source: some FetchableSource) throws -> [any FamilyObject]
    /// Throws unless random fetches and queries give what the objects have.
    func check(
        _ source: some FetchableSource & QueryableSource, _ objects: [Int64: RewriteObject],
        _ model: SchemaDescription, _ random: inout SeededRandom
    ) throws
}
