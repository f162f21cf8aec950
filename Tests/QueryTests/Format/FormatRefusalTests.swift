import RecordStore
import Testing

@testable import Query

/// Constructs of other predicate languages that a store does not support: an error with a reason,
/// never a trap.
@Suite struct FormatRefusalTests {
    @Test(arguments: [
        ("FUNCTION(name, 'length') > 3", "calls code by name"),
        ("FUNCTION(SELF, 'delete') = 1", "calls code by name"),
        ("name TOKENMATCHES 'x'", "TOKENMATCHES is no operator"),
        ("name UTI-CONFORMS-TO 'public.image'", "types of files"),
        ("name UTI-EQUALS 'public.image'", "types of files"),
        ("$v := 3", "assigns nothing"), ("age := 3", "assigns nothing"),
        ("name hasPrefix: 'A'", "calls no methods"), ("hasPrefix: == 'A'", "calls no methods"),
        ("random() > 0.5", "nothing is random"), ("randomn(3) > 1", "nothing is random"),
        ("distanceToLocation:fromLocation:(a, b) < 3", "no locations"),
        ("foo(age) == 3", "no function"), ("abs:to:(age) == 3", "no function"),
        ("modulus:with:(age, 3) == 1", "no function"), ("modulus:(age, 3) == 1", "no function"),
        ("name ==[x] 'a'", "no option"), ("name ==[] 'a'", "options"),
        ("name ==[c 'a'", "is missing"), ("name ==[c,d] 'a'", "is missing"),
        ("name ==[1] 'a'", "options"),
        ("age BETWEEN {1}", "two bounds"), ("age BETWEEN {1, 2, 3}", "two bounds"),
        ("age BETWEEN {}", "two bounds"), ("age BETWEEN 3", "two bounds"),
        ("age BETWEEN boss.age", "two bounds"),
        ("ANY kids.age NOT IN {1}", "NOT before ANY"), ("age NOT == 3", "comparison"),
        ("age NOT 3", "comparison"),
        ("SELF == CAST(3, 'NSManagedObjectID')", "object's URI"),
        ("SELF == CAST(name, 'NSManagedObjectID')", "object's URI"),
        ("CAST(age, 'NSObject') == 3", "no type"), ("CAST(age, NSDate) == 3", "in quotes"),
        ("castObject:toType:(age, name) == 3", "in quotes"),
        ("SUBQUERY(3, $x, TRUEPREDICATE).@count = 1", "to-many"),
        ("SUBQUERY(kids, x, TRUEPREDICATE).@count = 1", "variable"),
        ("SUBQUERY(kids, $x, age).@count = 1", "comparison"),
        ("SUBQUERY(kids, $x, age = 1).@sum = 1", "@count"),
        ("abs() = 1", "takes 1 argument"), ("abs(1, 2) = 1", "takes 1 argument"),
        ("now(1) = 1", "takes 0 arguments"), ("modulus:by:(1) = 1", "takes 2 arguments"),
        ("sum() = 1", "takes 1 argument"),
        ("kids['name'] == 1", "no property of a store has keys"), ("kids[-1] == 1", "an index"),
        ("kids[age] == 1", "an index"), ("kids[0].name == 'x'", "SUBQUERY"),
        ("kids. == 1", "name is missing"), ("kids.3 == 1", "comparison"),
        ("$ == 1", "name is missing"),
    ])
    func `an unsupported construct is refused with a reason and a position`(
        format: String, reason: String
    ) {
        let error = #expect(throws: QueryError.self) { try ConditionParser.parse(format, []) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("at character") == true)
    }

