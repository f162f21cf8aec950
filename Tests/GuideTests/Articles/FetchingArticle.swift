import Foundation
import ObjectGraph
import Testing

/// The code of the article Fetching and querying.
@MainActor @Suite struct FetchingArticle {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("nickname") var nickname: String?
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("city") var city: String = ""
        @Field.Relationship("dogs", inverse: \.$owner) var dogs: Set<Dog>
    }

    private final class Dog: CoreStoreObject {
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Person?
    }

    private let dataStack: DataStack

    init() throws {
        dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>("Person", indexes: [[\.$age], [\.$city, \.$name]]),
                    Entity<Dog>("Dog"),
                ]))
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for (name, age, city) in [("Ann", 40, "Oslo"), ("Bo", 20, "Rome"), ("Cy", 50, "Oslo")] {
                let person = transaction.create(Into<Person>())
                (person.name, person.age, person.city) = (name, age, city)
                guard name == "Ann" else { continue }
                for dogAge in 0..<3 {
                    let dog = transaction.create(Into<Dog>())
                    (dog.age, dog.owner) = (dogAge, person)
                }
            }
        })
    }

    @Test func `a chain and clauses find the same`() throws {
        let people = try dataStack.fetchAll(
            From<Person>()
                .where(\.$age > 30 && \.$city == "Oslo")
                .orderBy(.ascending(\.$name), .descending(\.$age)))

        let same = try dataStack.fetchAll(
            From<Person>(),
            Where<Person>("age > %d AND city == %@", 30, "Oslo"),
            OrderBy<Person>(.ascending("name"), .descending("age")))

        #expect(people == same)
        #expect(people.map(\.name) == ["Ann", "Cy"])
    }

    @Test func `each condition finds the objects that satisfy it`() throws {
        let people = try dataStack.fetchAll(From<Person>().orderBy(.ascending(\.$name)))
        let byRange = From<Person>().where(\.$age >= 18 && \.$age < 65)
        let byList = From<Person>().where(["Oslo", "Bergen"] ~= \.$city)
        let byNil = From<Person>().where(\.$nickname == nil)
        let byOwner = From<Dog>().where(\.$owner == people.first)
        let byPath = From<Dog>().where((\.$owner ~ \.$city) == "Oslo")
        let byFormat = From<Person>().where(format: "name BEGINSWITH[cd] %@", "an")

        let anyPuppy = From<Person>().where((\.$dogs ~ \.$age).any() < 1)
        let noPuppy = From<Person>().where((\.$dogs ~ \.$age).none() < 1)
        let several = From<Person>().where((\Person.$dogs).count() > 2)

        #expect(try [byRange, byList, byNil].map { try dataStack.fetchCount($0) } == [3, 2, 3])
        #expect(try [byOwner, byPath].map { try dataStack.fetchCount($0) } == [3, 3])
        #expect(try dataStack.fetchOne(byFormat)?.name == "Ann")
        #expect(
            try [anyPuppy, noPuppy, several].map { try dataStack.fetchCount($0) } == [1, 2, 1])
    }

    @Test func `values are queried without objects`() throws {
        let oldest = try dataStack.queryValue(
            From<Person>().select(Int.self, .maximum(\.$age)))
        let rows = try dataStack.queryAttributes(
            From<Person>()
                .select(.attribute(\.$city), .count(\.$name, as: "people"))
                .groupBy(\.$city)
                .orderBy(.ascending(\.$city)))
        for row in rows {
            print(row["city"] as? String ?? "", row["people"] as? Int ?? 0)
        }
        #expect(oldest == 50)
        #expect(
            rows as [NSDictionary] == [
                ["city": "Oslo", "people": 2], ["city": "Rome", "people": 1],
            ])
    }

    @Test func `a page of a list is fetched, and the plan of a fetch is shown`() throws {
        let page = try dataStack.fetchAll(
            From<Person>()
                .orderBy(.ascending(\.$name))
                .tweak { request in
                    request.fetchOffset = 100
                    request.fetchLimit = 50
                })
        #expect(page.isEmpty)

        print(try dataStack.explain(From<Person>().where(\.$age > 30)))
        #expect(try dataStack.explain(From<Person>().where(\.$age > 30)).contains("age"))
    }
}
