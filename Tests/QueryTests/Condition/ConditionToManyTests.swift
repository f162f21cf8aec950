import RecordStore
import Testing

@testable import Query

/// Qualifiers, collection operators, indexes and subqueries over to-many relationships.
@Suite struct ConditionToManyTests {
    // MARK: Qualifiers

    @Test func `ANY and SOME hold when one element does`() throws {
        #expect(try Village.find("ANY kids.age > 3") == ["Ada", "Cat"])
        #expect(try Village.find("SOME kids.age > 3") == ["Ada", "Cat"])
        #expect(try Village.find("any kids.name BEGINSWITH[c] 'b'") == ["Ada"])
        #expect(try Village.find("ANY kids.age IN {7, 8}") == ["Cat"])
        #expect(try Village.find("ANY kids.age BETWEEN {4, 5}") == ["Ada"])
        #expect(try Village.find("ANY kids.name MATCHES 'D.*'") == ["Cat"])
    }

    @Test func `over an empty collection ANY is false, and ALL and NONE are true`() throws {
        #expect(!(try Village.find("ANY kids.age != 99").contains("Bob")))
        #expect(try Village.find("ALL kids.age == 99") == ["Bob"])
        #expect(try Village.find("NONE kids.age == 4") == ["Bob", "Cat", "-"])
        // Ada has no boss, so that her boss's kids are nothing either.
        #expect(try Village.find("ANY boss.kids.name != nil") == ["Bob", "-"])
        #expect(try Village.find("ALL boss.kids.age == 99") == ["Ada", "Cat"])
        #expect(try Village.find("NONE boss.kids.name == 'Ben'") == ["Ada", "Cat", "-"])
    }

    @Test func `NONE is the negation of ANY`() throws {
        for rest in ["kids.age > 3", "kids.age == nil", "kids.name IN {'Eve', 'Cy'}"] {
            #expect(try Village.find("NONE \(rest)") == Village.find("NOT ANY \(rest)"))
            #expect(try Village.find("NONE \(rest)") == Village.find("NOT (ANY \(rest))"))
        }
    }

    @Test func `ALL includes elements whose value is nil`() throws {
        #expect(try Village.find("ALL kids.age > 3") == ["Bob", "Cat"])
        #expect(try Village.find("ALL kids.age == nil") == ["Bob", "-"])
        #expect(try Village.find("ALL kids.age != 4") == ["Bob", "Cat", "-"])
    }

    @Test func `a path over two to-many relationships is one flat collection`() throws {
        #expect(try Village.find("ANY kids.pets.name == 'Rex'") == ["Ada", "-"])
        #expect(try Village.find("ALL kids.pets.name == 'Rex'") == ["Bob", "Cat", "-"])
        #expect(try Village.find("NONE kids.pets.name == 'Pip'") == ["Bob", "Cat", "-"])
        #expect(try Village.find("kids.pets.@count == 2") == ["Ada"])
    }

    @Test func `two ANYs may hold for different elements, a subquery needs one element`() throws {
        #expect(try Village.find("ANY kids.name == 'Cy' AND ANY kids.age == 4") == ["Ada"])
        let both = "SUBQUERY(kids, $k, $k.name == 'Cy' AND $k.age == 4).@count > 0"
        #expect(try Village.find(both) == [])
        let same = "SUBQUERY(kids, $k, $k.name == 'Ben' AND $k.age == 4).@count > 0"
        #expect(try Village.find(same) == ["Ada"])
    }

    // MARK: Objects

    @Test func `an empty to-many is nil`() throws {
        #expect(try Village.find("kids == nil") == ["Bob"])
        #expect(try Village.find("nil == kids") == ["Bob"])
        #expect(try Village.find("kids != nil") == ["Ada", "Cat", "-"])
        #expect(try Village.find("nil != kids") == ["Ada", "Cat", "-"])
        #expect(try Village.find("kids.@count == 0") == ["Bob"])
        #expect(try Village.find("boss == nil") == ["Ada"])
    }

    @Test func `objects are compared and searched for by identity`() throws {
        let (ada, bob) = (try Village.person("Ada"), try Village.person("Bob"))
        #expect(try Village.find("SELF == %@", ada) == ["Ada"])
        #expect(try Village.find("self == %@", ada) == ["Ada"])
        #expect(try Village.find("SELF != %@", ada) == ["Bob", "Cat", "-"])
        #expect(try Village.find("SELF IN %@", .list([ada, bob])) == ["Ada", "Bob"])
        #expect(try Village.find("NOT SELF IN %@", .list([ada, bob])) == ["Cat", "-"])
        #expect(try Village.find("team CONTAINS %@", bob) == ["Ada"])
        #expect(try Village.find("NOT team CONTAINS %@", bob) == ["Bob", "Cat", "-"])
        #expect(try Village.find("%@ IN team", bob) == ["Ada"])
        #expect(try Village.find("ANY team == %@", bob) == ["Ada"])
        #expect(try Village.find("ANY team IN %@", .list([ada, bob])) == ["Ada"])
        #expect(try Village.find("SELF IN boss.team") == ["Bob", "Cat", "-"])
        #expect(try Village.find("team CONTAINS 3 OR team CONTAINS nil") == [])
        #expect(try Village.find("boss IN %@", .list([ada])) == ["Bob"])
        #expect(try Village.find("NOT boss IN %@", .list([ada])) == ["Ada", "Cat", "-"])
        #expect(try Village.find("boss != %@", ada) == ["Ada", "Cat", "-"])
        #expect(try Village.find("boss.boss == %@", ada) == ["Cat"])
    }

