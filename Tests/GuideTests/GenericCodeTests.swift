import ObjectGraph
import Testing

/// Code that knows its classes by protocols alone.
@MainActor @Suite struct GenericCodeTests {
    class Plant: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("pot") var pot: Pot?
    }

    class Fern: Plant {}

    class Pot: CoreStoreObject {
        @Field.Relationship("plants", inverse: \Plant.$pot) var plants: Set<Plant>
    }

    private func stack() throws -> DataStack {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Plant>("Plant"), Entity<Fern>("Fern"), Entity<Pot>("Pot")]))
        try dataStack.addStorageAndWait(InMemoryStore())
        return dataStack
    }

    private nonisolated static func make<O: DynamicObject>(
        _ type: O.Type, in transaction: BaseDataTransaction
    ) -> O {
        transaction.create(Into<O>())
    }

    private nonisolated static func remove<O: DynamicObject>(
        _ object: O, in transaction: BaseDataTransaction
    ) -> Bool {
        guard let own = transaction.edit(object) else { return false }
        transaction.delete(own)
        return transaction.edit(object) == nil
    }

    private nonisolated static func counts<O: DynamicObject & Hashable>(
        _ type: O.Type, in transaction: BaseDataTransaction
    ) -> [Int] {
        [
            transaction.insertedObjects(type).count, transaction.updatedObjects(type).count,
            transaction.deletedObjects(type).count, transaction.insertedObjectIDs(type).count,
            transaction.updatedObjectIDs(type).count, transaction.deletedObjectIDs(type).count,
        ]
    }

    @Test func `generic code creates, edits, deletes and inspects`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            Self.make(Plant.self, in: transaction).name = "a"
            let fern = Self.make(Fern.self, in: transaction)
            fern.name = "b"
            #expect(Self.counts(Plant.self, in: transaction) == [2, 0, 0, 2, 0, 0])
            #expect(Self.counts(Fern.self, in: transaction) == [1, 0, 0, 1, 0, 0])
            #expect(Self.counts(Pot.self, in: transaction) == [0, 0, 0, 0, 0, 0])
            #expect(transaction.objectHasPersistentChangedValues(fern))
        })
        try dataStack.perform(synchronous: { transaction in
            let plants = try transaction.fetchAll(From<Plant>().orderBy(.ascending(\.$name)))
            plants[0].name = "c"
            #expect(Self.remove(plants[1], in: transaction))
            #expect(Self.counts(Plant.self, in: transaction) == [0, 1, 1, 0, 1, 1])
            #expect(Self.counts(Fern.self, in: transaction) == [0, 0, 1, 0, 0, 1])
            transaction.refreshAndMergeAllObjects()
            #expect(plants[0].name == "c")
        })
        #expect(try dataStack.fetchAll(From<Plant>()).map(\.name) == ["c"])
    }

    @Test func `a relationship is compared with what stands for an object`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let pot = transaction.create(Into<Pot>())
            transaction.create(Into<Plant>()).pot = pot
            _ = transaction.create(Into<Plant>())
        })
        let pot = try #require(try dataStack.fetchOne(From<Pot>()))
        let publisher = pot.asPublisher(in: dataStack)
        let snapshot = pot.asSnapshot(in: dataStack)

        #expect(try dataStack.fetchCount(From<Plant>().where(\.$pot == publisher)) == 1)
        #expect(try dataStack.fetchCount(From<Plant>().where(\.$pot == snapshot)) == 1)
        #expect(try dataStack.fetchCount(From<Plant>().where(\.$pot != publisher)) == 1)
        let none: ObjectSnapshot<Pot>? = nil
        #expect(try dataStack.fetchCount(From<Plant>().where(\.$pot == none)) == 1)
        #expect(try dataStack.fetchCount(From<Plant>().where(\.$pot == nil)) == 1)
    }

    @Test func `clauses of different classes are compared`() {
        #expect(Into<Plant>() == Into<Plant>())
        #expect(!(Into<Plant>() == Into<Pot>()))
        #expect(Into<Plant>("A") == Into<Plant>("A"))
        #expect(!(Into<Plant>("A") == Into<Plant>()))
        let name: ClassName = "Plant"
        #expect(name == "Plant")
    }

    private func keyCount<Clause: OrderByClause>(_ clause: Clause) -> Int {
        clause.sortDescriptors.count
    }

    private func names<Clause: GroupByClause>(_ clause: Clause) -> [String] { clause.keyPaths }

    @Test func `orders and groups are clauses of their own protocols`() {
        #expect(keyCount(OrderBy<Plant>(.ascending(\.$name))) == 1)
        #expect(names(GroupBy<Plant>("name")) == ["name"])
    }

    @Test func `a migration chain is made of a dictionary`() {
        let steps = ["V1": "V2", "V2": "V3"]
        #expect(MigrationChain(steps) == ["V1", "V2", "V3"])
    }

    // MARK: Imports

    private nonisolated static func make<O: ImportableObject>(
        _ type: O.Type, _ sources: [O.ImportSource], in transaction: BaseDataTransaction
    ) throws -> [O] {
        guard let first = sources.first else { return [] }
        let one = try transaction.importObject(Into<O>(), source: first)
        if let one { try transaction.importObject(one, source: first) }
        return try [one].compactMap { $0 }
            + transaction.importObjects(Into<O>(), sourceArray: sources.dropFirst())
    }

    private nonisolated static func merge<O: ImportableUniqueObject>(
        _ type: O.Type, _ sources: [O.ImportSource], in transaction: BaseDataTransaction
    ) throws -> [O] {
        guard let first = sources.first else { return [] }
        let one = try transaction.importUniqueObject(Into<O>(), source: first)
        let rest = try transaction.importUniqueObjects(Into<O>(), sourceArray: sources.dropFirst())
        let again = try transaction.importUniqueObjects(
            Into<O>(), sourceArray: sources, preProcess: { $0 })
        return Set(again) == Set([one].compactMap { $0 } + rest) ? again : []
    }

    @Test func `generic code imports`() throws {
        let dataStack = DataStack(Harbour.schema())
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            let lines = try Self.make(
                LogLine.self, [["text": "a"], ["none": 0], ["text": "b"]], in: transaction)
            #expect(lines.map(\.text) == ["a", "b"])
            let sailors = try Self.merge(
                Sailor.self, [["id": 1, "name": "Ann"], ["id": 2, "name": "Ben"]],
                in: transaction)
            #expect(sailors.map(\.name) == ["Ann", "Ben"])
            #expect(Self.counts(Sailor.self, in: transaction)[0] == 2)
        })
        #expect(try dataStack.fetchCount(From<Sailor>()) == 2)
    }
}
