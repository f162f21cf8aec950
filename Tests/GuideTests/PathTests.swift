import ObjectGraph
import Testing

/// Conditions across relationships, made with `~`, and the other forms of conditions that the
/// inventory lists.
@MainActor @Suite struct PathTests {
    private let dataStack: DataStack

    init() throws { dataStack = try Harbour.dataStack() }

    private func ferries(_ condition: Where<Ferry>) throws -> [String] {
        try dataStack.fetchAll(From<Ferry>().where(condition).orderBy(.ascending(\.$registry)))
            .map(\.registry)
    }

    private func sailors(_ condition: Where<Sailor>) throws -> [String] {
        try dataStack.fetchAll(From<Sailor>().where(condition).orderBy(.ascending(\.$number)))
            .map(\.name)
    }

    private func sailor(_ number: Int) throws -> Sailor {
        try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == number)))
    }

    // MARK: Paths

    @Test func `a path crosses a to-one relationship`() throws {
        #expect(try ferries((\.$captain ~ \.$name) == "Jane Smith") == ["LK-1"])
        #expect(try ferries((\.$captain ~ \.$name) != "Jane Smith") == ["LK-2"])
        #expect(try ferries((\.$captain ~ \.$age) > 30) == ["LK-2"])
        #expect(try ferries((\.$captain ~ \.$age) <= 22) == ["LK-1"])
        #expect(try ferries([22, 23] ~= (\.$captain ~ \.$age)) == ["LK-1"])
        #expect(try ferries((\.$captain ~ \.$gender) == nil) == [])
        #expect(try ferries((\.$captain ~ \.$gender) == "M") == ["LK-2"])
        #expect(try ferries((\.$captain ~ \.$gender) != nil) == ["LK-1", "LK-2"])
        #expect(try ferries((\.$captain ~ \.$gender) < "G") == ["LK-1"])
        #expect(try ferries(["M"] ~= (\.$captain ~ \.$gender)) == ["LK-2"])
        #expect(
            try dataStack.fetchCount(
                From<Ferry>().where((\.$captain ~ \.$name) == "Jane Smith" && \.$age == 3)) == 1)
    }

    @Test func `an order follows a path`() throws {
        let ascending = From<Ferry>().orderBy(.ascending(\.$captain ~ \.$name))
        #expect(try dataStack.fetchAll(ascending).map(\.registry) == ["LK-1", "LK-2"])
        let descending = OrderBy<Ferry>(
            .descending(\.$captain ~ \.$age), .ascending(\.$registry))
        #expect(
            try dataStack.fetchAll(From<Ferry>(), descending).map(\.registry) == ["LK-2", "LK-1"])
        let byText = OrderBy<Ferry>(.ascending("captain.name"))
        #expect(OrderBy<Ferry>(.ascending(\.$captain ~ \.$name)) == byText)
        let list = dataStack.publishList(ascending)
        #expect(list.snapshot.map(\.$registry) == ["LK-1", "LK-2"])
    }

    @Test func `a path crosses a to-many relationship through a quantifier`() throws {
        #expect(try sailors((\.$friends ~ \.$age).any() > 50) == ["Jane Smith"])
        #expect(try sailors((\.$friends ~ \.$age).all() > 50) == ["John Smith", "Ole"])
        #expect(try sailors((\.$friends ~ \.$age).none() > 50) == ["John Smith", "Ole"])
        #expect(try sailors((\.$ferries ~ \.$nickname).any() == nil).count == 2)
    }

    @Test func `a path crosses several relationships`() throws {
        #expect(try ferries((\.$captain ~ \.$friends ~ \.$name).any() == "Ole") == ["LK-1"])
        #expect(try ferries((\.$captain ~ \.$friends).count() == 2) == ["LK-1"])
        let jane = try sailor(2)
        #expect(try sailors((\.$ferries ~ \.$captain).any() == jane) == ["Jane Smith"])
        #expect(try sailors([jane] ~= (\.$ferries ~ \.$captain).any()) == ["Jane Smith"])
        #expect(try sailors((\.$ferries ~ \.$captain ~ \.$age).any() == 42) == ["John Smith"])
    }

    @Test func `the objects of a relationship are counted`() throws {
        #expect(try sailors((\Sailor.$friends).count() == 2) == ["Jane Smith"])
        #expect(try sailors((\Sailor.$ferries).count() == 0) == ["Ole"])
    }

    @Test func `a path converts to a string of names`() {
        let name = \Ferry.$captain ~ \.$name
        #expect(String(keyPath: name) == "captain.name")
        #expect(String(keyPath: (\Sailor.$ferries ~ \.$age).any()) == "ANY ferries.age")
        #expect(String(keyPath: (\Sailor.$ferries).count()) == "ferries.@count")
        #expect("\(name)" == "captain.name")
        #expect(String(keyPath: \Ferry.$nickname) == "nickname")
    }

    // MARK: Conditions on objects

    @Test func `a relationship is compared with objects and IDs`() throws {
        let jane = try sailor(2)
        let john = try sailor(1)
        #expect(try ferries(\.$captain == jane) == ["LK-1"])
        #expect(try ferries(\.$captain != jane) == ["LK-2"])
        #expect(try ferries(\.$captain == nil) == [])
        #expect(try ferries([jane, john] ~= \.$captain) == ["LK-1", "LK-2"])
        #expect(try ferries(Where<Ferry>(\.$captain, isEqualTo: jane)) == ["LK-1"])
        #expect(try ferries(Where<Ferry>(\.$captain, isEqualTo: nil)) == [])
        #expect(try ferries(Where<Ferry>(\.$captain, isEqualTo: jane.objectID())) == ["LK-1"])
        #expect(try ferries(Where<Ferry>(\.$captain, isMemberOf: [john])) == ["LK-2"])
        #expect(
            try ferries(Where<Ferry>(\.$captain, isMemberOf: [john.objectID()])) == ["LK-2"])
        #expect(try ferries(Where<Ferry>("captain", isEqualTo: jane)) == ["LK-1"])
        #expect(try ferries(Where<Ferry>("captain", isEqualTo: jane.objectID())) == ["LK-1"])
        #expect(try ferries(Where<Ferry>("captain", isMemberOf: [jane])) == ["LK-1"])
        #expect(try ferries(Where<Ferry>("captain", isMemberOf: [jane.objectID()])) == ["LK-1"])
        #expect(try ferries(Where<Ferry> { $0.$captain == jane }) == ["LK-1"])
        #expect(try ferries(Where<Ferry> { $0.$captain != jane }) == ["LK-2"])
        #expect(try ferries(Where<Ferry> { [jane] ~= $0.$captain }) == ["LK-1"])
        #expect(try ferries(Where<Ferry>("captain == %@", jane)) == ["LK-1"])
        #expect(try ferries(Where<Ferry>("captain == %@", jane.objectID())) == ["LK-1"])
    }

    // MARK: Conditions by name

    @Test func `a property is named by a text`() throws {
        #expect(try sailors(Where<Sailor>("age", isEqualTo: 42)) == ["John Smith"])
        #expect(try sailors(Where<Sailor>("gender", isEqualTo: nil)) == ["Ole"])
        #expect(try sailors(Where<Sailor>("gender", isEqualTo: "F" as String?)) == ["Jane Smith"])
        #expect(try sailors(Where<Sailor>("age", isMemberOf: [22, 60])) == ["Jane Smith", "Ole"])
        #expect(try sailors(Where<Sailor>("age", isMemberOf: [] as [Int])) == [])
        #expect(try sailors(Where<Sailor>(\.$age, isEqualTo: 42)) == ["John Smith"])
        #expect(try sailors(Where<Sailor>(\.$gender, isEqualTo: nil)) == ["Ole"])
        #expect(try sailors(Where<Sailor>(\.$age, isMemberOf: [22])) == ["Jane Smith"])
        #expect(try sailors(Where<Sailor>("age == %@", NSNumber(value: 1))) == [])
        #expect(try sailors(Where<Sailor>("number == %@", NSNumber(value: 1))) == ["John Smith"])
    }

    // MARK: Conditions in closures

    @Test func `a closure names inherited properties`() throws {
        #expect(try ferries(Where<Ferry> { $0.$age > 3 }) == ["LK-2"])
        #expect(try ferries(Where<Ferry> { $0.$registry == "LK-1" && $0.$age == 3 }) == ["LK-1"])
        #expect(try ferries(Where<Ferry> { [3, 4] ~= $0.$age }) == ["LK-1"])
        #expect(try ferries(Where<Ferry> { $0.$nickname == nil }) == ["LK-1", "LK-2"])
        #expect(try ferries(Where<Ferry> { $0.$nickname != nil || $0.$captain == nil }) == [])
        #expect(
            try dataStack.fetchCount(From<Ferry>().where { $0.$registry != "LK-1" }) == 1)
        #expect(
            try dataStack.fetchCount(
                From<Ferry>().where(\Vessel.$registry == "LK-1" && \Ferry.$age == 3)) == 1)
        #expect(
            try dataStack.fetchCount(
                From<Ferry>().where(\Ferry.$age == 30 || \Vessel.$registry == "LK-1")) == 2)
        #expect(
            try dataStack.fetchCount(From<Ferry>().where { _ in \Ferry.$age == 30 }) == 1)
    }

    // MARK: Logic

    @Test func `a nil condition is ignored when conditions are joined`() throws {
        let none: Where<Sailor>? = nil
        #expect(try sailors(\.$age > 30 &&? none) == ["John Smith", "Ole"])
        #expect(try sailors(none ||? \.$age > 50) == ["Ole"])
        #expect(try sailors([\.$age > 30, \.$age < 50].combinedByAnd()) == ["John Smith"])
        #expect(try sailors([\.$age < 30, \.$age > 50].combinedByOr()) == ["Jane Smith", "Ole"])
        #expect(try sailors(([] as [Where<Sailor>]).combinedByAnd()).count == 3)
        #expect(try sailors(([] as [Where<Sailor>]).combinedByOr()).isEmpty)
    }

    @Test func `a chain joins conditions`() throws {
        let both = From<Sailor>().where(combineByAnd: \.$age > 30, \.$gender == "M")
        #expect(try dataStack.fetchAll(both).map(\.name) == ["John Smith"])
        let either = From<Sailor>().where(combineByOr: \.$age > 50, \.$gender == "M")
        #expect(try dataStack.fetchCount(either) == 2)
        let clauses: [any FetchClause] = [
            Where<Sailor>(\.$age > 30), OrderBy<Sailor>(.ascending("age")),
        ]
        #expect(
            try dataStack.fetchAll(From<Sailor>().appending(contentsOf: clauses)).map(\.age)
                == [42, 60])
        #expect(
            try dataStack.fetchAll(
                From<Sailor>().appending(Where<Sailor>(true)).appending(contentsOf: clauses)
            ).map(\.age) == [42, 60])
        #expect(try dataStack.fetchAll(From<Sailor>(), clauses).map(\.age) == [42, 60])
    }
}