    // MARK: Collection operators

    @Test func `a collection operator stands before or after the property`() throws {
        for path in ["kids.@sum.age", "kids.age.@sum", "@sum.kids.age"] {
            #expect(try Village.find("\(path) == 4") == ["Ada"])
            #expect(try Village.find("%K == 7", .text(path)) == ["Cat"])
        }
        #expect(try Village.find("@count.kids == 2") == ["Ada"])
        #expect(try Village.find("boss.kids.@count == 2") == ["Bob"])
        #expect(try Village.find("SELF.kids.@count == 2") == ["Ada"])
    }

    @Test func `over no values a count and a sum are zero, and other aggregates are nil`() throws {
        #expect(try Village.find("kids.@sum.age == 0") == ["Bob", "-"])
        #expect(try Village.find("kids.@avg.age == nil") == ["Bob", "-"])
        #expect(try Village.find("kids.@min.age == nil") == ["Bob", "-"])
        #expect(try Village.find("kids.@max.age == nil") == ["Bob", "-"])
        #expect(try Village.find("kids.@avg.age == 4") == ["Ada"])
        #expect(try Village.find("kids.@min.name == 'Ben'") == ["Ada"])
        #expect(try Village.find("kids.@max.age == 7") == ["Cat"])
        #expect(try Village.find("boss.kids.@count == 0") == ["Ada", "Cat"])
    }

    @Test func `collection functions give what the collection operators give`() throws {
        #expect(try Village.find("count(kids) == 2") == ["Ada"])
        #expect(try Village.find("sum(kids.age) == 4") == ["Ada"])
        #expect(try Village.find("max(kids.age) == 7") == ["Cat"])
        #expect(try Village.find("average(kids.age) == nil") == ["Bob", "-"])
    }

    // MARK: Indexes

    @Test func `an index names an element of an ordered to-many`() throws {
        #expect(try Village.find("kids.name[0] == 'Ben'") == ["Ada"])
        #expect(try Village.find("kids.name[1] == 'Cy'") == ["Ada"])
        #expect(try Village.find("kids.name[FIRST] == 'Dee'") == ["Cat"])
        #expect(try Village.find("kids.name[last] == 'Cy'") == ["Ada"])
        #expect(try Village.find("kids[SIZE] == 2") == ["Ada"])
        #expect(try Village.find("kids[SIZE] > 0") == ["Ada", "Cat", "-"])
        #expect(try Village.find("(kids.age)[0] + 1 == 5") == ["Ada"])
        #expect(try Village.holds("{1, 2, 3}[1] == 2"))
    }

    @Test func `an index out of range gives nil`() throws {
        #expect(try Village.find("kids.name[1] == nil") == ["Bob", "Cat", "-"])
        #expect(try Village.find("kids[FIRST] == nil") == ["Bob"])
        #expect(try Village.find("kids[9223372036854775807] == nil").count == 4)
        #expect(try Village.holds("{}[LAST] == nil AND {}[SIZE] == 0"))
    }

    // MARK: Subqueries

    @Test func `a subquery can be counted, indexed and compared`() throws {
        let query = "SUBQUERY(kids, $k, $k.age > 3)"
        #expect(try Village.find("\(query).@count == 1") == ["Ada", "Cat"])
        #expect(try Village.find("\(query)[SIZE] == 1") == ["Ada", "Cat"])
        #expect(try Village.find("count(\(query)) == 1") == ["Ada", "Cat"])
        #expect(try Village.find("ANY \(query) != nil") == ["Ada", "Cat"])
        #expect(try Village.find("\(query) == nil") == ["Bob", "-"])
        #expect(try Village.find("\(query)[FIRST] == kids[FIRST]") == ["Ada", "Bob", "Cat"])
    }

    @Test func `a subquery compares its element with the outer record`() throws {
        #expect(try Village.find("SUBQUERY(kids, $k, $k.age + 32 == age).@count == 1") == ["Ada"])
        #expect(
            try Village.find("SUBQUERY(kids, $k, $k.age + 32 == SELF.age).@count == 1") == ["Ada"])
        #expect(
            try Village.find("SUBQUERY(team, $t, $t.boss == SELF).@count == 1") == [
                "Ada", "Bob", "Cat",
            ])
        #expect(try Village.find("SUBQUERY(team, $t, $t == SELF).@count == 1") == [])
    }

    @Test func `subqueries nest, also over relationships of the element`() throws {
        let nested =
            "SUBQUERY(kids, $k, SUBQUERY($k.pets, $p, $p.name == 'Rex' AND $k.age == 4).@count > 0)"
        #expect(try Village.find("\(nested).@count == 1") == ["Ada"])
        let pets = "SUBQUERY(kids.pets, $p, $p.name == 'Rex' AND $p.owner.age == nil).@count == 1"
        #expect(try Village.find(pets) == ["-"])
        #expect(
            try Village.find("SUBQUERY(kids, $k, ANY $k.pets.name == 'Pip').@count == 1") == ["Ada"]
        )
        #expect(try Village.find("SUBQUERY(kids, $k, $k.pets.@count == 2).@count == 1") == ["Ada"])
    }

    @Test func `an inner variable hides an outer one of the same name`() throws {
        let query =
            "SUBQUERY(kids, $x, SUBQUERY($x.pets, $x, $x.name == 'Pip').@count == 1 "
            + "AND $x.age == 4).@count == 1"
        #expect(try Village.find(query) == ["Ada"])
    }
}
