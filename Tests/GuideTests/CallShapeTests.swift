import ObjectGraph
import Testing

/// Call shapes of the inventory that the guide does not show.
@MainActor @Suite struct CallShapeTests {
    private let dataStack: DataStack

    init() throws { dataStack = try Harbour.dataStack() }

    // MARK: Transactions

    @Test func `a transaction lists the objects that it created, changed and deleted`() throws {
        try dataStack.perform(
            synchronous: { transaction in
                let ann = transaction.create(Into<Sailor>(Sailor.self))
                let jane = try transaction.fetchOne(
                    From(Sailor.self), Where<Sailor>(\.$number == 2))!
                let john = try transaction.fetchOne(From<Sailor>(), [Where<Sailor>(\.$number == 1)])
                #expect(!transaction.objectHasPersistentChangedValues(jane))
                jane.age += 1
                transaction.delete(objectIDs: [john!.objectID()])

                #expect(transaction.insertedObjects(Sailor.self) == [ann])
                #expect(transaction.insertedObjectIDs() == [ann.objectID()])
                #expect(transaction.insertedObjectIDs(Ferry.self).isEmpty)
                #expect(transaction.updatedObjects(Sailor.self).contains(jane))
                #expect(transaction.updatedObjectIDs().contains(jane.objectID()))
                #expect(transaction.updatedObjectIDs(Sailor.self).contains(jane.objectID()))
                #expect(transaction.deletedObjects(Sailor.self).count == 1)
                #expect(transaction.deletedObjectIDs() == transaction.deletedObjectIDs(Sailor.self))
                #expect(transaction.objectHasPersistentChangedValues(jane))
                #expect(transaction.edit(nil as Sailor?) == nil)
                #expect(transaction.edit(Into<Sailor>(), jane.objectID()) === jane)
                #expect(jane.fetchSource() === transaction)
                #expect(transaction.sourceIdentifier as? String == "test")
            },
            sourceIdentifier: "test"
        )
        #expect(try dataStack.fetchCount(From<Sailor>()) == 3)
    }

    @Test func `an object counted as changed by others' links instead of its own`() throws {
        try dataStack.perform(
            synchronous: { transaction in
                let sailors = try transaction.fetchAll(
                    From<Sailor>().orderBy(.ascending(\.$number)))
                let (john, jane, ole) = (sailors[0], sailors[1], sailors[2])
                john.age = john.age
                ole.friends = [john]
                ole.friends = []
                #expect(!transaction.objectHasPersistentChangedValues(ole))
                jane.friends = [ole, john]
                for _ in 0..<2 {
                    // The second time, a fetch has flushed the changes.
                    #expect(!transaction.objectHasPersistentChangedValues(john))
                    #expect(transaction.objectHasPersistentChangedValues(jane))
                    _ = try transaction.fetchCount(From<Sailor>())
                }
                jane.friends = [john, ole]
                #expect(!transaction.objectHasPersistentChangedValues(jane))
                john.ferries = []
                #expect(transaction.objectHasPersistentChangedValues(john))
            }
        )
    }

    @Test func `everything of a class is deleted by clauses`() throws {
        let counts = try dataStack.perform(
            synchronous: { transaction in
                (
                    try transaction.deleteAll(From<Ferry>(), Where<Ferry>(\.$age > 3)),
                    try transaction.deleteAll(From<Ferry>(), [Where<Ferry>(true)]),
                    try transaction.deleteAll(
                        From<Sailor>().where(\.$age > 0).tweak { $0.fetchLimit = 2 })
                )
            }
        )

        #expect(counts == (1, 1, 2))
    }

    @Test func `a query in a transaction sees what was committed`() throws {
        let counts = try dataStack.perform(
            synchronous: { transaction -> [Int?] in
                transaction.create(Into<Sailor>()).age = 99
                return [
                    try transaction.fetchCount(From<Sailor>()),
                    try transaction.queryValue(From<Sailor>(), Select<Int>(.count("age"))),
                    try transaction.queryValue(From<Sailor>().select(Int.self, .maximum(\.$age))),
                ]
            }
        )

        #expect(counts == [4, 3, 60])
    }

    @Test func `a fetch may leave out what is not committed`() throws {
        let counts = try dataStack.perform(
            synchronous: { transaction -> [Int] in
                _ = transaction.create(Into<Sailor>())
                let all = From<Sailor>().tweak { $0.includesPendingChanges = false }
                return [
                    try transaction.fetchCount(all), try transaction.fetchAll(all).count,
                    try transaction.fetchCount(From<Sailor>()),
                ]
            }
        )

        #expect(counts == [3, 3, 4])
    }

    // MARK: Fetches

    /// A clause of the program's own.
    struct First: FetchClause {
        var count: Int

        func applyToFetchRequest<ResultType>(_ fetchRequest: NSFetchRequest<ResultType>) {
            fetchRequest.fetchLimit = count
        }
    }

