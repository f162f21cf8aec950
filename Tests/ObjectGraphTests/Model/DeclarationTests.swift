import ObjectGraph
import Testing

// Both sides are built at run time, because plain declarations are a cycle to the compiler.
private final class Husband: CoreStoreObject {
    @Field.Relationship("wife", inverse: toHusband) var wife: Wife?
}

private final class Wife: CoreStoreObject {
    @Field.Relationship("husband", inverse: \.$wife) var husband: Husband?
}

private var toHusband: KeyPath<Wife, FieldContainer<Wife>.Relationship<Husband?>> {
    \Wife.$husband
}

private final class Parent: CoreStoreObject {
    @Field.Relationship("children") var children: Set<Child>
}

private final class Child: CoreStoreObject {
    @Field.Relationship("parent") var parent: Parent?
}

private final class Reader: CoreStoreObject {
    @Field.Relationship("lent", inverse: \.$holder) var lent: [Volume]
}

private final class Author: CoreStoreObject {
    @Field.Relationship("written", inverse: \.$holder) var written: Set<Volume>
}

private final class Volume: CoreStoreObject {
    @Field.Relationship("holder") var holder: Reader?
}

/// Mistakes of a program that the library asserts.
@Suite struct DeclarationTests {
    private func expectAssertion(
        _ words: [String], _ result: ExitTest.Result?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        for word in words {
            #expect(said.contains(word), "\(said)", sourceLocation: sourceLocation)
        }
    }

    @Test func `an inverse declared on both sides is asserted`() async {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            _ = CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Husband>("Husband"), Entity<Wife>("Wife")])
        }
        expectAssertion(["Husband.wife and Wife.husband", "each declare"], result)
    }

    @Test func `an inverse declared on neither side is asserted`() async {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            _ = CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Parent>("Parent"), Entity<Child>("Child")])
        }
        expectAssertion(
            ["inverse relationship of Child.parent could not be found", "Parent.children"], result)
    }

    @Test func `an inverse with another destination is refused when the store opens`() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Reader>("Reader"), Entity<Author>("Author"), Entity<Volume>("Volume"),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        let error = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(InMemoryStore())
        }
        #expect(error?.storeError?.code == .invalidModel)
        #expect(error?.storeError?.message.contains("Author.written") == true)
    }

    /// As in a release build: the program goes on after what is asserted.
    @Test func `an entity name used twice with a version lock ended the program silently`()
        async
    {
        let result = await #expect(
            processExitsWith: .exitCode(78), observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger()
            let stack = DataStack(
                CoreStoreSchema(
                    modelVersion: "V1",
                    entities: [Entity<Parent>("Twin"), Entity<Child>("Twin")],
                    versionLock: ["Twin": [1, 2, 3, 4]]),
                viewContext: .queue(DispatchQueue(label: "view")))
            do throws(CoreStoreError) {
                try stack.addStorageAndWait(InMemoryStore())
            } catch {
                FileHandle.standardError.write(Data("refused: \(error)\n".utf8))
                exit(error.storeError == nil ? 79 : 78)
            }
        }
        expectAssertion(["refused: ", "Twin"], result)
    }

    @Test func `a schema that differs from its version lock is asserted`() async {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            _ = CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Toy>("Toy"), Entity<Person>("Person"),
                    Entity<Animal>("Animal"), Entity<Debt>("Debt"),
                ],
                versionLock: ["Toy": [1, 2, 3, 4]])
        }
        expectAssertion(["differs from its version lock", "\"Toy\": [0x1, 0x2, 0x3, 0x4]"], result)
    }

    @Test func `an object of another context is not taken into a transaction`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).email = "a"
            })
            let person = try #require(try queue.sync { try stack.fetchOne(From<Person>()) })
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Toy>()).owner = person
            })
        }
        expectAssertion(["Toy.owner was given an object of another context"], result)
    }

    @Test func `an object of the view is not changed`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).email = "a"
            })
            let person = try #require(try queue.sync { try stack.fetchOne(From<Person>()) })
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            queue.sync { person.name = "outside" }
        }
        expectAssertion(["changed outside of a transaction"], result)
    }

    @Test func `an object is not changed after its transaction has ended`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, _) = try Zoo.stack()
            let leaked = try stack.perform(synchronous: { $0.create(Into<Person>()) })
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            leaked.name = "too late"
        }
        expectAssertion(["after its transaction had ended"], result)
    }

    @Test func `links read after their transaction had ended seemed empty`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, _) = try Zoo.stack()
            let person = try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                transaction.create(Into<Toy>()).owner = person
                return person
            })
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            _ = person.toys
        }
        expectAssertion(["the links of an object were read after"], result)
    }

    @Test func `an object takes no link to a deleted one`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, _) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                let toy = transaction.create(Into<Toy>())
                transaction.delete(person)
                CoreStoreDefaults.logger = TestLogger(assertion: .exit)
                toy.owner = person
            })
        }
        expectAssertion(["Toy.owner was given an object that is deleted"], result)
    }

    @Test func `a transaction does not close the storages that it changes`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, _) = try Zoo.stack()
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            try stack.perform(synchronous: { _ in
                stack.unsafeRemoveAllPersistentStoresAndWait()
            })
        }
        expectAssertion(["cannot close the storages"], result)
    }
}
