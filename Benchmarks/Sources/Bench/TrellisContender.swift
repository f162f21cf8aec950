import ObjectGraph

final class Person: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("name") var name: String = ""
    @Field.Stored("email") var email: String = ""
    @Field.Stored("city") var city: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Stored("balance") var balance: Double = 0
    @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
    @Field.Stored("isMember") var isMember: Bool = false
}

/// Trellis through its public API, as a program uses it.
final class TrellisContender: Contender {
    static let name = "trellis"

    private var stack: DataStack

    init(path: String) throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>(
                        "Person", indexes: [[\Person.$name], [\Person.$age]],
                        uniqueConstraints: [[\Person.$email]])
                ]))
        try stack.addStorageAndWait(LocalStore(fileURL: URL(fileURLWithPath: path)))
    }

    func insert(_ numbers: Range<Int>) throws {
        try stack.perform(synchronous: { transaction in
            for number in numbers {
                let source = PersonSource(number: number)
                let person = transaction.create(Into<Person>())
                person.number = source.number
                person.name = source.name
                person.email = source.email
                person.city = source.city
                person.age = source.age
                person.balance = source.balance
                person.createdAt = Date(timeIntervalSinceReferenceDate: source.createdAt)
                person.isMember = source.isMember
            }
        })
    }

    func lookUp(emails: [String]) throws -> UInt64 {
        var checksum = Checksum()
        for email in emails {
            if let person = try stack.fetchOne(From<Person>().where(\.$email == email)) {
                add(person, to: &checksum)
            }
        }
        return checksum.value
    }

    func persons(ages: ClosedRange<Int>) throws -> UInt64 {
        let persons = try stack.fetchAll(
            From<Person>()
                .where(\.$age >= ages.lowerBound && \.$age <= ages.upperBound)
                .orderBy(.ascending(\.$age)))
        var checksum = Checksum()
        for person in persons { add(person, to: &checksum) }
        return checksum.value
    }

    func close() throws {
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func add(_ person: Person, to checksum: inout Checksum) {
        checksum.add(
            name: person.name, email: person.email, city: person.city, number: person.number,
            age: person.age, balance: person.balance,
            createdAt: person.createdAt.timeIntervalSinceReferenceDate,
            isMember: person.isMember)
    }
}
