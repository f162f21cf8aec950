import RecordStore
import Testing

@testable import Query

/// The table of operators, each with and without nil on either side.
@Suite struct ConditionOperatorTests {
    // MARK: Equality and order

    @Test(arguments: ["=", "=="])
    func `equal holds of equal values, and of nil and nil`(sign: String) throws {
        #expect(try Village.find("age \(sign) 36") == ["Ada"])
        #expect(try Village.find("age \(sign) nil") == ["Cat"])
        #expect(try Village.find("nil \(sign) age") == ["Cat"])
        #expect(try Village.find("boss.age \(sign) age") == [])
        #expect(try Village.holds("nil \(sign) nil"))
        #expect(try !Village.holds("1 \(sign) nil"))
    }

    @Test(arguments: ["!=", "<>"])
    func `unequal also holds of nil and a value`(sign: String) throws {
        #expect(try Village.find("age \(sign) 36") == ["Bob", "Cat", "-"])
        #expect(try Village.find("age \(sign) nil") == ["Ada", "Bob", "-"])
        #expect(try !Village.holds("nil \(sign) nil"))
        #expect(try Village.holds("1 \(sign) nil"))
    }

    @Test(arguments: [
        ("<", ["-"]), (">", ["Bob"]), ("<=", ["Ada", "-"]), ("=<", ["Ada", "-"]),
        (">=", ["Ada", "Bob"]), ("=>", ["Ada", "Bob"]),
    ])
    func `an order with nil on one side holds of nothing`(sign: String, names: [String]) throws {
        #expect(try Village.find("age \(sign) 36") == names)
        #expect(try Village.holds("nil \(sign) nil") == sign.contains("="))
        #expect(try !Village.holds("nil \(sign) 1"))
        #expect(try !Village.holds("1 \(sign) nil"))
        #expect(try Village.find("NOT age \(sign) 36").contains("Cat"))
    }

    @Test func `values of different kinds are unequal and in no order`() throws {
        #expect(try Village.find("name == 3 OR name < 3 OR name > 3") == [])
        #expect(try Village.find("name != 3").count == 4)
        #expect(try Village.find("age == '36'") == [])
        #expect(try Village.holds("1 == 1.0 AND TRUE == 1"))
    }

    @Test func `NaN equals itself and sorts before every number`() throws {
        #expect(try Village.find("height == %@", .double(.nan)) == ["-"])
        #expect(try Village.find("height < 0") == ["-"])
        #expect(try Village.find("height > -1") == ["Ada", "Bob"])
    }

    // MARK: BETWEEN

    @Test func `BETWEEN includes both bounds`() throws {
        #expect(try Village.find("age BETWEEN {7, 36}") == ["Ada", "-"])
        #expect(try Village.find("age BETWEEN %@", .list([.int(36), .int(50)])) == ["Ada", "Bob"])
        #expect(try Village.find("name BETWEEN {'Ada', 'Bob'}") == ["Ada", "Bob"])
        #expect(try Village.find("name BETWEEN[c] {'ADA', 'bob'}") == ["Ada", "Bob"])
    }

    @Test func `BETWEEN with reversed bounds holds of nothing`() throws {
        #expect(try Village.find("age BETWEEN {36, 7}") == [])
        #expect(try Village.find("age BETWEEN {boss.age, 7}") == [])
    }

    @Test func `bounds of BETWEEN are expressions`() throws {
        #expect(try Village.find("age BETWEEN {boss.age, boss.age + 20}") == ["Bob"])
        #expect(try Village.find("36 BETWEEN {age - 1, %@}", .int(40)) == ["Ada", "-"])
    }

    @Test func `BETWEEN and its negation are two-valued`() throws {
        #expect(try Village.find("age BETWEEN {nil, 36}") == [])
        #expect(try Village.find("age BETWEEN {nil, nil}") == ["Cat"])
        #expect(try Village.find("NOT age BETWEEN {7, 36}") == ["Bob", "Cat"])
        #expect(try Village.find("age NOT BETWEEN {7, 36}") == ["Bob", "Cat"])
    }

