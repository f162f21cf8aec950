import ObjectGraph

final class Person: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Virtual(
        "initial", customGetter: { object, _ in object.$name.value.first.map { String($0) } })
    var initial: String?

    typealias ImportSource = [String: String]
    typealias UniqueIDType = String
    static var uniqueIDKeyPath: String { "name" }

    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["name"]
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        age = source["age"].flatMap { Int($0) } ?? age
    }
}

final class Note: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
}

enum People {
    static func stack() throws -> DataStack {
        let dataStack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person")]))
        try dataStack.addStorageAndWait(InMemoryStore())
        return dataStack
    }
}
