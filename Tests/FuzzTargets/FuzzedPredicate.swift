import Dispatch
import ObjectGraph
import Proof

/// The objects that conditions are asked of.
private final class FuzzNode: CoreStoreObject {
    @Field.Stored("name") var name: String?
    @Field.Stored("age") var age: Int?
    @Field.Stored("price") var price: Decimal?
    @Field.Stored("born") var born: Date?
    @Field.Relationship("parent") var parent: FuzzNode?
    @Field.Relationship("kids", inverse: \.$parent) var kids: Set<FuzzNode>
}

/// Reads the bytes of a fuzzer as the format of a condition: the first two bytes choose its
/// arguments, the rest is the format.
///
/// A format that is accepted prints as a format of an equal condition, and fetching by it and
/// counting by it agree.
struct FuzzedPredicate {
    private let stack: DataStack

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<FuzzNode>("Node", indexes: [[\.$name], [\.$age]])]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        _ = try stack.perform(synchronous: { transaction in
            var parent: FuzzNode?
            for index in 0..<6 {
                let node = transaction.create(Into<FuzzNode>())
                node.parent = parent
                if index.isMultiple(of: 2) { parent = node }
                // The first has no values.
                guard index > 0 else { continue }
                node.name = "a\(index)"
                node.age = index
                node.price = Decimal(index) / 4
                node.born = Date(timeIntervalSinceReferenceDate: Double(index))
            }
        })
    }

    /// Returns whether the format was refused.
    func run(_ input: [UInt8]) throws -> Bool {
        guard input.count >= 2 else { return true }
        let format = String(decoding: input.dropFirst(2), as: UTF8.self)
        let start = ContinuousClock.now
        defer { precondition(ContinuousClock.now - start < .seconds(20), "it takes too long") }
        let condition = Where<FuzzNode>(
            format, argumentArray: FuzzedArguments.arguments(input[0], input[1]))
        let text = condition.predicate.description
        // So prints a condition that could not be read.
        let isRead = !text.hasPrefix("FALSEPREDICATE /*")
        if isRead, Where<FuzzNode>(text) != condition {
            throw ProofFailure("“\(text)” reads as another condition")
        }
        do {
            let view = try stack.beginRead()
            let found = try view.fetchAll(From<FuzzNode>().where(condition)).count
            let counted = try view.fetchCount(From<FuzzNode>().where(condition))
            guard isRead else { throw ProofFailure("“\(format)” is refused and answered") }
            guard found == counted else {
                throw ProofFailure("“\(text)” finds \(found) and counts \(counted)")
            }
            return false
        } catch let error as CoreStoreError {
            guard case .internalError = error, error.storeError == nil else {
                throw ProofFailure("“\(format)” fails with an error of another kind: \(error)")
            }
            return true
        }
    }
}

/// The arguments of a format that two bytes choose.
private enum FuzzedArguments {
    private static func value(_ index: Int) -> Any {
        let values: [Any] = [
            NSNull(), true, Int64.min, Int64.max, -1, 0, 3, UInt64.max, Double.nan, 0.5,
            Decimal(2.5), Date(timeIntervalSinceReferenceDate: 3), "", "age", "kids.@count", "([",
            "é", Data([1]), UInt8(4),
        ]
        return values[index % values.count]
    }

    static func arguments(_ first: UInt8, _ second: UInt8) -> [Any] {
        (0..<Int(first >> 5)).map { index in
            let start = Int(first & 31) + index * (1 + Int(second & 15))
            guard second >> (4 + index % 4) & 1 == 1 else { return value(start) }
            return [value(start + 1), value(start)]
        }
    }
}
