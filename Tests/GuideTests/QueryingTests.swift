import ObjectGraph
import Testing

/// The guide's chapter on querying.
@MainActor @Suite struct QueryingTests {
    private let dataStack: DataStack

    init() throws { dataStack = try Harbour.dataStack() }

    // MARK: Select

    @Test func `one attribute of one object is queried`() throws {
        let johnsAge = try dataStack.queryValue(
            From<Sailor>(),
            Select<Int>("age"),
            Where<Sailor>("name == %@", "John Smith")
        )
        #expect(johnsAge == 42)
    }

    @Test func `Select takes the class as well as the result`() throws {
        let johnsAge = try dataStack.queryValue(
            From<Sailor>(),
            Select<Sailor, Int>("age"),
            Where<Sailor>("name == %@", "John Smith")
        )
        #expect(johnsAge == 42)
        let oldest = try dataStack.queryValue(
            From<Sailor>(), Select<Sailor, Int>(.maximum(\.$age)))
        #expect(oldest == 60)
        let name = try dataStack.queryValue(
            From<Sailor>(), Select<Sailor, String>(\.$name), Where<Sailor>(\.$age, isEqualTo: 60))
        #expect(name == "Ole")
        let id = try dataStack.queryValue(
            From<Sailor>(), Select<Sailor, NSManagedObjectID>(), Where<Sailor>(\.$age > 50))
        let ole = try dataStack.fetchObjectID(From<Sailor>().where(\.$name == "Ole"))
        #expect(id != nil)
        #expect(id == ole)
    }

    @Test func `attributes of all objects are queried`() throws {
        let allAges = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("age")
        )
        #expect(allAges.compactMap { $0["age"] as? Int }.sorted() == [22, 42, 60])
    }

    @Test func `a chain queries a key path`() throws {
        let johnsAge = try dataStack.queryValue(
            From<Sailor>()
                .select(\.$age)
                .where(\.$name == "John Smith")
        )
        #expect(johnsAge == 42)
    }

    @Test func `an attribute that may be nil is queried`() throws {
        let gender = try dataStack.queryValue(
            From<Sailor>().select(\.$gender).where(\.$name == "John Smith"))
        #expect(gender == "M")
        #expect(
            try dataStack.queryValue(
                From<Sailor>(), Select<Sailor, String>(\.$gender), Where<Sailor>(\.$age == 60))
                == nil)
    }

    @Test func `a result is one of Foundation's classes`() throws {
        let john = Where<Sailor>("name == %@", "John Smith" as NSString)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<NSNumber>("age"), john) == 42)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<NSNumber>("rating"), john) == 4.5)
        #expect(
            try dataStack.queryValue(From<Sailor>(), Select<NSString>("name"), john)
                == "John Smith")
        #expect(
            try dataStack.fetchCount(From<Sailor>(), Where<Sailor>("gender", isEqualTo: NSNull()))
                == 1)
    }

    @Test func `an aggregate is queried`() throws {
        let oldestAge = try dataStack.queryValue(
            From<Sailor>(),
            Select<Int>(.maximum("age"))
        )
        #expect(oldestAge == 60)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<Int>(.minimum("age"))) == 22)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<Int>(.sum("age"))) == 124)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<Int>(.count("gender"))) == 2)
        let average = try #require(
            try dataStack.queryValue(From<Sailor>(), Select<Double>(.average("age"))))
        #expect(abs(average - 124.0 / 3) < 1e-9)
    }

    @Test func `several attributes are queried`() throws {
        let personJSON = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("name", "age"),
            OrderBy<Sailor>(.ascending("age"))
        )
        #expect(
            personJSON as [NSDictionary] == [
                ["name": "Jane Smith", "age": 22], ["name": "John Smith", "age": 42],
                ["name": "Ole", "age": 60],
            ])
    }

    @Test func `an aggregate stands beside an attribute`() throws {
        let personJSON = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("name", .count("friends")),
            OrderBy<Sailor>(.ascending("age"))
        )
        #expect(
            personJSON as [NSDictionary] == [
                ["name": "Jane Smith", "count(friends)": 2],
                ["name": "John Smith", "count(friends)": 0],
                ["name": "Ole", "count(friends)": 0],
            ])
    }

    @Test func `friends are counted over all records beside another aggregate`() throws {
        let rows = try dataStack.queryAttributes(
            From<Sailor>(), Select(.count("friends"), .maximum("age")))
        #expect(rows as [NSDictionary] == [["count(friends)": 2, "max(age)": 60]])
    }

    @Test func `friends are counted over the records of a group`() throws {
        let rows = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("rating", .count("friends")),
            GroupBy("rating"),
            OrderBy<Sailor>(.ascending("rating"))
        )
        #expect(
            rows as [NSDictionary] == [
                ["rating": 4.5, "count(friends)": 0], ["rating": 5, "count(friends)": 2],
            ])
    }

    @Test func `a sum of texts is nil`() throws {
        #expect(try dataStack.queryValue(From<Sailor>(), Select<Int>(.sum("name"))) == nil)
        #expect(try dataStack.queryValue(From<Sailor>(), Select<Int>(.sum("age"))) == 124)
    }

    @Test func `a column has a name of the program's`() throws {
        let personJSON = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("name", .count("friends", as: "friendsCount")),
            Where<Sailor>(\.$age == 22)
        )
        #expect(
            personJSON as [NSDictionary] == [["name": "Jane Smith", "friendsCount": 2]])
    }

    @Test func `a number in a row casts to every type that can hold it`() throws {
        let row = try #require(
            try dataStack.queryAttributes(
                From<Sailor>(), Select(.sum("age"), .average("rating"), .maximum("age"))
            ).first)
        #expect(row["max(age)"] as? Int == 60)
        #expect(row["max(age)"] as? Int64 == 60)
        #expect(row["max(age)"] as? Double == 60)
        #expect(row["sum(age)"] as? Decimal == 124)
        #expect((row["sum(age)"] as? NSNumber)?.intValue == 124)
    }

    // MARK: GroupBy

    @Test func `rows are grouped by a name`() throws {
        let personJSON = try dataStack.queryAttributes(
            From<Sailor>(),
            Select("rating", .count("rating", as: "count")),
            GroupBy("rating"),
            OrderBy<Sailor>(.ascending("rating"))
        )
        #expect(
            personJSON as [NSDictionary] == [
                ["rating": 4.5, "count": 2], ["rating": 5, "count": 1],
            ])
    }

    @Test func `rows are grouped by a key path`() throws {
        let personJSON = try dataStack.queryAttributes(
            From<Sailor>()
                .select(.attribute(\.$age), .count(\.$age, as: "count"))
                .groupBy(\.$age)
                .orderBy(.descending(\.$age))
        )
        #expect(
            personJSON as [NSDictionary] == [
                ["age": 60, "count": 1], ["age": 42, "count": 1], ["age": 22, "count": 1],
            ])
    }
}
