import Foundation
import ObjectGraph
import PageStore
import Testing

@testable import RecordStore

private class Creature: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

private final class Hound: Creature {
    @Field.Relationship("owner", inverse: \Keeper.$pets) var owner: Keeper?
    @Field.Relationship("rider", inverse: \Keeper.$ridden) var rider: Keeper?
    @Field.Relationship("walkers", inverse: \Keeper.$walked) var walkers: Set<Keeper>
}

private final class Kitten: Creature {
    @Field.Stored("lives") var lives: Int = 9
}

private final class Keeper: CoreStoreObject {
    @Field.Relationship("pets") var pets: Set<Creature>
    @Field.Relationship("ridden") var ridden: Creature?
    @Field.Relationship("walked") var walked: Set<Creature>
}

/// An inverse that is declared below one end of its relationship, so that not every object there
/// can have both: such a link wrote into another property of its object.
@Suite struct NarrowInverseTests {
    private static func stack(at url: URL? = nil) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Creature>("Creature"), Entity<Hound>("Hound"), Entity<Kitten>("Kitten"),
                    Entity<Keeper>("Keeper"),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        if let url {
            try stack.addStorageAndWait(LocalStore(fileURL: url))
        } else {
            try stack.addStorageAndWait(InMemoryStore())
        }
        return stack
    }

    @Test func `no relationship takes an object without the inverse`() async {
        await #expect(processExitsWith: .success) {
            CoreStoreDefaults.logger = TestLogger()
            let stack = try Self.stack()
            try stack.perform(synchronous: { transaction in
                let owner = transaction.create(Into<Keeper>())
                let dog = transaction.create(Into<Hound>())
                let cat = transaction.create(Into<Kitten>())
                for _ in 0..<8 { _ = transaction.create(Into<Keeper>()) }
                owner.pets.insert(dog)
                owner.pets.insert(cat)
                owner.ridden = dog
                owner.ridden = cat
                try #require(owner.pets == [dog] && owner.ridden == dog)
                owner.pets = [cat]
                try #require(owner.pets == [dog] && cat.lives == 9)
                try #require(dog.owner == owner && dog.rider == owner)
            })
            let lives = try stack.perform(synchronous: { transaction in
                try transaction.fetchAll(From<Kitten>()).map(\.lives)
            })
            try #require(lives == [9])
        }
    }

    /// The file has what earlier versions of the library stored.
    @Test func `a list with such a link can be changed`() async {
        await #expect(processExitsWith: .success) {
            CoreStoreDefaults.logger = TestLogger()
            let url = Zoo.temporaryURL()
            defer { try? FileManager.default.removeItem(at: url) }
            let made = try Self.stack(at: url)
            try made.perform(synchronous: { transaction in
                let hound = transaction.create(Into<Hound>())
                _ = transaction.create(Into<Kitten>())
                transaction.create(Into<Keeper>()).walked = [hound]
            })
            try made.close()
            try editTrees(of: url) { transaction, catalog in
                func link(_ name: String, _ owner: UInt8, _ target: UInt8) throws {
                    let zeros = [UInt8](repeating: 0, count: 7)
                    let key = zeros + [owner] + zeros + [target]
                    let tree = try #require(try catalog.tree(name, of: transaction))
                    _ = try transaction.insert(key.span, [UInt8]().span, into: tree)
                }
                try link("links/Keeper/walked", 1, 2)
                try link("links/Hound/walkers", 2, 1)
            }
            let stack = try Self.stack(at: url)
            try stack.perform(synchronous: { transaction in
                let keeper = try #require(try transaction.fetchOne(From<Keeper>()))
                let hound = try #require(try transaction.fetchOne(From<Hound>()))
                let kitten = try #require(try transaction.fetchOne(From<Kitten>()))
                try #require(keeper.walked == [hound, kitten])
                keeper.walked.insert(transaction.create(Into<Kitten>()))
                try #require(keeper.walked == [hound, kitten])
                let other = transaction.create(Into<Hound>())
                keeper.walked.insert(other)
                keeper.walked.remove(hound)
                try #require(keeper.walked == [kitten, other] && hound.walkers.isEmpty)
            })
            try stack.close()
        }
    }

    @Test func `a link that the inverse does not allow is asserted`() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let stack = try Self.stack()
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Keeper>()).pets.insert(transaction.create(Into<Kitten>()))
            })
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        let message =
            "Keeper.pets was given a Kitten, and its inverse does not lead from Kitten to "
            + "Keeper"
        #expect(text?.contains(message) == true)
    }
}
