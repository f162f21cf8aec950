import Foundation
import RecordStore
import Testing

@testable import Query

/// Paths with nil in them, calculations, functions and casts.
@Suite struct ConditionExpressionTests {
    @Test func `a path with a nil step has the value nil`() throws {
        #expect(try Village.find("boss.age < 40") == ["Bob"])
        #expect(try Village.find("NOT (boss.age < 40)") == ["Ada", "Cat", "-"])
        #expect(try Village.find("boss.age != 36") == ["Ada", "Cat", "-"])
        #expect(try Village.find("boss.age == nil") == ["Ada", "-"])
        #expect(try Village.find("boss.boss.name == 'Ada'") == ["Cat"])
        #expect(try Village.find("SELF.boss.age == 36") == ["Bob"])
        #expect(try Village.find("boss.age + 1 == nil") == ["Ada", "-"])
        #expect(try Village.find("-boss.age == nil") == ["Ada", "-"])
    }

    // MARK: Arithmetic

    @Test(arguments: [
        ("1 + 2 * 3", "7"), ("(1 + 2) * 3", "9"), ("2 * 3 ** 2", "18"), ("2 ** 3 ** 2", "512"),
        ("-2 ** 2", "4"), ("2 ** -1", "0.5"), ("10 - 3 - 2", "5"), ("100 / 10 / 5", "2"),
        ("2 + 3 - 4 * 5 / 2", "-5"), ("-(1 + 2)", "-3"), ("- -3", "3"), ("1 - -1", "2"),
        ("1--1", "2"),
        ("7 / 2", "3"), ("-7 / 2", "-3"), ("7.0 / 2", "3.5"), ("7 / 2.0", "3.5"),
        ("1 + 0.5", "1.5"), ("TRUE + TRUE", "2"), ("3 ** 39", "4052555153018976267"),
        ("(-1) ** 9223372036854775807", "-1"), ("0 ** 0", "1"),
        ("2 ** 63", "9223372036854775808.0"),
        ("9223372036854775807 + 1", "9223372036854775808.0"),
        ("-9223372036854775808 / -1", "9223372036854775808.0"),
        ("-9223372036854775808 - 1", "-9223372036854775809.0"),
        ("CAST('0.1', 'Decimal') + CAST('0.2', 'Decimal')", "CAST('0.3', 'Decimal')"),
    ])
    func `a calculation has a value`(left: String, right: String) throws {
        #expect(try Village.holds("\(left) == \(right)"))
    }

    @Test(arguments: [
        ("6 & 3", "2"), ("6 | 3", "7"), ("6 ^ 3", "5"), ("~0", "-1"), ("~5", "-6"),
        ("1 << 4", "16"),
        ("-16 >> 2", "-4"), ("1 << 64", "0"), ("1 << -1", "0"), ("1 | 6 & 3", "3"),
        ("1 ^ 3 & 2", "3"),
        ("1 | 2 ^ 3", "1"), ("1 + 2 & 2", "2"), ("1 << 1 + 1", "4"),
    ])
    func `bits are calculated with as in C`(left: String, right: String) throws {
        #expect(try Village.holds("\(left) == \(right)"))
    }

    @Test func `a comparison binds weaker than bits do`() throws {
        #expect(try Village.find("flags & 4 == 4") == ["Ada"])
        #expect(try Village.find("flags & 4 != 0") == ["Ada", "Cat"])
        #expect(try Village.find("NOT flags & 1 == 1") == ["Ada", "Cat", "-"])
        #expect(try Village.find("flags | 1 == 7 OR flags ^ 1 == 0") == ["Ada", "Bob"])
    }

    /// A bug: a text that only begins as a number does was one, and a lone sign was 0.
    @Test(arguments: ["-", "+n/a", " x", "12abc", "0x10", "", ".", "inf", "1e"])
    func `a text that is no number is no decimal`(text: String) throws {
        #expect(try Village.holds("CAST('\(text)', 'NSDecimalNumber') == nil"))
    }

    @Test(arguments: ["12", "-0.5", "1e-100", ".5", "+3"])
    func `a text that is a number is that decimal`(text: String) throws {
        let cast = "CAST('\(text)', 'NSDecimalNumber')"
        #expect(try Village.holds("\(cast) - CAST('1', 'Decimal') < CAST('\(text)', 'NSNumber')"))
    }

