import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

@Suite struct RecordDatabaseTests {
    static let schema = SchemaDescription([
        EntityDescription(
            "Person",
            attributes: [
                .required("name", .string, default: .string("")),
                .required("age", .int64, default: .int(0)), .optional("photo", .data),
            ],
            relationships: [
                .toManyUnordered("pets", to: "Dog", inverse: "master"),
                .toManyOrdered("friends", to: "Person", inverse: "friendOf"),
                .toManyUnordered("friendOf", to: "Person"),
            ], indexes: [["age"], ["name", "age"]], uniqueConstraints: [["name"]]),
        EntityDescription(
            "Dog", optional: ["nickname": .string],
            relationships: [.toOne("master", to: "Person")]),
    ])

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent(
            "records-\(UUID().uuidString).trellis"
        ).path
    }

    /// A thousand people, ten dogs for each of the first hundred, and one ordered list of friends.
    private func fill(
        _ path: String, photo: [UInt8]
    ) throws -> (people: [ObjectNumber], dogs: [ObjectNumber]) {
        var people: [ObjectNumber] = []
        var dogs: [ObjectNumber] = []
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        let person = try #require(database.schema.entity(named: "Person"))
        let dog = try #require(database.schema.entity(named: "Dog"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for index in 0..<1000 {
            let number = try transaction.allocateNumber(in: person.hierarchy)
            var row = person.emptyRow()
            defer { row.deallocate() }
            row.setValue(.string("name \(index)"), try #require(person.field(named: "name")))
            row.setValue(.int(Int64(index % 50)), try #require(person.field(named: "age")))
            if index == 7 {
                row.setValue(.data(photo), try #require(person.field(named: "photo")))
            }
            batch.insert(person, number, row: row)
            people.append(number)
            let dogNumber = try transaction.allocateNumber(in: dog.hierarchy)
            let dogRow = dog.emptyRow()
            defer { dogRow.deallocate() }
            dogRow.setLink(
                people[index / 10], at: try #require(dog.field(named: "master")).byteOffset)
            batch.insert(dog, dogNumber, row: dogRow)
            dogs.append(dogNumber)
        }
        let friends = try #require(person.relationship(named: "friends"))
        batch.setLinks(friends, owner: people[0], [people[5], people[3], people[9]])
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        return (people, dogs)
    }

    @Test func `records links and counters survive a reopening`() throws {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let photo = (0..<200_000).map { UInt8($0 % 251) }
        let (people, dogs) = try fill(path, photo: photo)
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        defer { try? database.close() }
        let snapshot = try database.snapshot()
        let person = try #require(database.schema.entity(named: "Person"))
        #expect(try snapshot.recordCount(of: person) == 1000)
        let pets = try #require(person.relationship(named: "pets"))
        #expect(try snapshot.linkedNumbers(pets, of: people[3]) == Array(dogs[30..<40]))
        let friends = try #require(person.relationship(named: "friends"))
        let friendOf = try #require(person.relationship(named: "friendOf"))
        #expect(
            try snapshot.linkedNumbers(friends, of: people[0]) == [
                people[5], people[3], people[9],
            ])
        #expect(try snapshot.linkedNumbers(friendOf, of: people[9]) == [people[0]])
        let field = try #require(person.field(named: "photo"))
        let loaded = try #require(try snapshot.row(people[7], in: person.hierarchy))
        #expect(loaded.view.value(field) == .data(photo))
        loaded.deallocate()

        let index = try #require(person.indexes.first { $0.treeName == "index/Person/age" })
        var key = snapshot.keyEncoder(columnCount: 1)
        let isEncoded = key.append(.int(7), as: index.columns[0].content)
        #expect(isEncoded)
        let cursor = snapshot.indexCursor(index, KeyRange(prefix: key.bytes))
        var found = 0
        while try cursor.next() { found += 1 }
        #expect(found == 20)
    }

    /// An empty store, a transaction in it, and a row without values for it.
    private static func begun() throws -> (
        RecordDatabase, EntityLayout, RecordTransaction, RowBuffer
    ) {
        let database = try RecordDatabase.open(.memory, schema: schema)
        let person = try #require(database.schema.entity(named: "Person"))
        return (database, person, try database.beginWrite(), person.emptyRow())
    }

    @Test func `edits of a batch that failed are in no later batch`() throws {
        let (database, person, transaction, row) = try Self.begun()
        defer {
            row.deallocate()
            try? database.close()
        }
        let lost = try transaction.allocateNumber(in: person.hierarchy)
        let missing = try transaction.allocateNumber(in: person.hierarchy)
        let kept = try transaction.allocateNumber(in: person.hierarchy)
        var failing = RecordBatch()
        failing.insert(person, lost, row: row)
        failing.update(person, missing, row: row)
        let error = #expect(throws: StoreError.self) { try transaction.apply(failing) }
        #expect(error?.code == .notFound)
        var batch = RecordBatch()
        batch.insert(person, kept, row: row)
        try transaction.apply(batch)
        #expect(try !transaction.contains(lost, in: person.hierarchy))
        #expect(try transaction.contains(kept, in: person.hierarchy))
        #expect(try transaction.recordCount(of: person) == 1)
        transaction.rollback()
    }

    @Test func `batches of one transaction count each record once`() throws {
        let (database, person, transaction, row) = try Self.begun()
        defer {
            row.deallocate()
            try? database.close()
        }
        for count in 1...3 {
            var batch = RecordBatch()
            for _ in 0..<count {
                batch.insert(
                    person, try transaction.allocateNumber(in: person.hierarchy), row: row)
            }
            try transaction.apply(batch)
        }
        #expect(try transaction.recordCount(of: person) == 6)
        try transaction.commit()
        #expect(try database.snapshot().recordCount(of: person) == 6)
    }

    @Test(arguments: [
        "0", "1", "-1", "0.1", "-0.1", "123456789012345678901234567890.12345678",
        "1e100", "-1e-100", "99", "100", "0.001", "-99.5", "1000000",
    ])
    func `a decimal comes back from its bytes`(text: String) throws {
        let number = try #require(Decimal(string: text))
        var bytes: [UInt8] = []
        DecimalForm.append(number, to: &bytes)
        #expect(bytes.withView { DecimalForm.read($0)?.number } == number)
    }

    @Test func `encoded keys order as values do`() throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["TRELLIS_SEED"] ?? "") ?? 42
        print("seed", seed)
        var state = seed
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16
        }
        func value(_ type: AttributeType) -> Value {
            if random() % 20 == 0 { return .null }
            switch type {
            case .int64: return .int(Int64(bitPattern: random() << (random() % 40)))
            case .double:
                return .double(Double(bitPattern: random() << 20 | random()))
            case .decimal:
                return .decimal(
                    Decimal(Int64(bitPattern: random()) % 100_000) / 1000
                        * (random() % 2 == 0 ? 1 : -1))
            case .date: return .date(Double(random() % 1_000_000) / 7)
            default:
                return .string(
                    String(
                        decoding: (0..<(random() % 5)).map { _ in UInt8(random() % 4) * 31 },
                        as: UTF8.self))
            }
        }
        for type in [AttributeType.int64, .double, .decimal, .date, .string] {
            for _ in 0..<2000 {
                let (left, right) = (value(type), value(type))
                var (a, b) = (KeyEncoder(columnSizeMax: 100), KeyEncoder(columnSizeMax: 100))
                let isEncoded = (
                    a.append(left, as: .attribute(type)), b.append(right, as: .attribute(type))
                )
                #expect(isEncoded.0 && isEncoded.1)
                let keys = a.bytes.withView { a in b.bytes.withView { a.compare($0).signum() } }
                #expect(
                    keys == Value.compare(left, right).signum(), "\(left) \(right) seed \(seed)")
            }
        }
    }
}
