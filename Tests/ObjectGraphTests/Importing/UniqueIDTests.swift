import Testing

@testable import ObjectGraph

/// Unique IDs of another type than their attribute, and IDs that Swift considers equal and the
/// store does not.
@Suite struct UniqueIDTests {
    final class Part: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("number") var number: Int32 = 0
        @Field.Stored("text") var text: String = ""

        typealias ImportSource = (id: Int, text: String)
        static var uniqueIDKeyPath: String { "number" }
        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> Int? { source.id }
        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            text = source.text
        }
    }

    /// Its attribute can store no ID.
    final class Broken: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("number") var number: Int = 0

        typealias ImportSource = String
        static var uniqueIDKeyPath: String { "number" }
        static func uniqueID(
            from source: String, in transaction: BaseDataTransaction
        ) throws -> String? { source }
        func update(from source: String, in transaction: BaseDataTransaction) throws {}
    }

    /// A source may change the ID of its object.
    final class Place: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("text") var text: String = ""

        typealias ImportSource = (name: String, newName: String?, text: String)
        static var uniqueIDKeyPath: String { "name" }
        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> String? { source.name }
        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            if let newName = source.newName { name = newName }
            text = source.text
        }
    }

    private static let queue = DispatchQueue(label: "view")

    private static func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Part>("Part", uniqueConstraints: [[\.$number]]),
                    Entity<Place>("Place", uniqueConstraints: [[\.$name]]),
                    Entity<Broken>("Broken"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `an attribute may be narrower than the unique ID`() throws {
        let stack = try Self.stack()
        for round in 0..<2 {
            try stack.perform(synchronous: { transaction in
                let parts = try transaction.importUniqueObjects(
                    Into<Part>(),
                    sourceArray: [(-5, "a\(round)"), (7, "b\(round)"), (-5, "c\(round)")])
                #expect(parts.map(\.uniqueIDValue) == [-5, 7])
            })
        }
        let parts = try Self.queue.sync {
            try stack.fetchAll(From<Part>().orderBy(.ascending(\.$number)))
                .map { ($0.number, $0.text) }
        }
        #expect(parts.map(\.0) == [-5, 7])
        #expect(parts.map(\.1) == ["c1", "b1"])
    }

    @Test func `an ID that its attribute cannot store overwrote the row`() async throws {
        await #expect(processExitsWith: .failure) {
            let stack = try UniqueIDTests.stack()
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importUniqueObject(Into<Broken>(), source: "one")
            })
        }
        await #expect(processExitsWith: .failure) {
            let stack = try UniqueIDTests.stack()
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Part>()).uniqueIDValue = 1 << 40
            })
        }
    }

    @Test(arguments: [1 << 40, -1 << 40, Int.max])
    func `a number that its attribute has no room for ended the process`(id: Int) throws {
        let stack = try Self.stack()
        try stack.perform(synchronous: { transaction in
            let single = #expect(throws: CoreStoreError.self) {
                _ = try transaction.importUniqueObject(Into<Part>(), source: (id, "wide"))
            }
            let several = #expect(throws: CoreStoreError.self) {
                _ = try transaction.importUniqueObjects(
                    Into<Part>(), sourceArray: [(7, "before"), (id, "wide"), (8, "after")])
            }
            for error in [single, several] {
                guard case .internalError(let cause)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(cause.localizedDescription.contains("\(id)"))
            }
        })
        let texts = try Self.queue.sync { try stack.fetchAll(From<Part>()).map(\.text) }
        #expect(texts == ["before"])
    }

    /// Swift considers the two texts equal; the store does not.
    @Test func `a source changed an ID to a text that Swift considers equal`() throws {
        let stack = try Self.stack()
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        try stack.perform(synchronous: { transaction in
            let places = try transaction.importUniqueObjects(
                Into<Place>(),
                sourceArray: [
                    (composed, decomposed, "first"), (decomposed, nil, "second"),
                ])
            #expect(places.count == 2 && places[0] === places[1])
        })
        let places = try Self.queue.sync {
            try stack.fetchAll(From<Place>()).map { (Array($0.name.utf8), $0.text) }
        }
        #expect(places.map(\.0) == [Array(decomposed.utf8)])
        #expect(places.map(\.1) == ["second"])
    }
}
