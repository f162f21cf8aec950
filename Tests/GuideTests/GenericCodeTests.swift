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

    private nonisolated static func removeAny<R: ObjectRepresentation>(
        _ representations: [R], in transaction: BaseDataTransaction
    ) -> Int {
        transaction.delete(representations)
    }

    @Test func `a transaction deletes objects by publisher, snapshot and monitor`() throws {
        let dataStack = try stack()
        let ids = try dataStack.perform(synchronous: { transaction in
            "abcdefgh".map { name in
                let plant = Self.make(name == "h" ? Fern.self : Plant.self, in: transaction)
                plant.name = String(name)
                return plant.objectID()
            }
        })
        let plants: [Plant] = dataStack.fetchExisting(ids)
        nonisolated(unsafe) let publisher = plants[0].asPublisher(in: dataStack)
        let snapshots = plants[1...2].compactMap { $0.asSnapshot(in: dataStack) }
        nonisolated(unsafe) let monitor = dataStack.monitorObject(plants[3])
        let list = dataStack.publishList(
            From<Plant>().where(\.$name == "e" || \.$name == "f").orderBy(.ascending(\.$name))
        ).snapshot
        nonisolated(unsafe) let first = plants[0]
        nonisolated(unsafe) let rest = [plants[6], plants[7]]
        let none: ObjectSnapshot<Plant>? = nil

        try dataStack.perform(synchronous: { transaction in
            transaction.delete(publisher)
            #expect(transaction.deletedObjectIDs() == [ids[0]])
            #expect(transaction.delete(snapshots) == 2)
            transaction.delete(monitor)
            #expect(transaction.delete(list) == 2)
            transaction.delete(none, snapshots[0])
            transaction.delete(first, nil)
            #expect(Self.removeAny(rest, in: transaction) == 2)
            #expect(Self.removeAny(rest, in: transaction) == 0)
            #expect(transaction.deletedObjectIDs() == Set(ids))
        })

        #expect(try dataStack.fetchCount(From<Plant>()) == 0)
    }

    private func names<R: ObjectRepresentation>(
        of representation: R, in dataStack: DataStack
    ) throws -> [String?] {
        let publisher = representation.asPublisher(in: dataStack)
        let id = representation.objectID()
        let snapshot = try #require(representation.asSnapshot(in: dataStack))
        #expect(publisher.objectID() == id && snapshot.objectID() == id)
        #expect(representation.cs_dataStack() === dataStack)
        let inTransaction = try dataStack.perform(synchronous: { transaction in
            (transaction.fetchExisting(id) as Plant?)?.name
        })
        return [
            (representation.asReadOnly(in: dataStack) as? Plant)?.name, inTransaction,
            snapshot.dictionaryForValues()["name"] as? String,
        ]
    }

    @Test func `generic code accepts an object, its publisher and its snapshot alike`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            Self.make(Fern.self, in: transaction).name = "a"
        })
        let fern = try #require(try dataStack.fetchOne(From<Fern>()))
        let expected: [String?] = ["a", "a", "a"]

        #expect(try names(of: fern, in: dataStack) == expected)
        #expect(try names(of: fern.asPublisher(in: dataStack), in: dataStack) == expected)
        let snapshot = try #require(fern.asSnapshot())
        #expect(try names(of: snapshot, in: dataStack) == expected)
        // The object's own calls keep its class.
        let own: (ObjectPublisher<Fern>, Fern?, ObjectSnapshot<Fern>?) = (
            fern.asPublisher(in: dataStack), fern.asReadOnly(in: dataStack),
            fern.asSnapshot(in: dataStack)
        )
        #expect(own.0.name == "a" && own.1 === fern && own.2?.$name == "a")
    }

    @Test func `a relationship is compared with a publisher and with a snapshot`() throws {
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
