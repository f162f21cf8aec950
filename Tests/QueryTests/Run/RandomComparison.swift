import RecordStore

@testable import Query

/// Comparisons for `QueryPropertyTests` that no index answers alone, used beside comparisons that
/// an index answers.
enum RandomComparison {
    typealias Random = QueryPropertyTests.Random

    private static let orders: [Comparison.Operation] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]

    static func condition(
        _ left: Operand, _ random: inout Random, _ value: (inout Random) -> Value
    ) -> Condition {
        func constant(_ random: inout Random) -> Operand { .constant(value(&random)) }
        switch random.next(9) {
        case 0:
            // NOT IN and NOT BETWEEN, with nil in the list and among the bounds.
            let values = (0..<random.next(4)).map { _ in constant(&random) }
            return .not(.comparison(Comparison(left, .in, .list(values + [.constant(.null)]))))
        case 1:
            let bounds = [constant(&random), constant(&random)]
            return .not(.comparison(Comparison(left, .between, .list(bounds))))
        case 2: return .comparison(quantified(&random))
        case 3: return .comparison(subquery(&random))
        case 4: return .comparison(collection(&random))
        case 5: return .comparison(text(&random))
        case 6: return .comparison(calculation(&random))
        case 7:
            // The constant on the left, and nil on either side.
            let right: Operand = random.next(3) == 0 ? .constant(.null) : left
            return .comparison(Comparison(constant(&random), random.pick(orders), right))
        default:
            let choice = Operand.ternary(
                .comparison(Comparison(left, .equal, .constant(.null))), constant(&random), left)
            return .comparison(Comparison(choice, random.pick(orders), constant(&random)))
        }
    }

    private static func quantified(_ random: inout Random) -> Comparison {
        let path = random.pick([
            ["children", "age"], ["children", "name"], ["parent", "children", "age"],
            ["children", "children", "age"], ["children", "parent", "age"],
        ])
        let quantifier = random.pick([Comparison.Quantifier.any, .all, .noneOf])
        let numbers = [Value.null, .int(-1), .int(0), .int(2), .double(0.5)]
        switch random.next(3) {
        case 0:
            let values = (0..<random.next(3)).map { _ in Operand.constant(random.pick(numbers)) }
            return Comparison(.keyPath(path), .in, .list(values), quantifier: quantifier)
        case 1:
            let bounds = (0..<2).map { _ in Operand.constant(random.pick(numbers)) }
            return Comparison(.keyPath(path), .between, .list(bounds), quantifier: quantifier)
        default:
            return Comparison(
                .keyPath(path), random.pick(orders), .constant(random.pick(numbers)),
                quantifier: quantifier)
        }
    }

    private static func subquery(_ random: inout Random) -> Comparison {
        let inner = Condition.comparison(
            Comparison(
                .variable("x", ["age"]), random.pick(orders),
                random.pick([.keyPath(["age"]), .constant(.null), .constant(.int(1))])))
        let query = Operand.subquery(
            .keyPath(random.pick([["children"], ["parent", "children"]])), variable: "x",
            random.next(2) == 0 ? inner : .not(inner))
        if random.next(4) == 0 {
            return Comparison(query, random.pick([.equal, .notEqual]), .constant(.null))
        }
        return Comparison(
            .function("count", [query]), random.pick(orders),
            .constant(.int(Int64(random.next(3)))))
    }

    private static func collection(_ random: inout Random) -> Comparison {
        let path = random.pick([
            ["children", "@count"], ["children", "@sum", "age"], ["children", "age", "@max"],
            ["parent", "children", "@min", "age"], ["children", "@avg", "weight"],
        ])
        let value = random.pick([Value.null, .int(0), .int(2), .double(-0.5)])
        if random.next(4) == 0 {
            return Comparison(
                .keyPath(["children"]), random.pick([.equal, .notEqual]), .constant(.null))
        }
        return Comparison(.keyPath(path), random.pick(orders), .constant(value))
    }

    private static func text(_ random: inout Random) -> Comparison {
        let path = random.pick([["name"], ["parent", "name"]])
        let operation = random.pick(
            [.like, .matches, .beginsWith, .endsWith, .contains, .in] + orders)
        let patterns =
            QueryPropertyTests.texts + ["a*", "?", "*b", ".*", "[aä].*", "\u{41}\u{308}b"]
        let pattern = random.next(6) == 0 ? .null : Value.string(random.pick(patterns))
        // Some of these are no valid patterns of MATCHES, which is an error and not an answer.
        let isWrong = operation == .matches && ["*b", "a*", "?"].contains(pattern.text ?? "")
        return Comparison(
            .keyPath(path), operation, .constant(isWrong ? .string("b+") : pattern),
            options: TextOptions(rawValue: UInt8(random.next(32))))
    }

    private static func calculation(_ random: inout Random) -> Comparison {
        let operations: [Operand.Arithmetic] = [
            .add, .subtract, .multiply, .divide, .power, .bitAnd, .bitOr, .bitXor, .leftShift,
            .rightShift,
        ]
        let names = ["age", "weight", "price", "level", "tame", "name", "born"]
        func operand(_ random: inout Random) -> Operand {
            switch random.next(4) {
            case 0: .constant(random.pick([.null, .int(0), .int(2), .double(0.5), .decimal(2)]))
            case 1: .negated(.keyPath([random.pick(names)]))
            case 2: .function("abs", [.keyPath([random.pick(names)])])
            default: .keyPath([random.pick(names)])
            }
        }
        let left = Operand.arithmetic(
            random.pick(operations), operand(&random), operand(&random))
        return Comparison(left, random.pick(orders), operand(&random))
    }
}
