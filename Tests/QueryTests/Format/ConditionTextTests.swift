import RecordStore
import TestSupport
import Testing

@testable import Query

/// A printed condition is parsed as the same condition.
@Suite struct ConditionTextTests {
    private static let store = "trellis://9E6F1B1C-0000-4000-8000-0123456789AB"

    @Test(arguments: [
        "TRUEPREDICATE", "NOT (FALSEPREDICATE)", "a == 1 AND b == 2 AND c == 3",
        "a == 1 OR (b == 2 AND NOT c == 3)", "(a == 1 OR b == 2) AND c == 3",
        "self.of:kind.name == 1", "#a:b == 1", "ANY kids.age > 3", "NONE kids.age > 3",
        "ALL kids.age > 3", "name LIKE[cdwln] 'a*'",
        "a BETWEEN {1, 2}", "a IN {}", "a IN {1, 'x', nil, TRUE, -1.5, 1e300}", "a NOT IN {1}",
        "SELF == $x.name.@count", "#self == #any.in", "naïve\\u0020\\ud83d\\udc36 == 1",
        "@sum.a.b > 1",
        "a + b * c ** 2 / d - -e == ~f", "(a & b | c ^ d) << 1 >> 2 == -(a + b)",
        "-5 ** 2 == 1 AND (-a) ** 2 == 1", "kids[0] == kids[FIRST] AND kids[LAST] == {1}[SIZE]",
        "(-a)[0] == 1 AND (a + b)[1] == 1",
        "SUBQUERY(kids, $k, $k.age > 3 AND SELF == $k).@count > 1",
        "SUBQUERY($k.pets, $p, ANY $p.a IN {1}) == nil", "TERNARY(a == 1, b, {1, 2}) != nil",
        "modulus:by:(a, 2) == median({1, a}) AND now() > b",
        "CAST(a, 'NSDate') == CAST(3, 'NSDate')",
        "a == CAST('1.10', 'Decimal') AND b == CAST('00ff', 'NSData')",
        "a == CAST('9E6F1B1C-0000-4000-8000-0123456789AB', 'NSUUID')",
        "a == CAST('\(store)/a%2Fb%3F/p3', 'NSManagedObjectID')",
        "a == CAST('\(store)/%C3%86r%5F/p3.2', 'NSManagedObjectID')",
        #"a == 'quote \" back \\ line \n nul \0 \u20ac'"#, "a == -9223372036854775808",
        "a == 18446744073709551615",
    ])
    func `a format that is parsed, printed and parsed again is the same condition`(
        format: String
    ) throws {
        let condition = try ConditionParser.parse(format)
        let text = ConditionText.text(condition)
        #expect(try ConditionParser.parse(text) == condition, "\(text)")
        #expect(ConditionText.text(try ConditionParser.parse(text)) == text)
    }