    @Test(arguments: [
        ("kids.age > 3", "say ANY, ALL or NONE"), ("3 < kids.age", "say ANY, ALL or NONE"),
        ("kids.age == 3", "say ANY, ALL or NONE"), ("kids.name BEGINSWITH 'B'", "ANY"),
        ("kids.age BETWEEN {1, 3}", "two bounds"), ("boss.kids.age > 3", "ANY"),
        ("ANY name == 'Ada'", "one value"), ("ALL boss.age > 3", "one value"),
        ("NONE age > 3", "one value"), ("ANY kids.@count > 1", "one value"),
        ("kids == {1}", "ANY"), ("kids.age + 1 == 3", "several values"),
        ("age BETWEEN {kids.age, 40}", "several values"),
        ("age BETWEEN {{1, 2}, 40}", "several values"),
        (
            "SUBQUERY(kids.parent.kids, $a, ANY $a.parent.kids.pets.owner.parent.kids.age > 1)"
                + ".@count > 0", "at most 4 to-many"
        ),
        ("ANY kids.parent.kids.parent.kids.parent.kids.parent.kids.age > 1", "at most 4 to-many"),
        (
            "SUBQUERY(kids, $a, SUBQUERY(kids, $b, SUBQUERY(kids, $c, SUBQUERY(kids, $d, "
                + "SUBQUERY(kids, $e, TRUEPREDICATE).@count > 0).@count > 0).@count > 0)"
                + ".@count > 0).@count > 0", "at most 4 to-many"
        ),
        ("uppercase(kids.name) == 'x'", "several values"), ("-kids.age == 3", "several values"),
        ("CAST(kids.age, 'NSString') == 'x'", "several values"),
        ("age[0] == 36", "has no elements"), ("age IN 36", "IN needs a list"),
        ("kids.@sum > 3", "name a property"), ("kids.pets.@avg > 3", "name a property"),
        ("kids.@median.age > 3", "no collection operator"),
        ("kids.@unionOfObjects.age CONTAINS 3", "no collection operator"),
        ("kids.@distinctUnionOfObjects.age CONTAINS 3", "no collection operator"),
        ("kids.@sum.@max.age > 3", "attribute"), ("nothing == 3", "no property “nothing”"),
        ("boss.nothing == 3", "no property “nothing”"), ("name.length == 3", "attribute"),
        ("name.@count == 3", "attribute"), ("ANY kids.nothing == 3", "no property “nothing”"),
        ("SUBQUERY(kids, $k, $k.nothing == 3).@count > 0", "no property “nothing”"),
        ("SUBQUERY(kids, $k, $x.age == 3).@count > 0", "variable $x has no value"),
        ("SUBQUERY(boss, $k, $k.age == 3).@count > 0", "needs a to-many"),
        ("SUBQUERY(kids.age, $k, $k == 3).@count > 0", "needs a to-many"),
        ("SUBQUERY(kids.@count, $k, $k == 3).@count > 0", "needs a to-many"),
        ("SUBQUERY(kids, $k, $k.pets.name == 'Rex').@count > 0", "ANY"),
        ("TERNARY(kids.age > 3, 1, 2) == 1", "ANY"),
        ("TERNARY(age > 3, kids, 2) == 1", "TERNARY chooses"),
        ("name MATCHES '('", "no regular expression"), ("name MATCHES 'a)(b'", "no regular"),
        ("TRUEPREDICATE OR nothing == 3", "no property “nothing”"),
    ])
    func `a condition that the model does not allow is refused before a record is read`(
        format: String, reason: String
    ) {
        #expect(
            Village.refusal(format)?.contains(reason) == true, "\(Village.refusal(format) ?? "")")
    }

    @Test func `nested bounds are resolved once`() {
        var format = "age"
        for _ in 0..<45 { format = "TERNARY(age BETWEEN {\(format), 1}, 1, 2)" }
        #expect(Village.refusal("\(format) == 1") == nil)
    }

    @Test func `a format nested deeper than conditions may be is refused`() {
        func format(_ count: Int) -> String {
            String(repeating: "age == 1 OR age == 1 AND NOT (", count: count) + "age == 1"
                + String(repeating: ")", count: count)
        }
        #expect(Village.refusal(format(90))?.contains("nested") == true)
        #expect(Village.refusal(format(60)) == nil)
    }

    @Test func `a path longer than its limit is refused`() {
        let path = Array(repeating: "boss", count: 65).joined(separator: ".")
        #expect(Village.refusal("\(path) == nil")?.contains("at most 64 names") == true)
        #expect(Village.refusal("\(path.dropFirst(5)) == nil") == nil)
    }
}
