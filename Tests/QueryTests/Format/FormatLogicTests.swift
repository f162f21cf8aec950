import RecordStore
import Testing

@testable import Query

@Suite struct FormatLogicTests {
    private func condition(_ format: String) throws -> Condition {
        try ConditionParser.parse(format)
    }

    @Test func `NOT binds tighter than AND, and AND tighter than OR`() throws {
        let (t, f) = ("TRUEPREDICATE", "FALSEPREDICATE")
        #expect(try Village.holds("\(t) OR \(t) AND \(f)"))
        #expect(try Village.holds("\(f) AND \(t) OR \(t)"))
        #expect(try !Village.holds("(\(t) OR \(t)) AND \(f)"))
        #expect(try !Village.holds("NOT \(t) AND \(f)"))
        #expect(try Village.holds("NOT \(t) OR \(t)"))
        #expect(try condition("a=1 OR b=1 AND c=1") == condition("a=1 OR (b=1 AND c=1)"))
        #expect(try condition("NOT a=1 AND b=1") == condition("(NOT (a=1)) AND b=1"))
    }

    @Test func `an operator may be written as a word or as a sign`() throws {
        #expect(
            try condition("NOT a=1 AND b=1 OR c=1") == condition("!a=1 && b=1 || c=1"))
        #expect(try condition("!(a=1)") == condition("NOT a == 1"))
        #expect(try condition("!!a=1") == condition("NOT NOT a=1"))
    }

    @Test func `a chain of one operator is one flat list`() throws {
        guard case .and(let parts) = try condition("a=1 AND b=1 && c=1 AND d=1") else {
            Issue.record("not a conjunction")
            return
        }
        #expect(parts.count == 4)
        let long = Array(repeating: "age == 36", count: 5000).joined(separator: " OR ")
        guard case .or(let alternatives) = try condition(long) else {
            Issue.record("not a disjunction")
            return
        }
        #expect(alternatives.count == 5000)
        #expect(try Village.find(long) == ["Ada"])
    }

    @Test func `parentheses hold a condition or an operand`() throws {
        #expect(try Village.find("(age) == 36 AND ((age + 1) * 2 == 74)") == ["Ada"])
        #expect(try Village.find("((age)) IN ({36})") == ["Ada"])
        #expect(try Village.find("(((age == 36)))") == ["Ada"])
        #expect(try Village.find("(ANY kids.age > 3)") == ["Ada", "Cat"])
    }

    @Test(arguments: [
        "", "  ", "()", "(", ")", "age", "(age)", "age ==", "== 3", "age == 3 AND", "AND age == 3",
        "age == 3 4", "age == 3)", "(age == 3", "NOT", "NOT age", "age == (3 == 3)",
        "(age == 3) + 1 == 2", "(age == 3) == (age == 3)", "-(age == 3) == 1", "age == 3 OR OR a=1",
        "ANY", "ANY ANY kids.age = 1", "ANY (age == 3)", "{age == 3} == 3", "sum(age == 3) = 1",
        "TRUEPREDICATE == 3", "age == TRUEPREDICATE AND", "(age == 3)[0] == 1", "age, 3",
        "age == [3]",
    ])
    func `a text that is not a condition is refused with a position`(format: String) {
        let error = #expect(throws: QueryError.self) { try condition(format) }
        #expect(error?.message.contains("at character") == true, "\(error?.message ?? "")")
    }

    @Test func `the position in an error counts whole characters`() {
        let error = #expect(throws: QueryError.self) { try condition("'👩‍👧é' = ?") }
        #expect(error?.message == "“?” has no meaning here, at character 8")
    }

    @Test(arguments: [
        ("(", ")"), ("NOT (", ")"), ("!", ""), ("-", ""), ("~", ""), ("{", "}"), ("abs(", ")"),
        ("TERNARY((", "), 1, 2)"), ("SUBQUERY(kids, $x, (", "))"), ("2 ** ", ""),
        ("((a) + (", "))"),
    ])
    func `nesting beyond the limit is refused`(open: String, close: String) {
        for count in [ConditionParser.nestingMax + 1, 20_000] {
            let format =
                String(repeating: open, count: count) + "a = 1"
                + String(repeating: close, count: count)
            #expect(throws: QueryError.self) { try condition(format) }
        }
    }

    @Test func `nesting up to the limit is evaluated`() throws {
        let count = ConditionParser.nestingMax - 2
        let format =
            String(repeating: "NOT (", count: count / 2) + "age = 36"
            + String(repeating: ")", count: count / 2)
        #expect(try Village.find(format).count == 3)
        let sum = Array(repeating: "1", count: 500).joined(separator: " + ")
        #expect(try Village.holds("\(sum) == 500"))
        #expect(throws: QueryError.self) { try condition("\(sum) + 1 + 1 == 502") }
    }

    @Test func `nested choices are parsed without exponential backtracking`() throws {
        // A parser that tries a condition first and an operand then needs 2³³ steps for this.
        let count = 33
        let format =
            String(repeating: "(TERNARY((", count: count) + "1"
            + String(repeating: ") = 1, 1, 2) + 0)", count: count) + " = 1"
        #expect(try Village.holds(format))
    }
}
