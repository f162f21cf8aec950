import Foundation
import ObjectGraph
import Testing

/// Mappings to a version that differs from the one before by a unique constraint alone.
@Suite struct MappedConstraintTests {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("isCopy") var isCopy: Bool = false
    }

    private typealias Mapping = CustomSchemaMappingProvider.CustomMapping

    private let queue = DispatchQueue(label: "view")
    private let url = Zoo.temporaryURL()

    private func remove() { try? FileManager.default.removeItem(at: url) }

    private func schema(_ version: ModelVersion, _ entity: Entity<Person>) -> CoreStoreSchema {
        CoreStoreSchema(modelVersion: version, entities: [entity])
    }

    private func stack(_ schemas: [CoreStoreSchema], isChain: Bool = false) -> DataStack {
        let names = isChain ? schemas.map(\.modelVersion) : []
        return DataStack(
            schemaHistory: SchemaHistory(
                allSchema: schemas, migrationChain: MigrationChain(names),
                exactCurrentModelVersion: schemas.last?.modelVersion),
            viewContext: .queue(queue))
    }

    private func storage(_ transformer: @escaping Mapping.Transformer) -> LocalStore {
        LocalStore(
            fileURL: url,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(
                    from: "V1", to: "V2",
                    entityMappings: [
                        .transformEntity(
                            sourceEntity: "Person", destinationEntity: "Person",
                            transformer: transformer)
                    ])
            ])
    }

    private func fill(
        _ schema: CoreStoreSchema, _ people: [(name: String, email: String)]
    ) throws {
        let stack = stack([schema])
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            var names: Set<String> = []
            for (name, email) in people {
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = (name, email)
                person.isCopy = !names.insert(name).inserted
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func add(_ stack: DataStack, _ storage: LocalStore) async throws {
        let (failures, sink) = AsyncStream<CoreStoreError?>.makeStream()
        stack.addStorage(storage) { result in
            if case .failure(let error) = result { sink.yield(error) } else { sink.yield(nil) }
        }
        for await failure in failures {
            if let failure { throw failure }
            return
        }
    }

    private func emails(_ stack: DataStack) throws -> [String] {
        try queue.sync {
            try stack.fetchAll(From<Person>().orderBy(.ascending(\.$email))).map(\.email)
        }
    }

    @Test(arguments: [false, true])
    func `a mapping that drops the duplicates of a new constraint was not run`(
        isChain: Bool
    ) async throws {
        defer { remove() }
        let first = schema("V1", Entity<Person>("Person"))
        let second = schema("V2", Entity<Person>("Person", uniqueConstraints: [[\.$name]]))
        try fill(first, [("Ada", "a"), ("Bob", "b"), ("Ada", "c")])
        let transformer: Mapping.Transformer = { source, create in
            guard source["isCopy"] as? Bool != true else { return }
            try Mapping.inferredTransformation(source, create)
        }
        let schemas = isChain ? [first, second] : [second]
        let later = stack(schemas, isChain: isChain)
        #expect(
            try later.requiredMigrationsForStorage(storage(transformer))
                == [.heavyweight(sourceVersion: "V1", destinationVersion: "V2")])
        let refused = #expect(throws: CoreStoreError.self) {
            try later.addStorageAndWait(storage(transformer))
        }
        #expect(refused?.storeError?.code == .schemaMismatch)
        try await add(later, storage(transformer))
        #expect(try emails(later) == ["a", "b"])
        later.unsafeRemoveAllPersistentStoresAndWait()
        let again = stack(schemas, isChain: isChain)
        #expect(try again.requiredMigrationsForStorage(storage(transformer)) == [])
        try again.addStorageAndWait(storage(transformer))
        #expect(try emails(again) == ["a", "b"])
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// The mapping makes values of the constraint that the file has already.
    @Test func `a constraint of both versions was not checked after such a mapping`() async throws {
        defer { remove() }
        let first = schema("V1", Entity<Person>("Person", uniqueConstraints: [[\.$email]]))
        let second = schema(
            "V2", Entity<Person>("Person", uniqueConstraints: [[\.$email], [\.$name]]))
        try fill(first, [("Ada", "a"), ("Bob", "A")])
        let later = stack([first, second], isChain: true)
        var failure: CoreStoreError?
        do {
            try await add(
                later,
                storage { source, create in
                    let person = create()
                    person["name"] = source["name"]
                    person["email"] = (source["email"] as? String)?.lowercased()
                })
        } catch {
            failure = error as? CoreStoreError
        }
        #expect(failure?.storeError?.code == .duplicateValues)
        later.unsafeRemoveAllPersistentStoresAndWait()
        let earlier = stack([first])
        try earlier.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try emails(earlier) == ["A", "a"])
        earlier.unsafeRemoveAllPersistentStoresAndWait()
    }
}
