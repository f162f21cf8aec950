import Foundation
import RecordStore
import Testing

@testable import Query

@Suite struct FormatSubstitutionTests {
    private func refusal(_ format: String, _ arguments: FormatArgument...) -> String {
        do {
            _ = try ConditionParser.parse(format, arguments)
            return ""
        } catch {
            return error.message
        }
    }

    // MARK: Values

    @Test func `a value of every kind is an argument`() throws {
        #expect(try Village.find("name == %@", .text("Ada")) == ["Ada"])
        #expect(try Village.find("age == %@", .int(36)) == ["Ada"])
        #expect(try Village.find("height == %@", .double(1.5)) == ["Bob"])
        #expect(try Village.find("money == %@", .value(.decimal(10.5))) == ["Ada"])
        #expect(try Village.find("born == %@", .value(.date(0.5))) == ["Bob"])
        #expect(try Village.find("photo == %@", .value(.data([1, 2]))) == ["Ada"])
        #expect(try Village.find("key == %@", .value(.uuid(UUID()))) == [])
        #expect(
            try Village.find("home == %@", .value(.url("https://a.example/Ada"))) == ["Ada"])
        #expect(try Village.find("total == %@", .value(.uint(.max))) == ["Ada"])
        #expect(try Village.find("name == %@", .null) == ["-"])
        #expect(try Village.find("boss == %@", try Village.person("Ada")) == ["Bob"])
        #expect(try Village.find("SELF == %@", try Village.person("Bob")) == ["Bob"])
        #expect(try Village.find("age IN %@", .list([.int(36), .null, .int(7)])) == ["Ada", "-"])
    }

    @Test func `negating the least integer gives an unsigned constant`() {
        let least = Operand.constant(.int(.min))
        #expect(least.negation == .constant(.uint(1 << 63)))
        #expect(least.negation.negation == least)
    }

    @Test func `dates are compared more finely than by milliseconds`() throws {
        #expect(try Village.find("born > %@", .value(.date(99.999_999_9))) == ["Ada"])
        #expect(try Village.find("born > %@", .value(.date(100.000_000_1))) == [])
    }

    @Test(arguments: [
        "%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%qi", "%hi", "%x", "%lx", "%o", "%D",
        "%U", "%O", "%X", "%c",
    ])
    func `a placeholder for integers accepts whole numbers only`(place: String) throws {
        #expect(try Village.find("age == \(place)", .int(36)) == ["Ada"])
        #expect(try Village.find("age == \(place)", .double(36)) == ["Ada"])
        #expect(try Village.find("active == \(place)", .bool(true)) == ["Ada", "-"])
        for wrong in [.double(1.5), .text("36"), .null, .list([.int(36)])] as [FormatArgument] {
            #expect(refusal("age == \(place)", wrong).contains("stands for"))
        }
    }

    @Test(arguments: ["%f", "%lf", "%g", "%e", "%E", "%G", "%hf"])
    func `a placeholder for numbers accepts numbers only`(place: String) throws {
        #expect(try Village.find("height == \(place)", .double(1.5)) == ["Bob"])
        #expect(try Village.find("age == \(place)", .int(36)) == ["Ada"])
        for wrong in [.text("36"), .null, .list([.double(36)])] as [FormatArgument] {
            #expect(refusal("age == \(place)", wrong).contains("stands for"))
        }
    }

    @Test func `a placeholder for text accepts text only`() throws {
        #expect(try Village.find("name == %s", .text("Ada")) == ["Ada"])
        #expect(try Village.find("name BEGINSWITH %c", .text("A")) == ["Ada"])
        #expect(refusal("name == %s", .int(3)).contains("stands for a text"))
        #expect(refusal("name == %c", .text("Ada")).contains("stands for a character"))
    }

    // MARK: Paths

    @Test func `a path argument has dots and collection operators`() throws {
        #expect(try Village.find("%K == 36", .text("boss.age")) == ["Bob"])
        #expect(try Village.find("%K == 2", .text("kids.@count")) == ["Ada"])
        #expect(try Village.find("%K.age == 36", .text("boss")) == ["Bob"])
        #expect(try Village.find("boss.%K == 36", .text("age")) == ["Bob"])
        #expect(try Village.find("%K == %@", .text("SELF"), try Village.person("Ada")) == ["Ada"])
        #expect(
            try Village.find("SUBQUERY(kids, $k, $k.%K > 3).@count > 0", .text("age")) == [
                "Ada", "Cat",
            ])
        #expect(
            try Village.find("SUBQUERY(%K, $k, $k.age > 3).@count > 0", .text("kids")) == [
                "Ada", "Cat",
            ])
    }

    @Test func `a path argument self is the record unless a property has that name`() throws {
        let kid = "SUBQUERY(kids, $k, $k.%K == $k).@count == 1"
        #expect(try Village.find(kid, .text("self")) == ["Cat", "-"])
        #expect(try Village.find(kid, .text("Self")) == ["Cat", "-"])
        #expect(try Village.find("%K == 1", .text("self")) == ["Ada"])
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b"])
    func `a path argument with an empty component is refused`(path: String) {
        #expect(refusal("%K == 1", .text(path)).contains("at character 1"))
    }

    @Test func `a path argument that is no text is refused`() {
        #expect(refusal("%K == 1", .int(3)).contains("%K stands for the name of a property"))
        #expect(refusal("%K == 1", .null).contains("%K stands for the name of a property"))
        #expect(refusal("%K == 1", .list([.text("a")])).contains("%K stands for the name"))
    }

    // MARK: Counts and unknown places

    @Test func `too few and too many arguments are refused`() {
        #expect(
            refusal("a == %@ AND b == %@", .int(1))
                == "the format has more places than there are arguments, at character 18")
        #expect(refusal("a == %d").contains("more places"))
        #expect(refusal("%K == 1").contains("more places"))
        #expect(refusal("a == %@", .int(1), .int(2)).contains("fewer places than the 2"))
        #expect(refusal("TRUEPREDICATE", .null).contains("fewer places than the 1"))
    }

    @Test func `a placeholder inside quotes is text, and the error says so`() throws {
        #expect(try Village.find("name == '%@'") == [])
        let message = refusal("name == '%@'", .text("Ada"))
        #expect(message.contains("a place inside of quotes is text"))
        #expect(message.hasSuffix("at character 10"))
    }

    @Test(arguments: [
        "%", "%1$@", "%name", "%size", "%date", "%5d", "%.2f", "%p", "%n", "%l", "%ll", "%l@",
        "%hK",
        "% d", "%%", "%é",
    ])
    func `an unknown placeholder is refused`(place: String) {
        #expect(refusal("a == \(place)", .int(1)).contains("at character 6"))
    }

    @Test func `an argument is never parsed`() throws {
        let attack = "x' OR TRUEPREDICATE OR name == 'x"
        #expect(try Village.find("name == %@", .text(attack)) == [])
        #expect(refusal("%K == 1", .text("age == 36 OR size")) == "")
        #expect(
            Village.refusal("%K == 1", .text("age == 36 OR size"))?.contains("no property") == true)
        #expect(try Village.find("name LIKE %@", .text("%@*")) == [])
    }

    // MARK: Booleans

    @Test func `a Bool is a number that is one or zero`() throws {
        #expect(try Village.find("active == %@", .bool(true)) == ["Ada", "-"])
        #expect(try Village.find("active == 1") == ["Ada", "-"])
        #expect(try Village.find("flags == YES") == ["Bob"])
        #expect(try Village.find("active == YES") == ["Ada", "-"])
        #expect(try Village.find("active != YES") == ["Bob", "Cat"])
        #expect(try Village.find("active == NO") == ["Bob"])
        #expect(try Village.find("active != NO") == ["Ada", "Cat", "-"])
    }

    // MARK: Templates

    private func find(
        _ template: String, _ values: [String: FormatArgument]
    ) throws -> [String] {
        try Village.find(try ConditionParser.parse(template).substituting(values))
    }

    @Test func `a template accepts its values later, including nil and lists`() throws {
        #expect(try find("name == $NAME", ["NAME": .text("Ada")]) == ["Ada"])
        #expect(try find("name == $NAME", ["NAME": .null, "OTHER": .int(1)]) == ["-"])
        #expect(try find("age IN $AGES", ["AGES": .list([.int(50)])]) == ["Bob"])
        #expect(
            try find("age BETWEEN $RANGE", ["RANGE": .list([.int(7), .int(36)])]) == ["Ada", "-"])
        #expect(try find("age BETWEEN {$LOW, $LOW + 43}", ["LOW": .int(7)]) == ["Ada", "Bob", "-"])
        #expect(
            try find(
                "TERNARY(age > $A, -age, age) == -50 OR CAST($A, 'NSString') == name",
                ["A": .int(40)]) == ["Bob"])
    }

    @Test func `a template without a value for its variable is refused`() throws {
        #expect(throws: QueryError("the variable $NAME has no value")) {
            try find("name == $NAME", ["name": .text("Ada")])
        }
        #expect(Village.refusal("name == $NAME") == "the variable $NAME has no value")
        #expect(throws: QueryError.self) {
            try find("age BETWEEN $RANGE", ["RANGE": .list([.int(7)])])
        }
        #expect(throws: QueryError.self) { try find("age BETWEEN $RANGE", ["RANGE": .int(1)]) }
        #expect(throws: QueryError.self) { try find("$P.age == 36", ["P": .int(1)]) }
    }

    @Test func `the variable of a subquery hides the template's of the same name`() throws {
        #expect(
            try find(
                "SUBQUERY(kids, $x, $x.age > $MIN).@count > 0", ["MIN": .int(3), "x": .int(0)])
                == ["Ada", "Cat"])
    }

    /// A bug: the printed condition was parsed as another one.
    @Test(arguments: [
        Value.int(5), .int(.min), .uint(1 << 63), .uint(.max), .double(0.5), .double(.nan),
        .decimal(2.5), .string("a"), .null,
    ])
    func `a minus before a variable negates its value`(value: Value) throws {
        let template = try ConditionParser.parse("age == -$x AND age > - -$x")
        let condition = try template.substituting(["x": .value(value)])
        let written = try ConditionParser.parse(
            "age == -%@ AND age > - -%@", [.value(value), .value(value)])
        #expect(condition == written)
        #expect(try ConditionParser.parse(ConditionText.text(condition)) == condition)
    }
}
