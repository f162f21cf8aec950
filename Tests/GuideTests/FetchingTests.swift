import ObjectGraph
import Testing

/// The guide's chapter on fetching.
@MainActor @Suite struct FetchingTests {
    private let dataStack: DataStack

    init() throws { dataStack = try Harbour.dataStack() }

    private func names(_ people: [Sailor]) -> [String] { people.map(\.name).sorted() }

    // MARK: From

    @Test func `From names the class that is fetched`() throws {
        let people = try dataStack.fetchAll(From<Sailor>())
        #expect(names(people) == ["Jane Smith", "John Smith", "Ole"])
    }

    @Test func `From names configurations`() throws {
        #expect(try dataStack.fetchAll(From<Sailor>(nil)).count == 3)
        #expect(throws: CoreStoreError.persistentStoreNotFound(entity: Sailor.self)) {
            try dataStack.fetchAll(From<Sailor>("Config1"))
        }
    }

    @Test func `the five kinds of fetch return the same objects`() throws {
        let chain = From<Sailor>().where(\.$age > 30).orderBy(.ascending(\.$age))

        let people = try dataStack.fetchAll(chain)
        #expect(people.map(\.name) == ["John Smith", "Ole"])
        #expect(try dataStack.fetchOne(chain) === people[0])
        #expect(try dataStack.fetchCount(chain) == 2)
        #expect(try dataStack.fetchObjectIDs(chain) == people.map { $0.objectID() })
        #expect(try dataStack.fetchObjectID(chain) == people[0].objectID())
    }

    // MARK: Where

    @Test func `a condition is written as a format`() throws {
        var people = try dataStack.fetchAll(
            From<Sailor>(),
            Where<Sailor>("%K > %d", "age", 30)
        )
        #expect(names(people) == ["John Smith", "Ole"])
        people = try dataStack.fetchAll(
            From<Sailor>(),
            Where<Sailor>(true)
        )
        #expect(people.count == 3)
        #expect(try dataStack.fetchCount(From<Sailor>().where(format: "age < %@", 30)) == 1)
    }

    @Test func `a condition is made from a predicate`() throws {
        let predicate = NSPredicate(format: "age > %d AND gender == %@", 30, "M")
        let people = try dataStack.fetchAll(
            From<Sailor>(),
            Where<Sailor>(predicate)
        )
        #expect(names(people) == ["John Smith"])
        let other = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
        #expect(try dataStack.fetchCount(From<Sailor>(), Where<Sailor>(other)) == 2)
        #expect(
            NSPredicate(format: "%K == %@", argumentArray: ["age", 3])
                == NSPredicate(format: "age == 3"))
        #expect(Where<Sailor>(predicate).predicate == predicate)
    }

    @Test func `a predicate that cannot be read fails its fetch`() {
        let predicate = NSPredicate(format: "age >")

        #expect(throws: CoreStoreError.self) {
            try dataStack.fetchAll(From<Sailor>(), Where<Sailor>(predicate))
        }
    }

    @Test func `a condition is written with a key path`() throws {
        let people = try dataStack.fetchAll(
            From<Sailor>()
                .where(\.$age > 30)
        )
        #expect(names(people) == ["John Smith", "Ole"])
    }

    @Test func `conditions are joined`() throws {
        let people = try dataStack.fetchAll(
            From<Sailor>()
                .where(\.$age > 30 && \.$gender == "M")
        )
        #expect(names(people) == ["John Smith"])
        #expect(
            try dataStack.fetchCount(
                From<Sailor>().where(!(\.$age > 30) || \.$gender == nil)) == 2)
    }

    // MARK: OrderBy

    @Test func `an order takes names`() throws {
        let mostValuablePeople = try dataStack.fetchAll(
            From<Sailor>(),
            OrderBy<Sailor>(.descending("rating"), .ascending("name"))
        )
        #expect(mostValuablePeople.map(\.name) == ["Jane Smith", "John Smith", "Ole"])
    }

    @Test func `an order takes key paths`() throws {
        let mostValuablePeople = try dataStack.fetchAll(
            From<Sailor>()
                .orderBy(.ascending(\.$rating), .descending(\.$name))
        )
        #expect(mostValuablePeople.map(\.name) == ["Ole", "John Smith", "Jane Smith"])
    }

    @Test(arguments: [true, false])
    func `orders are combined with the addition operators`(sortFromYoungest: Bool) throws {
        var orderBy = OrderBy<Sailor>(.ascending(\.$rating))
        if sortFromYoungest {
            orderBy += OrderBy(.ascending(\.$age))
        } else {
            orderBy = orderBy + OrderBy(.descending(\.$age))
        }
        let mostValuablePeople = try dataStack.fetchAll(
            From<Sailor>(),
            orderBy
        )
        #expect(
            mostValuablePeople.map(\.age) == (sortFromYoungest ? [42, 60, 22] : [60, 42, 22]))
    }

    @Test func `an order is made of sort descriptors`() throws {
        let byAge = NSSortDescriptor(key: "age", ascending: false)
        let people = try dataStack.fetchAll(From<Sailor>(), OrderBy<Sailor>(byAge))
        #expect(people.map(\.age) == [60, 42, 22])
        let orderBy = OrderBy<Sailor>([NSSortDescriptor(key: "rating", ascending: true), byAge])
        #expect(try dataStack.fetchAll(From<Sailor>(), orderBy).map(\.age) == [60, 42, 22])
        #expect(orderBy.sortDescriptors == [.init(key: "rating", ascending: true), byAge])
        #expect(OrderBy<Sailor>(.descending(\.$age)).sortDescriptors == [byAge])
    }

    // MARK: Tweak

    @Test func `a tweak changes the request after all clauses`() throws {
        let people = try dataStack.fetchAll(
            From<Sailor>(),
            Where<Sailor>("age > %d", 30),
            OrderBy<Sailor>(.ascending("age")),
            Tweak { (fetchRequest) -> Void in
                fetchRequest.includesPendingChanges = false
                fetchRequest.returnsObjectsAsFaults = false
                fetchRequest.includesSubentities = false
                fetchRequest.fetchLimit = 1
            }
        )
        #expect(names(people) == ["John Smith"])
    }

    @Test func `a chain takes a tweak`() throws {
        let vessels = try dataStack.fetchAll(
            From<Vessel>()
                .where(\.$registry != "LK-2")
                .orderBy(.ascending(\.$registry))
                .tweak {
                    $0.includesPendingChanges = false
                    $0.returnsObjectsAsFaults = false
                    $0.includesSubentities = false
                }
        )
        #expect(vessels.isEmpty)
        #expect(try dataStack.fetchCount(From<Vessel>().where(\.$registry != "LK-2")) == 1)
    }

    @Test func `a tweak changes the predicate and the order`() throws {
        let people = try dataStack.fetchAll(
            From<Sailor>().where(\.$age < 50).tweak { request in
                let own = request.predicate.map { [$0] } ?? []
                request.predicate = NSCompoundPredicate(
                    orPredicateWithSubpredicates: own + [NSPredicate(format: "name == 'Ole'")])
                request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            }
        )
        #expect(people.map(\.age) == [22, 42, 60])
    }
}