    @Test(arguments: [
        Value.null, .bool(true), .int(.min), .uint(.max), .float(0.1), .double(-0.0), .double(.nan),
        .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude), .decimal(1.1),
        .decimal(.nan),
        .string("a\"b\\c\n\u{0}é e\u{301}"), .url("https://a.example/?q='x'"), .data([]),
        .data([0, 255]), .date(-0.5), .date(1e-7),
    ])
    func `a printed value is parsed as the same value`(value: Value) throws {
        let condition = Condition.comparing(Comparison(.keyPath(["a"]), .equal, .constant(value)))
        let text = ConditionText.text(condition)
        #expect(try ConditionParser.parse(text) == condition, "\(text)")
    }

    /// A bug: each NOT and each operator printed a parenthesis more than the format had, so that
    /// half of the nesting that may be read could not be read again.
    @Test(arguments: [
        String(repeating: "!", count: 100) + "a == 1",
        String(repeating: "NOT ", count: 96) + "((a ^ $b) ^ $c) > 0",
        String(repeating: "NOT (", count: 99) + "a IN {1}" + String(repeating: ")", count: 98)
            + " AND b == 1)",
        Array(repeating: "a", count: 400).joined(separator: " + ") + " > 3",
        Array(repeating: "a", count: 99).joined(separator: " ** ") + " > 3",
        String(repeating: "- ", count: 99) + "a == 1",
        String(repeating: "SUBQUERY(kids, $x, a NOT IN ", count: 49) + "{1}"
            + String(repeating: ").@count", count: 49) + " == 1",
        String(repeating: "abs(", count: 99) + "a" + String(repeating: ")[0]", count: 99)
            + " == 1",
    ])
    func `a format that is nested as deep as may be is read as it prints`(format: String) throws {
        let condition = try ConditionParser.parse(format)
        #expect(try ConditionParser.parse(ConditionText.text(condition)) == condition)
    }

    @Test func `a condition is printed in the usual notation`() throws {
        let format = "age > 3 AND (name BEGINSWITH[cd] 'A' OR NOT (boss == nil))"
        #expect(
            ConditionText.text(try ConditionParser.parse(format))
                == "age > 3 AND (name BEGINSWITH[cd] \"A\" OR NOT (boss == nil))")
    }

    @Test func `the printed format of a random condition parses to the same condition`() throws {
        var random = SeededRandom(for: "ConditionTextTests")
        for _ in 0..<2000 {
            var conditions = RandomConditions(random: random)
            let condition = conditions.condition(depth: 3)
            random = conditions.random
            let text = ConditionText.text(condition)
            #expect(try ConditionParser.parse(text) == condition, "\(text)")
        }
    }
}

/// Conditions as the parser makes them, without regard to a model.
private struct RandomConditions {
    var random: SeededRandom

    mutating func pick<Element>(_ list: [Element]) -> Element { list[random.below(list.count)] }

    mutating func condition(depth: Int) -> Condition {
        guard depth > 0, random.below(3) > 0 else { return .comparing(comparison(depth)) }
        let parts = (0..<(2 + random.below(3))).map { _ in condition(depth: depth - 1) }
        switch random.below(4) {
        case 0: return .or(ConditionList(parts))
        case 1: return .not(parts[0])
        case 2: return .constant(random.below(2) == 0)
        default: return .and(ConditionList(parts))
        }
    }

    private mutating func comparison(_ depth: Int) -> Comparison {
        let operation = pick(Comparison.Operation.allCases)
        let right: Operand =
            operation == .between ? .list([operand(depth), operand(depth)]) : operand(depth)
        return Comparison(
            operand(depth), operation, right,
            options: TextOptions(rawValue: UInt8(random.below(32))),
            quantifier: pick([.none, .none, .any, .all, .noneOf]))
    }

    private mutating func operand(_ depth: Int) -> Operand {
        guard depth > 0 else { return leaf() }
        switch random.below(12) {
        case 0: return .list((0..<random.below(4)).map { _ in operand(depth - 1) })
        case 1, 2:
            return .arithmetic(
                pick([
                    .add, .subtract, .multiply, .divide, .power, .bitAnd, .bitOr, .bitXor,
                    .leftShift, .rightShift,
                ]),
                operand(depth - 1), operand(depth - 1))
        case 3: return .negated(.keyPath([pick(["a", "in"])]))
        case 4: return .function("abs", [operand(depth - 1)])
        case 5:
            return .subquery(.keyPath(["kids"]), variable: "x", condition(depth: depth - 1))
        case 6:
            return .element(operand(depth - 1), pick([.first, .last, .size, .at(random.below(9))]))
        case 7:
            return .ternary(condition(depth: depth - 1), operand(depth - 1), operand(depth - 1))
        case 8: return .cast(.keyPath(["a"]), "NSString")
        default: return leaf()
        }
    }

    private mutating func leaf() -> Operand {
        switch random.below(5) {
        case 0: return .selfObject
        case 1: return .variable("x", pick([[], ["a", "any"]]))
        case 2:
            return .keyPath(
                pick([["a"], ["NOT", "in"], ["größe"], ["a b", "1"], ["@sum", "x"]]))
        default:
            return .constant(
                pick([
                    .null, .bool(false), .int(-3), .int(12), .double(-2.5), .string("a'\"\\\n"),
                    .date(3), .decimal(2.5), .data([1]),
                ]))
        }
    }
}