    @Test func `BETWEEN with a list of another length is refused`() {
        #expect(throws: QueryError.self) {
            try Village.find("age BETWEEN %@", .list([.int(1)]))
        }
        #expect(throws: QueryError.self) { try Village.find("age BETWEEN %@", .list([])) }
        #expect(throws: QueryError.self) { try Village.find("age BETWEEN %@", .int(1)) }
        #expect(throws: QueryError.self) { try Village.find("age BETWEEN %@", .null) }
    }

    // MARK: IN and CONTAINS

    @Test func `IN finds a value in a list`() throws {
        #expect(try Village.find("age IN {36, 50, 99}") == ["Ada", "Bob"])
        #expect(try Village.find("age IN %@", .list([.int(7), .int(7)])) == ["-"])
        #expect(try Village.find("age IN %@", .list([])) == [])
        #expect(try Village.find("name IN[c] {'ADA', 'cat'}") == ["Ada", "Cat"])
    }

    @Test func `nil is in no list, not even beside nil`() throws {
        #expect(try Village.find("age IN {nil, 36}") == ["Ada"])
        #expect(try Village.find("age IN %@", .null) == [])
        #expect(try !Village.holds("nil IN {nil}"))
        #expect(try !Village.holds("nil IN 'x'"))
    }

    @Test func `NOT IN finds nil, whether NOT stands before or after the left side`() throws {
        #expect(try Village.find("NOT age IN {36, 50}") == ["Cat", "-"])
        #expect(try Village.find("NOT (age IN {36, 50})") == ["Cat", "-"])
        #expect(try Village.find("age NOT IN {36, 50}") == ["Cat", "-"])
        #expect(try Village.find("age NOT IN {}").count == 4)
    }

    @Test func `IN finds a part of a text`() throws {
        #expect(try Village.find("name IN 'Ada and Bob'") == ["Ada", "Bob"])
        #expect(try Village.find("name IN[c] 'ADA'") == ["Ada"])
        #expect(try Village.find("'d' IN name") == ["Ada"])
        #expect(try Village.holds("'' IN 'abc'"))
    }

    @Test func `CONTAINS is IN with its sides swapped`() throws {
        #expect(try Village.find("name CONTAINS 'a'") == ["Ada", "Cat"])
        #expect(try Village.find("name CONTAINS[c] 'A'") == ["Ada", "Cat"])
        #expect(try Village.find("name CONTAINS ''") == ["Ada", "Bob", "Cat"])
        #expect(try Village.find("name CONTAINS nil") == [])
        #expect(try Village.find("{36, 50} CONTAINS age") == ["Ada", "Bob"])
        #expect(try Village.find("kids.age CONTAINS 7") == ["Cat"])
        #expect(try Village.find("NOT name CONTAINS 'a'") == ["Bob", "-"])
        #expect(try Village.find("name NOT CONTAINS 'a'") == ["Bob", "-"])
    }

    // MARK: Beginning, end, LIKE

    @Test func `the empty text begins and ends every text, and nil begins nothing`() throws {
        #expect(try Village.find("name BEGINSWITH ''") == ["Ada", "Bob", "Cat"])
        #expect(try Village.find("name ENDSWITH ''") == ["Ada", "Bob", "Cat"])
        #expect(try Village.find("name BEGINSWITH nil OR name ENDSWITH nil") == [])
        #expect(try Village.find("name BEGINSWITH 'A'") == ["Ada"])
        #expect(try Village.find("name ENDSWITH 'b'") == ["Bob"])
        #expect(try Village.find("name BEGINSWITH[c] 'a'") == ["Ada"])
        #expect(try Village.find("name ENDSWITH[c] 'B'") == ["Bob"])
        #expect(try Village.find("home BEGINSWITH 'https:'") == ["Ada"])
        #expect(try Village.find("NOT name BEGINSWITH 'A'") == ["Bob", "Cat", "-"])
    }

    @Test(arguments: [
        ("abc", "abc", true), ("abc", "ab", false), ("abc", "bc", false), ("abc", "a*", true),
        ("abc", "*c", true), ("abc", "*b*", true), ("abc", "a?c", true), ("abc", "a?", false),
        ("abc", "???", true), ("abc", "????", false), ("abc", "*?*?*?*", true), ("", "", true),
        ("", "*", true), ("", "?", false), ("a*c", "a\\*c", true), ("abc", "a\\*c", false),
        ("a?c", "a\\?c", true), ("a\\c", "a\\\\c", true), ("a\\", "a\\", true),
        ("abcabd", "*abd", true), ("aaa", "*a*a*a*a*", false), ("ABC", "abc", false),
        ("a\nb", "a?b", true), ("a\r\nb", "a?b", true), ("é", "?", true), ("e\u{301}", "?", true),
        ("e\u{301}", "e?", false), ("👩‍👧x", "?x", true), ("a.c", "a.c", true), ("abc", "a.c", false),
    ])
    func `LIKE matches the whole text`(text: String, pattern: String, isMatch: Bool) throws {
        #expect(try Village.holds("%@ LIKE %@", .text(text), .text(pattern)) == isMatch)
    }

    @Test func `a question mark of LIKE stands for a letter that folds to two`() throws {
        #expect(try Village.holds("'straße' LIKE[c] 'stra?e'"))
        #expect(try Village.holds("'straße' LIKE[c] 'STRASSE'"))
        #expect(try Village.holds("'ß' LIKE[cd] '?'"))
        #expect(try !Village.holds("'straße' LIKE[c] 'stra??e'"))
        #expect(try Village.holds("'strasse' LIKE[c] 'stra??e'"))
        #expect(try Village.holds("'ßaß' LIKE[c] '*a?'"))
    }

    @Test func `LIKE accepts options and never matches nil`() throws {
        #expect(try Village.find("name LIKE[c] 'a*'") == ["Ada"])
        #expect(try Village.holds("'Émile' LIKE[cd] 'e?ILE'"))
        #expect(try Village.holds("'E\u{301}' LIKE[c] '?'"))
        #expect(try !Village.holds("'x' LIKE[w] '＊'"))
        #expect(try Village.holds("'*' LIKE[w] '＊'"))
        #expect(try Village.find("name LIKE nil OR name LIKE 3") == [])
        #expect(try Village.find("name NOT LIKE 'A*'") == ["Bob", "Cat", "-"])
    }

    @Test func `LIKE with many wildcards takes no exponential time`() throws {
        let text = String(repeating: "a", count: 2000)
        let pattern = String(repeating: "*a", count: 40) + "b"
        #expect(try !Village.holds("%@ LIKE %@", .text(text), .text(pattern)))
    }

    // MARK: MATCHES

    @Test(arguments: [
        ("abc", "abc", "", true), ("abc", "b", "", false), ("abc", "a.*", "", true),
        ("abc", "ab|abc", "", true), ("abc", "AB.", "", false), ("abc", "AB.", "c", true),
        ("a1", "\\w\\d", "", true), ("aB", "\\D\\D", "c", true), ("a1", "\\D\\D", "c", false),
        ("naïve", "naive", "d", true), ("naive", "na[ï]ve", "d", true),
        ("NAÏVE", "naive", "cd", true), ("naïve", "naive", "c", false), ("１", "1", "w", true),
        ("E\u{301}", "é", "c", true), ("e\u{301}", "é", "l", true), ("e\u{301}", "é", "n", false),
        ("１", "１", "", true), ("＊", "＊", "w", true), ("xx", "x＊", "w", false),
        ("a\n", "a", "", false),
        ("", "", "", true), ("ab\ncd", "ab$.^cd", "", false), ("NAÏVE", "naive", "cdn", false),
    ])
    func `MATCHES is a regular expression of the whole text`(
        text: String, pattern: String, options: String, isMatch: Bool
    ) throws {
        let operation = options.isEmpty ? "MATCHES" : "MATCHES[\(options)]"
        #expect(try Village.holds("%@ \(operation) %@", .text(text), .text(pattern)) == isMatch)
    }

    @Test func `a pattern of MATCHES may end in an open quotation or comment`() throws {
        #expect(try Village.holds("%@ MATCHES %@", .text("a.b"), .text("a\\Q.b")))
        #expect(try !Village.holds("%@ MATCHES %@", .text("acb"), .text("a\\Q.b")))
        #expect(try !Village.holds("%@ MATCHES %@", .text("a.bc"), .text("a\\Q.b")))
        #expect(try Village.holds("%@ MATCHES %@", .text("ab"), .text("(?x) a b # both")))
        #expect(try !Village.holds("%@ MATCHES %@", .text("ab\n"), .text("(?x) a b # both")))
        #expect(try Village.holds("%@ MATCHES %@", .text("a)"), .text("a\\Q)")))
    }

    @Test func `MATCHES is false for nil, and an invalid pattern throws`() throws {
        #expect(try Village.find("name MATCHES '.*'") == ["Ada", "Bob", "Cat"])
        #expect(try Village.find("name MATCHES nil") == [])
        #expect(try Village.find("NOT name MATCHES 'A.*'") == ["Bob", "Cat", "-"])
        #expect(throws: QueryError.self) { try Village.find("name MATCHES %@", .text("[")) }
        #expect(throws: QueryError.self) { try Village.find("name MATCHES ('(' )") }
        for index in 0..<100 {
            #expect(try Village.find("name MATCHES %@", .text("Ada|\(index)")) == ["Ada"])
        }
    }

    // MARK: Options

    @Test func `text options are accepted in any order and letter case`() throws {
        for options in ["cd", "dc", "CD", "ccd", "cdw", "wdc", "lcd", "cdl"] {
            #expect(try Village.holds("'É' ==[\(options)] 'e'"), "\(options)")
        }
    }

    @Test(arguments: [
        ("==", true), ("!=", false), ("<", false), (">", false), ("<=", true), (">=", true),
        ("IN", true), ("CONTAINS", true), ("BEGINSWITH", true), ("ENDSWITH", true),
        ("LIKE", true), ("MATCHES", true),
    ])
    func `options apply to every operator of texts`(operation: String, holds: Bool) throws {
        #expect(try Village.holds("'ÉTÉ' \(operation)[cd] 'ete'") == holds)
    }

    @Test func `the option n compares bytes, whatever the other options`() throws {
        #expect(try !Village.holds("'A' ==[n] 'a'"))
        #expect(try !Village.holds("'A' ==[cn] 'a'"))
        #expect(try !Village.holds("'é' ==[ndc] 'e\u{301}'"))
        #expect(try Village.holds("'A' LIKE[n] 'A'"))
    }

    @Test func `text options do not affect values that are not texts`() throws {
        #expect(try Village.find("age ==[cd] 36") == ["Ada"])
        #expect(try Village.find("age >[c] 36") == ["Bob"])
        #expect(try Village.find("name ==[c] nil") == ["-"])
    }
}
