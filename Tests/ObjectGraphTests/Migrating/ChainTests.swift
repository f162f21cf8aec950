import Foundation
import ObjectGraph
import Testing

/// Chains with several first versions, and entities with earlier names.
@Suite struct ChainTests {
    private enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Person]
            @Field.Relationship("friendOf") var friendOf: Set<Person>
        }
    }
    /// The model of a beta, from which another branch leads to V3.
    private enum Beta {
        final class Person: CoreStoreObject {
            @Field.Stored("nick") var nick: String = ""
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Person]
            @Field.Relationship("friendOf") var friendOf: Set<Person>
        }
    }
    private enum V2 {
        final class Person: CoreStoreObject {
            @Field.Stored("fullName", previousVersionKeyPath: "name") var fullName: String = ""
            @Field.Stored("origin") var origin: String = "V2"
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Person]
            @Field.Relationship("friendOf") var friendOf: Set<Person>
        }
    }
    private enum BetaEnd {
        final class Person: CoreStoreObject {
            @Field.Stored("fullName", previousVersionKeyPath: "nick") var fullName: String = ""
            @Field.Stored("origin") var origin: String = "beta"
            @Field.Stored("left") var left: Bool = true
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Person]
            @Field.Relationship("friendOf") var friendOf: Set<Person>
        }
    }
    private enum V3 {
        final class Human: CoreStoreObject {
            @Field.Stored("label", previousVersionKeyPath: "fullName") var label: String = ""
            @Field.Stored("origin") var origin: String = "V3"
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Human]
            @Field.Relationship("friendOf") var friendOf: Set<Human>
        }
    }
    private enum Single {
        final class Human: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Human]
            @Field.Relationship("friendOf") var friendOf: Set<Human>
        }
    }

    private static let first = CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<V1.Person>("Person")])
    private static let beta = CoreStoreSchema(
        modelVersion: "beta", entities: [Entity<Beta.Person>("Person")])
    private static let betaEnd = CoreStoreSchema(
        modelVersion: "betaEnd", entities: [Entity<BetaEnd.Person>("Person")])
    private static let second = CoreStoreSchema(
        modelVersion: "V2", entities: [Entity<V2.Person>("Person", indexes: [[\.$fullName]])])
    private static let third = CoreStoreSchema(
        modelVersion: "V3",
        entities: [Entity<V3.Human>("Human", previousName: "Person", indexes: [[\.$label]])])

    /// V1 → V2 → V3, and beta → betaEnd → V3.
    private static let chain: MigrationChain = [
        "V1": "V2", "V2": "V3", "beta": "betaEnd", "betaEnd": "V3",
    ]

    private let queue = DispatchQueue(label: "view")
    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("chain-\(UUID().uuidString).trellis")

    private func stack(_ schemas: [CoreStoreSchema], _ chain: MigrationChain = nil) -> DataStack {
        DataStack(
            schemaHistory: SchemaHistory(allSchema: schemas, migrationChain: chain),
            viewContext: .queue(queue))
    }

    private func treeStack() -> DataStack {
        stack([Self.first, Self.beta, Self.betaEnd, Self.second, Self.third], Self.chain)
    }

    private func remove() { try? FileManager.default.removeItem(at: url) }

    private func fillFirst() throws {
        let old = stack([Self.first])
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform { transaction in
            let ada = transaction.create(Into<V1.Person>())
            ada.name = "Ada"
            let bob = transaction.create(Into<V1.Person>())
            bob.name = "Bob"
            ada.friends = [bob]
        }
        old.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// The label, the origin and the friends' labels of each.
    private func people(_ stack: DataStack) throws -> [[String]] {
        try queue.sync {
            try stack.fetchAll(From<V3.Human>().orderBy(.ascending(\.$label))).map { human in
                [human.label, human.origin] + human.friends.map(\.label)
            }
        }
    }

    @Test func `a file follows the branch of the chain that its model is on`() throws {
        defer { remove() }
        try fillFirst()
        let stack = treeStack()
        #expect(
            try stack.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [
                .lightweight(sourceVersion: "V1", destinationVersion: "V2"),
                .lightweight(sourceVersion: "V2", destinationVersion: "V3"),
            ])
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try people(stack) == [["Ada", "V2", "Bob"], ["Bob", "V2"]])
        stack.unsafeRemoveAllPersistentStoresAndWait()
        // A program of the other branch is older too, though the file never had its model.
        let other = self.stack([Self.beta])
        let error = #expect(throws: CoreStoreError.self) {
            try other.addStorageAndWait(
                LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        }
        #expect(error?.storeError?.code == .newerModel)
    }

    /// A version without a route that has the file's entities too, and comes first by its name.
    @Test func `a file was taken for a version that leads nowhere`() throws {
        defer { remove() }
        let old = stack([
            CoreStoreSchema(
                modelVersion: "old",
                entities: [Entity<V2.Person>("Person", indexes: [[\.$fullName]])])
        ])
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform { $0.create(Into<V2.Person>()).fullName = "Ada" }
        old.unsafeRemoveAllPersistentStoresAndWait()
        let twin = CoreStoreSchema(
            modelVersion: "A", entities: [Entity<V2.Person>("Person", indexes: [[\.$fullName]])])
        let stack = stack([Self.first, twin, Self.second, Self.third], ["V1", "V2", "V3"])
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try people(stack) == [["Ada", "V2"]])
    }

    @Test func `the end of a progress came before a part of it`() async throws {
        defer { remove() }
        try fillFirst()
        let stack = treeStack()
        // Nothing serves the view's queue until the storage is there.
        let mayGoOn = DispatchSemaphore(value: 0)
        queue.async { mayGoOn.wait() }
        var kinds: [String] = []
        for try await progress in stack.async.addStorage(LocalStore(fileURL: url)) {
            switch progress {
            case .migrating(_, let progress):
                kinds.append(kinds.isEmpty ? "begin" : "\(progress.fractionCompleted)")
            case .finished: kinds.append("finished")
            }
        }
        mayGoOn.signal()
        #expect(kinds == ["begin", "1.0", "finished"])
    }

    @Test func `a file of another branch reaches the same version by its own steps`() throws {
        defer { remove() }
        let old = stack([Self.beta])
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform(synchronous: { $0.create(Into<Beta.Person>()).nick = "Cy" })
        old.unsafeRemoveAllPersistentStoresAndWait()
        let stack = treeStack()
        #expect(
            try stack.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [
                .lightweight(sourceVersion: "beta", destinationVersion: "betaEnd"),
                .lightweight(sourceVersion: "betaEnd", destinationVersion: "V3"),
            ])
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try people(stack) == [["Cy", "beta"]])
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `renaming an entity keeps its objects and rewrites none`() throws {
        defer { remove() }
        try fillFirst()
        func schema(_ previousName: String?) -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V2",
                entities: [Entity<Single.Human>("Human", previousName: previousName)])
        }
        #expect(Entity<Single.Human>("Human", previousName: "Person").previousName == "Person")
        // Without the earlier name the migration would drop the objects, so it is refused.
        #expect(throws: CoreStoreError.self) {
            try stack([schema(nil)]).addStorageAndWait(LocalStore(fileURL: url))
        }
        for previousName in ["Person", nil] {
            let stack = stack([schema(previousName)])
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try queue.sync {
                let humans = try stack.fetchAll(
                    From<Single.Human>().orderBy(.ascending(\.$name)))
                #expect(humans.map(\.name) == ["Ada", "Bob"])
                #expect(humans.first?.friends.map(\.name) == ["Bob"])
                #expect(humans.last?.friendOf.map(\.name) == ["Ada"])
            }
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
    }
}
