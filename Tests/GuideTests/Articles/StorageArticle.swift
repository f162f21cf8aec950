import ObjectGraph
import Testing

/// The code of the article Storage and durability.
@MainActor @Suite struct StorageArticle {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Person>
        @Field.Relationship("friendOf") var friendOf: Set<Person>
    }

    @Test func `an error's code is looked at, and a relationship is loaded`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person")]))
        try dataStack.addStorageAndWait(InMemoryStore())

        do {
            try dataStack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).name = "Ada"
            })
        } catch {
            switch error.storeError?.code {
            case .diskFull?:
                break  // Nothing was written. Make room, and try again.
            case .commitUncertain?:
                break  // The file may have the commit. Open the store anew, and look.
            case .poisoned?, .io?:
                break  // A write before it failed; nothing of this commit was written.
            default:
                break
            }
        }

        let person = try #require(try dataStack.fetchOne(From<Person>()))
        let friends = try person.load(\.$friends)
        #expect(person.name == "Ada" && friends.isEmpty)
    }
}