    @Test func `a division by zero is nil of whole numbers and of decimals`() throws {
        #expect(try Village.holds("1 / 0 == nil"))
        #expect(
            try Village.holds("modulus(1, 0) == nil AND modulus:by:(-9223372036854775808, -1) == 0")
        )
        #expect(try Village.find("money / 0 == nil").count == 4)
        #expect(try Village.holds("1.0 / 0 == %@", .double(.infinity)))
        #expect(try Village.holds("0.0 / 0 == %@", .double(.nan)))
    }

    @Test func `a calculation with nil or with a text is nil`() throws {
        #expect(try Village.find("age + 1 == nil") == ["Cat"])
        #expect(try Village.find("name + 1 == nil").count == 4)
        #expect(try Village.holds("1.5 & 1 == nil AND 'x' | 1 == nil AND ~1.5 == nil"))
    }

    @Test(arguments: [
        ("total & 1", "1"), ("total - 1", "18446744073709551614"), ("total | 0", "total"),
        ("modulus:by:(total, 10)", "5"), ("total >> 63", "1"), ("total ^ total", "0"),
        ("total / 5", "3689348814741910323"), ("total - total", "0"), ("total * 0", "0"),
        ("total & 9223372036854775808", "9223372036854775808"), ("total / 0", "nil"),
        ("modulus(total, 0)", "nil"), ("modulus(-1, total)", "-1"),
        ("9223372036854775807 + 2", "9223372036854775809"),
        ("-9223372036854775808 / -1", "9223372036854775808"),
    ])
    func `an integer beyond Int64 was calculated with as a double`(
        left: String, right: String
    ) throws {
        #expect(try Village.find("name == 'Ada' AND \(left) == \(right)") == ["Ada"])
    }

    @Test func `a calculation beyond 64 bits is a double`() throws {
        #expect(try Village.find("total + 1 == 18446744073709551616.0") == ["Ada"])
        #expect(try Village.find("total * total > total") == ["Ada"])
        #expect(try Village.find("total & 9223372036854775808 > 0") == ["Ada"])
    }

    /// The process ended, or the result was NaN, which is less than every number.
    @Test(arguments: [
        "CAST('1e-100', 'Decimal') * CAST('1e-100', 'Decimal') < 1e-150",
        "CAST('1e-100', 'Decimal') * CAST('1e-100', 'Decimal') > 0",
        "CAST('1e-100', 'Decimal') / CAST('1e100', 'Decimal') > 0",
        "CAST('1e-100', 'Decimal') / CAST('1e100', 'Decimal') < 1e-150",
        "CAST('1e100', 'Decimal') * CAST('1e100', 'Decimal') > 1e150",
        "CAST('2', 'Decimal') * 1e200 > 5", "CAST('2', 'Decimal') * 1e-100 * 1e-100 > 0",
        "CAST('2', 'Decimal') - 1e200 < 0",
    ])
    func `a calculation beyond decimals is a double`(condition: String) throws {
        #expect(try Village.holds(condition))
    }

    @Test func `decimals stay exact and dates are seconds`() throws {
        #expect(try Village.find("money * 2 == 21") == ["Ada"])
        #expect(try Village.find("money + 0.1 == 10.6") == ["Ada"])
        #expect(try Village.find("born + 1 == CAST(101, 'NSDate')") == ["Ada"])
        #expect(try Village.find("1 + born == CAST(101, 'NSDate')") == ["Ada"])
        #expect(try Village.find("born - CAST(99, 'NSDate') == 1") == ["Ada"])
        #expect(try Village.find("born < now()") == ["Ada", "Bob", "-"])
    }

    // MARK: Functions

    @Test(arguments: [
        ("abs(-3)", "3"), ("abs:(-3.5)", "3.5"),
        ("ABS(-9223372036854775808)", "9223372036854775808"),
        ("ceiling(1.2)", "2"), ("floor(-1.2)", "-2"), ("trunc(-1.7)", "-1"), ("floor(3)", "3"),
        ("ceiling(CAST('1.2', 'Decimal'))", "2"), ("floor(CAST('-1.2', 'Decimal'))", "-2"),
        ("trunc(CAST('-1.7', 'Decimal'))", "-1"), ("abs(CAST('-1.7', 'Decimal'))", "1.7"),
        ("sqrt(9)", "3"), ("ln(1)", "0"), ("log(1000)", "3"), ("exp(0)", "1"),
        ("sum({1, 2, 3})", "6"), ("sum(1, 2, 3)", "6"), ("count({1, nil})", "2"),
        ("min({3, 1})", "1"),
        ("max(3, 1)", "3"), ("average({1, 2})", "1.5"), ("median({5, 1, 3})", "3"),
        ("median({4, 1, 3, 2})", "2.5"), ("mode({3, 1, 3, 1, 2})", "1"),
        ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", "2"),
        ("median({})", "nil"), ("mode({nil})", "nil"), ("stddev({})", "nil"), ("sum({})", "0"),
        ("count({})", "0"), ("average({})", "nil"), ("uppercase('aé')", "'AÉ'"),
        ("lowercase:('AÉ')", "'aé'"), ("length('👩‍👧é')", "2"), ("canonical('ÀB')", "'ab'"),
        ("uppercase(3)", "nil"), ("abs('x')", "nil"), ("modulus:by:(7, 3)", "1"),
        ("modulus(-7, 3)", "-1"), ("modulus(7.5, 2)", "1.5"), ("add:to:(1, 2)", "3"),
        ("from:subtract:(5, 2)", "3"), ("multiply:by:(2, 3)", "6"), ("divide:by:(6, 3)", "2"),
        ("raise:toPower:(2, 3)", "8"), ("bitwiseAnd:with:(6, 3)", "2"), ("bitwiseand(6, 3)", "2"),
        ("bitwiseOr:with:(6, 3)", "7"), ("bitwiseXor:with:(6, 3)", "5"),
        ("leftshift:by:(1, 3)", "8"),
        ("rightshift:by:(8, 3)", "1"), ("onesComplement:(0)", "-1"),
    ])
    func `a function has a value`(call: String, value: String) throws {
        #expect(try Village.holds("\(call) == \(value)"))
    }

    @Test func `functions calculate with properties`() throws {
        #expect(try Village.find("lowercase(name) == 'ada'") == ["Ada"])
        #expect(try Village.find("length(name) == 3") == ["Ada", "Bob", "Cat"])
        #expect(try Village.find("abs(money) == 2") == ["Bob"])
        #expect(try Village.find("modulus:by:(age, 5) == 0") == ["Bob"])
        #expect(try Village.find("uppercase(name) BEGINSWITH 'C'") == ["Cat"])
    }

    @Test(arguments: [
        ("CAST(5, 'NSDate')", "CAST(5.0, 'Date')"), ("CAST('1.10', 'NSDecimalNumber')", "1.1"),
        ("CAST('x', 'NSDecimalNumber')", "nil"), ("CAST('12', 'NSNumber')", "12"),
        ("CAST('1.5', 'NSNumber')", "1.5"), ("CAST(12, 'NSString')", "'12'"),
        ("CAST(nil, 'NSString')", "nil"), ("CAST(TRUE, 'String')", "'1'"),
        ("CAST('x', 'NSUUID')", "nil"), ("CAST('0aFf', 'NSData')", "CAST('0AFF', 'NSData')"),
        ("CAST('abc', 'NSData')", "nil"), ("CAST('a', 'NSURL')", "'a'"),
        ("castObject:toType:('12', 'NSNumber')", "12"),
        ("CAST(CAST(7, 'NSDate'), 'NSNumber')", "7"),
        ("TERNARY(1 == 1, 2, 3)", "2"), ("ternary(1 == 2, 2, 3)", "3"),
    ])
    func `a cast or a choice has a value`(call: String, value: String) throws {
        #expect(try Village.holds("\(call) == \(value)"))
    }

    @Test func `casts and choices use values of the record`() throws {
        #expect(try Village.find("CAST(age, 'NSString') == '36'") == ["Ada"])
        #expect(try Village.find("born == CAST(100, 'NSDate')") == ["Ada"])
        #expect(try Village.find("born > CAST(99.9999, 'NSDate')") == ["Ada"])
        #expect(try Village.find("TERNARY(age > 40, 'old', 'young') == 'old'") == ["Bob"])
        #expect(try Village.find("TERNARY(kids == nil, age, kids.@count) == 50") == ["Bob"])
        #expect(try Village.find("ANY TERNARY(age > 40, {1}, kids.age) == 1") == ["Bob"])
    }
}
