import Logging
import ObjectGraph
import TrellisLogging

final class Person: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("name") var name: String = ""
    @Field.Stored("city") var city: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Stored("balance") var balance: Double = 0

    var reply: PersonReply {
        PersonReply(number: number, name: name, city: city, age: age, balance: balance)
    }
}

/// Each handler reads a view of its own, on the thread on which it runs, and waits for no writer.
struct TrellisStore: PeopleStore {
    private let stack: DataStack

    init(folder: String, _ logger: Logger) throws {
        CoreStoreDefaults.logger = SwiftLogLogger(logger)
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>(
                        "Person", indexes: [[\.$city]], uniqueConstraints: [[\.$number]])
                ]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: folder + "/people.trellis")))
    }

    func count() async throws -> Int {
        try stack.read { view in try view.fetchCount(From<Person>()) }
    }

    func add(_ people: [PersonReply]) async throws {
        try await stack.async.perform { transaction in
            for source in people {
                let person = transaction.create(Into<Person>())
                (person.number, person.name, person.city) = (
                    source.number, source.name, source.city
                )
                (person.age, person.balance) = (source.age, source.balance)
            }
        }
    }

    func person(_ number: Int) async throws -> PersonReply? {
        try stack.read { view in
            try view.fetchOne(From<Person>().where(\.$number == number))?.reply
        }
    }

    func youngest(in city: String) async throws -> [PersonReply] {
        try stack.read { view in
            try view.fetchAll(
                From<Person>().where(\.$city == city)
                    .orderBy(.ascending(\.$age), .ascending(\.$number))
                    .tweak { $0.fetchLimit = People.listCount }
            ).map(\.reply)
        }
    }

    func pay(_ amount: Double, to number: Int) async throws -> Bool {
        try await stack.async.perform { transaction in
            let person = try transaction.fetchOne(From<Person>().where(\.$number == number))
            person?.balance += amount
            return person != nil
        }
    }

    func close() throws { try stack.close() }
}
