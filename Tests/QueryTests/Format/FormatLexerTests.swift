import RecordStore
import Testing

@testable import Query

@Suite struct FormatLexerTests {
    private func condition(_ format: String) throws -> Condition {
        try ConditionParser.parse(format)
    }

    private func value(_ literal: String) throws -> Value? {
        guard case .equality("x", let value) = try condition("x == \(literal)") else { return nil }
        return value
    }

    // MARK: Space, keywords, parentheses

    @Test(arguments: [
        "age>3AND(name LIKE'x')", "  age\n>\t3 \r\n and ( name like 'x' )  ",
        "((age) > (3)) And ((((name LiKe (\"x\")))))", "age > 3 && (name LIKE 'x')",
        "\u{2003}age\u{a0}> 3 AND name LIKE 'x'",
    ])
    func `white space, case of keywords and parentheses make no difference`(
        format: String
    ) throws {
        #expect(try condition(format) == condition("age > 3 AND name LIKE 'x'"))
    }

    @Test(arguments: ["?", "age = ?", "age ? 3", "age > 3 ?"])
    func `a question mark is refused`(format: String) {
        let error = #expect(throws: QueryError.self) { try condition(format) }
        #expect(error?.message.contains("“?” has no meaning here") == true)
    }

    @Test func `the parser accepts operands of any types`() {
        #expect(throws: Never.self) {
            try condition("name > 3 AND 'x' BETWEEN {TRUE, 2} AND 3 LIKE age")
        }
    }

    // MARK: Names

    @Test(arguments: [
        "size", "first", "in", "any", "self", "no", "null", "contains", "like", "end", "not",
    ])
    func `a property named as a keyword is reached by argument, by escape and after SELF`(
        name: String
    ) throws {
        #expect(try Village.find("%K == 1", .text(name)) == ["Ada"])
        #expect(try Village.find("#\(name) == 1") == ["Ada"])
        #expect(try Village.find("SELF.\(name) == 1") == ["Ada"])
        #expect(try Village.find("boss.\(name) == 1") == ["Bob"])
    }

    @Test func `names begin with a letter of any script or an underscore`() throws {
        for name in ["a1", "_a", "été", "e\u{301}te\u{301}", "имя", "名前"] {
            #expect(try condition("\(name) == 1") == Condition.equality(name, .int(1)))
        }
        #expect(throws: QueryError.self) { try condition("1a == 1") }
    }

    @Test(arguments: ["n\\141me", "n\\x61me", "\\u006eame", "#na\\u006de"])
    func `a name may be written with escapes`(name: String) throws {
        #expect(try Village.find("\(name) == 'Ada'") == ["Ada"])
    }

    @Test func `a name with a space and an emoji is reached by argument and by escape`() throws {
        #expect(try Village.find("%K == 'yes'", .text("naïve 🐶")) == ["Ada"])
        #expect(try Village.find("naïve\\u0020\\ud83d\\udc36 == 'yes'") == ["Ada"])
    }

    // MARK: Texts

    @Test(arguments: [
        ("'a'", "a"), ("\"a\"", "a"), ("\"it's\"", "it's"), ("'say \"a\"'", "say \"a\""),
        ("''", ""), (#"'a\nb\tc\rd'"#, "a\nb\tc\rd"), (#"'\'\"\\'"#, "'\"\\"),
        (#"'\101\7x\0'"#, "A\u{7}x\0"), (#"'\x41\xe9'"#, "Aé"), (#"'\u0041\u20ac'"#, "A€"),
        (#"'\ud83d\ude00'"#, "😀"), (#"'\a\b\f\v\?\/'"#, "\u{7}\u{8}\u{c}\u{b}?/"),
        ("'%@ %K %d %%'", "%@ %K %d %%"), ("'\u{301}x'", "\u{301}x"),
        ("'$x #y ? ; AND'", "$x #y ? ; AND"), ("'\r\n'", "\r\n"), ("'👩‍👧'", "👩‍👧"),
    ])
    func `the escapes of a quoted text are decoded`(literal: String, text: String) throws {
        let value = try #require(try value(literal)?.text)
        #expect(Array(value.utf8) == Array(text.utf8))
    }

    @Test(arguments: [
        "'a", "\"a'", "'a\\", "'a\\'", #"'\d'"#, #"'\*'"#, #"'\x'"#, #"'\ug'"#, #"'\ud83d'"#,
        #"'\ud83d\u0041'"#, #"'\ude00'"#, "'a' 'b'",
    ])
    func `an unterminated text or an invalid escape is refused with its position`(
        literal: String
    ) {
        let error = #expect(throws: QueryError.self) { try condition("x == \(literal)") }
        #expect(error?.message.contains("at character") == true)
    }

    @Test func `the backslash of an unknown escape is not dropped in silence`() {
        let error = #expect(throws: QueryError.self) { try condition(#"name MATCHES '\d+'"#) }
        #expect(error?.message.contains(#"write “\\d”"#) == true)
    }

    // MARK: Numbers

    @Test(arguments: [
        ("0", Value.int(0)), ("42", .int(42)), ("-42", .int(-42)), ("- 42", .int(-42)),
        ("1.5", .double(1.5)), ("-1.5", .double(-1.5)), (".5", .double(0.5)),
        ("9.2e-5", .double(9.2e-5)), ("1E3", .double(1000)), ("2e+2", .double(200)),
        ("0x1F", .int(31)), ("0XfF", .int(255)), ("0o17", .int(15)), ("0b101", .int(5)),
        ("-0x10", .int(-16)), ("007", .int(7)), ("9223372036854775807", .int(.max)),
        ("-9223372036854775808", .int(.min)), ("18446744073709551615", .uint(.max)),
        ("0xFFFFFFFFFFFFFFFF", .uint(.max)), ("--3", .int(3)),
        ("18446744073709551616", .double(18_446_744_073_709_551_616)),
    ])
    func `a number is read exactly`(literal: String, expected: Value) throws {
        #expect(try value(literal) == expected)
    }

    @Test(arguments: [
        "0x", "0b2", "0o8", "1e", "1e+", "1e400", "1.2.3", "0x1FFFFFFFFFFFFFFFF", "1.",
    ])
    func `a malformed number is refused`(literal: String) {
        #expect(throws: QueryError.self) { try condition("x == \(literal)") }
    }

    // MARK: Literals

    @Test(arguments: [
        ("TRUE", Value.bool(true)), ("yes", .bool(true)), ("False", .bool(false)),
        ("NO", .bool(false)), ("NULL", .null), ("nil", .null),
    ])
    func `a literal word is read in any letter case`(literal: String, expected: Value) throws {
        #expect(try value(literal) == expected)
    }

    @Test func `a list holds expressions and may be empty`() throws {
        #expect(try Village.find("age IN {}") == [])
        #expect(try Village.find("age IN { 30 + 6 , 100 / 2 }") == ["Ada", "Bob"])
        #expect(try Village.find("age IN {boss.age + 14, nil}") == ["Bob"])
        #expect(throws: QueryError.self) { try condition("age IN {1,}") }
        #expect(throws: QueryError.self) { try condition("age IN {1 2}") }
        #expect(throws: QueryError.self) { try condition("age IN {1") }
    }

    @Test func `TRUEPREDICATE matches every record and FALSEPREDICATE none`() throws {
        #expect(try Village.find("TRUEPREDICATE").count == 4)
        #expect(try Village.find("falsePredicate") == [])
        #expect(try Village.find("(TRUEPREDICATE) AND NOT FALSEPREDICATE").count == 4)
    }

    @Test func `a keyword spelled with a dotless i is not recognised`() {
        #expect(throws: QueryError.self) { try condition("age ın {1}") }
    }
}
