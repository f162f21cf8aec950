import Foundation
import ObjectGraph
import Testing

/// The code of the article Saving.
@MainActor @Suite struct SavingArticle {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = "Ann"
        @Field.Stored("nickname") var nickname: String?
        @Field.Stored("email") var email: String = "ann@example.org"
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("isAdult") var isAdult: Bool = false
        @Field.Stored("score") var score: Int = 0
        @Field.Stored("lastSeen", dynamicInitialValue: { Date() }) var lastSeen: Date
        @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Person>
        @Field.Relationship("friendOf") var friendOf: Set<Person>
    }

    private let stack: DataStack

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>(
                        "Person",
                        uniqueConstraints: [[\.$email]],
                        conflictPolicies: [.error],
                        validations: [
                            .range(\.$age, 0...150),
                            .length(\.$name, 1...80),
                            .pattern(\.$email, "[^@ ]+@[^@ ]+"),
                            .value(\.$nickname, "is taken") { $0 != "admin" },
                            .object("knows itself") { !$0.friends.contains($0) },
                        ])
                ]))
        try stack.addStorageAndWait(InMemoryStore())
    }

    @Test func `a broken rule is among the violations`() throws {
        printViolations()
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).age = -1
            })
        }
        #expect(error?.violations.map(\.keyPaths) == [["age"]])
        #expect(try stack.fetchCount(From<Person>()) == 0)
    }

    private func printViolations() {
        do {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).age = -1
            })
        } catch {
            for violation in error.violations {
                print(violation.objectID, violation.keyPaths, violation.message)
            }
        }
    }

    @Test func `statements delete and change`() throws {
        let yearAgo = Date(timeIntervalSinceNow: -365 * 86_400)
        try stack.perform(synchronous: { transaction in
            let ann = transaction.create(Into<Person>())
            ann.age = 40
            let gone = transaction.create(Into<Person>())
            gone.email = "bo@example.org"
            gone.lastSeen = .distantPast
        })
        try stack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Person>().where(\.$lastSeen < yearAgo))
            try transaction.update(
                From<Person>().where(\.$age >= 18),
                set: .value(\.$isAdult, true), .sum(\.$score, 10))
        })
        let people = try stack.fetchAll(From<Person>())
        #expect(people.map(\.isAdult) == [true] && people.map(\.score) == [10])
    }
}