    @Test func `a program writes clauses of its own`() throws {
        let order = OrderBy<Sailor>(.ascending(\.$age))
        #expect(
            try dataStack.fetchAll(From<Sailor>(), order, First(count: 2)).map(\.age) == [22, 42])
        #expect(
            try dataStack.fetchAll(From<Sailor>().orderBy(order).appending(First(count: 1))).count
                == 1)
    }

    @Test func `an order is given in every form`() throws {
        let byAge = [22, 42, 60]
        let ascending = OrderBy<Sailor>.SortKey.ascending(\.$age)
        #expect(try dataStack.fetchAll(From<Sailor>().orderBy([ascending])).map(\.age) == byAge)
        #expect(
            try dataStack.fetchAll(From<Sailor>().orderBy(.ascending("age"))).map(\.age) == byAge)
        #expect(
            try dataStack.fetchAll(From<Sailor>().orderBy(.ascending { $0.$age })).map(\.age)
                == byAge)
        #expect(
            try dataStack.fetchAll(From<Sailor>(), [OrderBy<Sailor>([ascending])]).map(\.age)
                == byAge)
        #expect([OrderBy<Sailor>(ascending), OrderBy()].combined() == OrderBy(ascending))
        #expect(
            try dataStack.fetchAll(From<Ferry>().orderBy(.descending("captain.age"))).map(\.age)
                == [30, 3])
    }

    @Test func `From is given in every form`() throws {
        #expect(try dataStack.fetchCount(From(Sailor.self)) == 3)
        #expect(try dataStack.fetchCount(From(Sailor.self, nil)) == 3)
        #expect(try dataStack.fetchCount(From(Sailor.self, [nil, "Other"])) == 3)
        #expect(try dataStack.fetchCount(From<Sailor>([nil])) == 3)
        #expect(From<Sailor>("A", nil).configurations == ["A", nil])
        #expect(Into<Sailor>() == Into(Sailor.self))
        #expect(Into<Sailor>("A") != Into(Sailor.self, "B"))
    }

    // MARK: Queries

    @Test func `a chain selects in every form`() throws {
        let sailors = From<Sailor>()
        #expect(try dataStack.queryValue(sailors.select(Int.self, [.sum(\.$age)])) == 124)
        #expect(try dataStack.queryValue(sailors.select(Select<Sailor, Int>(.sum("age")))) == 124)
        #expect(
            try dataStack.queryValue(sailors, Select<Sailor, Int>([.sum("age")]), [Where<Sailor>()])
                == 124)
        #expect(
            try dataStack.queryValue(sailors, Select<Int>("age"), [Where<Sailor>(false)]) == nil)
        #expect(
            try dataStack.queryAttributes(sailors.select(NSDictionary.self, "name", .objectID()))
                .allSatisfy { $0["objectID"] is NSManagedObjectID })
        #expect(
            try dataStack.queryAttributes(
                sailors.select(.attribute("rating"), .minimum(\.$age), .maximum(\.$age, as: "top"))
                    .where(\.$rating < 5).groupBy("rating").appending(OrderBy<Sailor>())
            ) as [NSDictionary] == [["rating": 4.5, "min(age)": 42, "top": 60]])
        #expect(
            try dataStack.queryAttributes(
                sailors.select("gender").groupBy(GroupBy(["gender"])).orderBy(.ascending("gender"))
            ).count == 3)
        #expect(
            try dataStack.queryAttributes(
                From<Ferry>().select("captain.name").where { $0.$registry == "LK-1" }
            ) as [NSDictionary] == [["captain.name": "Jane Smith"]])
        #expect(Select<Sailor, Int>("age") == Select<Sailor, Int>(.attribute(\.$age)))
    }

    @Test func `an ID of a relationship in a row named the fetched class as its entity`() throws {
        let jane = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == 2)))
        let rows = try dataStack.queryAttributes(
            From<Ferry>().select("captain", .objectID()).where(\.$registry == "LK-1"))

        let captain = try #require(rows.first?["captain"] as? NSManagedObjectID)
        #expect(captain == jane.objectID())
        #expect(captain.entityName == "Sailor")
        #expect(dataStack.fetchExisting(captain) as Sailor? === jane)
        #expect((rows.first?["objectID"] as? NSManagedObjectID)?.entityName == "Ferry")
    }

    // MARK: Stacks

    @Test func `an entity takes its class as an argument`() {
        let entity = Entity(
            Sailor.self, "Sailor", versionHashModifier: "2", indexes: [[\.$name, \.$age]],
            uniqueConstraints: [[\.$number]])

        #expect(entity.type == Sailor.self)
        #expect(entity.entityName == "Sailor")
        #expect(!entity.isAbstract)
        #expect(entity.indexes == [["name", "age"]])
        #expect(entity.uniqueConstraints == [["number"]])
    }

    @Test func `an ID is converted to a URI and back`() throws {
        let id = try #require(try dataStack.fetchObjectID(From<Sailor>()))
        #expect(dataStack.objectID(forURIRepresentation: id.uriRepresentation()) == id)
        #expect((dataStack.fetchExisting(id) as Sailor?)?.objectID() == id)
        #expect(dataStack.fetchExisting([id]) as [Sailor] == [dataStack.fetchExisting(id)!])
    }

    private static let key = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

    @Test func `a stack stores values for the program`() {
        dataStack.userInfo[Self.key] = 3
        #expect(dataStack.userInfo[Self.key] as? Int == 3)
        #expect(dataStack.userInfo[Self.key, lazyInit: { 4 }] as? Int == 3)
    }
}
