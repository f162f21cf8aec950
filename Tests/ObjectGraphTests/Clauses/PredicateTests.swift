import Foundation
import ObjectGraph
import Testing

/// Formats as a program writes them: `Where("…", arguments)` and `NSPredicate(format:)`.
@Suite struct PredicateTests {
    private struct Fixture {
        let stack: DataStack
        let queue: DispatchQueue

        init() throws {
            (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                for (name, level, isMember) in [
                    ("Ada", 1, true), ("Bob", 2, false), ("Émile", 3, true),
                ] {
                    let person = transaction.create(Into<Person>())
                    person.name = name
                    person.email = "\(name)@example.org"
                    person.level = UInt8(level)
                    person.isMember = isMember
                    person.born =
                        level == 3 ? nil : Date(timeIntervalSinceReferenceDate: Double(level))
                    person.score = Decimal(level)
                    person.home = level == 1 ? URL(string: "https://a.example") : nil
                    person.photo = level == 1 ? Data([1, 2]) : nil
                    let dog = transaction.create(Into<Dog>())
                    dog.nickname = level == 2 ? nil : "Rex \(level)"
                    dog.age = level
                    dog.master = person
                }
            })
        }

        func find(_ clause: Where<Person>) throws -> [String] {
            try queue.sync {
                try stack.fetchAll(
                    From<Person>().where(clause).orderBy(.ascending(\.$level))
                ).map(\.name)
            }
        }

        func find(_ format: String, _ arguments: Any...) throws -> [String] {
            try find(Where<Person>(format, argumentArray: arguments))
        }

        func refusal(_ format: String, _ arguments: Any...) -> String {
            do {
                _ = try find(Where<Person>(format, argumentArray: arguments))
                return ""
            } catch {
                return "\(error)"
            }
        }
    }

    @Test func `an NSNumber in a condition keeps its kind`() throws {
        let fixture = try Fixture()
        func find(_ format: String, _ argument: NSNumber) throws -> [String] {
            try fixture.find(Where(format, argument))
        }
        #expect(try find("level / %@ == 1.5", NSNumber(value: 2.0)) == ["Émile"])
        #expect(try find("level / %@ == 1.5", NSNumber(value: Float(2))) == ["Émile"])
        #expect(try find("level / %@ == 1", NSNumber(value: 2)) == ["Bob", "Émile"])
        #expect(try find("isMember == %@", NSNumber(value: true)) == ["Ada", "Émile"])
        #expect(try find("level == %@", NSNumber(value: Int8(2))) == ["Bob"])
        #expect(try find("level < %@", NSNumber(value: UInt64.max)) == ["Ada", "Bob", "Émile"])
        #expect(try find("score == %@", NSDecimalNumber(string: "3")) == ["Émile"])
        let half = NSNumber(value: 2.5)
        #expect(try fixture.find(Where("level", isEqualTo: half)) == [])
        #expect(try fixture.find(Where("level", isMemberOf: [half, 3 as NSNumber])) == ["Émile"])
    }

    @Test func `a key path names its property, also after thousands were created`() {
        let itself = \Person.self
        for number in 0..<3000 {
            let name: Where<Person> = itself.appending(path: \.$name) == "\(number)"
            let email: Where<Person> = itself.appending(path: \.$email) == "\(number)"
            #expect(name == Where<Person>("name", isEqualTo: "\(number)"))
            #expect(email == Where<Person>("email", isEqualTo: "\(number)"))
        }
        let inherited: Where<Dog> = \.$species == "Swift"
        let declared: Where<Animal> = \.$species == "Swift"
        #expect(inherited == Where<Dog>("species", isEqualTo: "Swift"))
        #expect(declared == Where<Animal>("species", isEqualTo: "Swift"))
    }

    @Test func `Swift values of many types are accepted as arguments`() throws {
        let fixture = try Fixture()
        #expect(try fixture.find("name == %@", "Ada") == ["Ada"])
        #expect(try fixture.find("name == %@", "xAda".dropFirst()) == ["Ada"])
        #expect(try fixture.find("name BEGINSWITH %@", Character("A")) == ["Ada"])
        #expect(try fixture.find("level == %d", 2) == ["Bob"])
        #expect(try fixture.find("level == %d", UInt8(2)) == ["Bob"])
        #expect(try fixture.find("level == %d", Int16(2)) == ["Bob"])
        #expect(try fixture.find("level < %@", UInt.max) == ["Ada", "Bob", "Émile"])
        #expect(try fixture.find("level < %f", 1.5) == ["Ada"])
        #expect(try fixture.find("level < %@", Float(1.5)) == ["Ada"])
        #expect(try fixture.find("score == %@", Decimal(2)) == ["Bob"])
        #expect(try fixture.find("isMember == %@", true) == ["Ada", "Émile"])
        #expect(try fixture.find("isMember == YES AND level > %d", 1) == ["Émile"])
        #expect(try fixture.find("born == %@", Date(timeIntervalSinceReferenceDate: 1)) == ["Ada"])
        #expect(try fixture.find("photo == %@", Data([1, 2])) == ["Ada"])
        #expect(try fixture.find("identifier == %@", UUID()) == [])
        #expect(
            try fixture.find("home == %@", try #require(URL(string: "https://a.example"))) == [
                "Ada"
            ])
        #expect(try fixture.find("%K ==[cd] %@", "name", "emile") == ["Émile"])
    }

    @Test func `nil is an argument in each of its forms`() throws {
        let fixture = try Fixture()
        #expect(try fixture.find("born == %@", NSNull()) == ["Émile"])
        #expect(try fixture.find("born == %@", Date?.none as Any) == ["Émile"])
        #expect(try fixture.find("born != %@", String?.none as Any) == ["Ada", "Bob"])
        #expect(try fixture.find("name == %@", String?.some("Ada") as Any) == ["Ada"])
        #expect(try fixture.find("level IN %@", [Int?.none, 2] as [Int?]) == ["Bob"])
    }

    @Test func `lists of every kind are arguments`() throws {
        let fixture = try Fixture()
        #expect(try fixture.find("level IN %@", [1, 2]) == ["Ada", "Bob"])
        #expect(try fixture.find("level IN %@", Set([2])) == ["Bob"])
        #expect(try fixture.find("level IN %@", 2...3) == ["Bob", "Émile"])
        #expect(try fixture.find("name IN %@", ["x": "Ada", "Bob": "y"]) == ["Ada"])
        #expect(try fixture.find("level BETWEEN %@", [2, 3]) == ["Bob", "Émile"])
        #expect(try fixture.find("level NOT IN %@", [Int]()) == ["Ada", "Bob", "Émile"])
        #expect(try fixture.find("name IN %@", "Ada and Bob") == ["Ada", "Bob"])
    }

    @Test func `objects and their identifiers are arguments`() throws {
        let fixture = try Fixture()
        let (dog, ada) = try fixture.queue.sync {
            (
                try #require(try fixture.stack.fetchOne(From<Dog>().where(\.$age == 2))),
                try #require(try fixture.stack.fetchOne(From<Person>().where(\.$level == 1)))
            )
        }
        #expect(try fixture.find("pets CONTAINS %@", dog) == ["Bob"])
        #expect(try fixture.find("pets CONTAINS %@", dog.objectID()) == ["Bob"])
        #expect(try fixture.find("ANY pets == %@", dog) == ["Bob"])
        #expect(try fixture.find("ANY pets IN %@", [dog.objectID()]) == ["Bob"])
        #expect(try fixture.find("SELF == %@", ada) == ["Ada"])
        #expect(try fixture.find("SELF IN %@", [ada]) == ["Ada"])
        #expect(try fixture.find("NOT SELF IN %@", Set([ada.objectID()])) == ["Bob", "Émile"])
    }

    @Test func `conditions cross relationships`() throws {
        let fixture = try Fixture()
        #expect(try fixture.find("ANY pets.species == 'Swift' AND pets.@count == 1").count == 3)
        #expect(try fixture.find("NONE friends.name == 'x'").count == 3)
        #expect(try fixture.find("spouse == nil AND spouse.name != 'x'").count == 3)
        #expect(
            try fixture.find("SUBQUERY(pets, $p, $p.master.level == %d).@count == 1", 3) == [
                "Émile"
            ])
    }

    @Test func `a wrong format or argument throws a sentence and never traps`() throws {
        let fixture = try Fixture()
        for (message, expected) in [
            (fixture.refusal("name = = 3"), "at character 8"),
            (fixture.refusal("name == %@"), "more places"),
            (fixture.refusal("name == 3", 1, 2), "fewer places"),
            (fixture.refusal("name == '%@'", "x"), "inside of quotes"),
            (fixture.refusal("level == %d", "x"), "stands for a whole number"),
            (fixture.refusal("level == %d", NSNull()), "stands for a whole number"),
            (fixture.refusal("%K == 1", 3), "%K stands for"),
            (fixture.refusal("nothing == 1"), "no property “nothing”"),
            (fixture.refusal("name == %@", Fixture.self), "is no value"),
            (fixture.refusal("name == %@", { 3 }), "is no value"),
            (fixture.refusal("name == %@", (1, 2)), "is no value"),
            (fixture.refusal("level IN %@", [Fixture.self]), "is no value"),
            (fixture.refusal("level IN %@", [[1], [2]]), "is no value"),
            (fixture.refusal("level IN %@", 0...Int.max), "at most 1000000 values"),
            (fixture.refusal("%@", Where<Person>(true)), "combine them"),
            (fixture.refusal("%@ AND level == 1", NSPredicate(value: true)), "combine them"),
            (fixture.refusal("FUNCTION(SELF, 'delete') == 1"), "calls code by name"),
            (fixture.refusal("name MATCHES %@", "("), "no regular expression"),
            (fixture.refusal("name == $NAME"), "$NAME has no value"),
        ] {
            #expect(message.contains(expected), "\(message)")
        }
    }

    private final class OwnPredicate: NSPredicate {
        init() { super.init(value: true) }
        required init?(coder: NSCoder) { nil }
        override func evaluate(with object: Any?) -> Bool { false }
    }

    @Test func `a constant predicate finds everything or nothing`() throws {
        let fixture = try Fixture()
        let (all, none) = (NSPredicate(value: true), NSPredicate(value: false))
        func find(_ predicate: NSPredicate) throws -> [String] {
            try fixture.find(Where<Person>(predicate))
        }
        #expect(try find(all) == ["Ada", "Bob", "Émile"])
        #expect(try find(none) == [])
        let ada = NSPredicate(format: "name == %@", "Ada")
        #expect(
            try find(NSCompoundPredicate(andPredicateWithSubpredicates: [all, ada])) == ["Ada"])
        #expect(try find(NSCompoundPredicate(andPredicateWithSubpredicates: [none, ada])) == [])
        #expect(
            try find(NSCompoundPredicate(orPredicateWithSubpredicates: [none, ada])) == ["Ada"])
        #expect(
            try find(NSCompoundPredicate(notPredicateWithSubpredicate: none))
                == ["Ada", "Bob", "Émile"])
        // A predicate that runs the program's code is not supported.
        #expect(throws: CoreStoreError.self) { try find(NSPredicate { _, _ in true }) }
        #expect(throws: CoreStoreError.self) { try find(OwnPredicate()) }
    }

    @Test func `a predicate with variables is a template for later values`() throws {
        let fixture = try Fixture()
        let template = NSPredicate(format: "level >= $LOW AND name IN $NAMES")
        let predicate = template.withSubstitutionVariables(["LOW": 2, "NAMES": ["Ada", "Bob"]])
        #expect(try fixture.find(Where<Person>(predicate)) == ["Bob"])
        #expect("\(predicate)" == "level >= 2 AND name IN {\"Ada\", \"Bob\"}")
        let lacking = template.withSubstitutionVariables(["LOW": 2])
        #expect(throws: CoreStoreError.self) { try fixture.find(Where<Person>(lacking)) }
    }

    @Test func `the text of a predicate reads back as the predicate`() throws {
        for format in [
            "level > 3 AND (name BEGINSWITH[cd] \"A\" OR NOT (spouse == nil))",
            "ANY pets.species == \"Swift\"", "born > CAST(3.5, \"NSDate\")",
        ] {
            let predicate = NSPredicate(format: format)
            #expect("\(predicate)" == format)
            #expect(NSPredicate(format: "\(predicate)") == predicate)
        }
    }
}
