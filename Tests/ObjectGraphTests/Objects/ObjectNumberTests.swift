import Foundation
import ObjectGraph
import Testing

/// IDs of objects that were never committed find nothing, for good.
@Suite struct ObjectNumberTests {
    /// Opens a store, lets a program use it, and closes it again.
    private func use<Result>(
        _ url: URL, _ body: (DataStack, DispatchQueue) throws -> Result
    ) throws -> Result {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return try body(stack, queue)
    }

    private func cancelled(_ stack: DataStack) -> NSManagedObjectID? {
        var id: NSManagedObjectID?
        try? stack.perform(synchronous: { transaction in
            id = transaction.create(Into<Toy>()).objectID()
            try transaction.cancel()
        })
        return id
    }

    private func created(_ stack: DataStack) throws -> NSManagedObjectID {
        try stack.perform(synchronous: { $0.create(Into<Toy>()).objectID() })
    }

    @Test func `a cancelled transaction's object is never another one`() throws {
        let (stack, queue) = try Zoo.stack()
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        var lost: Toy?
        try? stack.perform(synchronous: { transaction in
            lost = transaction.create(Into<Toy>())
            try transaction.cancel()
        })
        let kept = try created(stack)
        let toy = try #require(lost)
        #expect(toy.objectID() != kept)
        queue.sync { #expect(stack.fetchExisting(toy) == nil) }
        try stack.perform(synchronous: { $0.delete(toy) })
        #expect(try queue.sync { try stack.fetchCount(From<Toy>()) } == 1)
    }

    @Test func `a cancelled transaction's ID leads to nothing after a reopening`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let lost = try use(url) { stack, _ in
            try #require(cancelled(stack)).uriRepresentation()
        }
        let later = try use(url) { stack, _ in
            try (0..<3).map { _ in try created(stack).uriRepresentation() }
        }
        #expect(!later.contains(lost))
    }

    @Test func `a cancelled transaction's ID leads to nothing after a crash`() throws {
        let (url, image) = (Zoo.temporaryURL(), Zoo.temporaryURL())
        defer {
            try? FileManager.default.removeItem(at: url)
            try? FileManager.default.removeItem(at: image)
        }
        let lost = try use(url) { stack, _ in
            _ = try created(stack)
            let lost = try #require(cancelled(stack)).uriRepresentation()
            try FileManager.default.copyItem(at: url, to: image)
            return lost
        }
        let later = try use(image) { stack, _ in
            try (0..<3).map { _ in try created(stack).uriRepresentation() }
        }
        #expect(!later.contains(lost))
    }

    @Test func `the number of a unique conflict's loser is not used again`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let lost = try use(url) { stack, _ in
            try stack.perform(synchronous: { $0.create(Into<Person>()).email = "a" })
            let ids = try stack.perform(synchronous: { transaction in
                let pair = [transaction.create(Into<Person>()), transaction.create(Into<Person>())]
                for person in pair { person.email = "a" }
                return pair.map { $0.objectID().uriRepresentation() }
            })
            return Set(ids)
        }
        try use(url) { stack, _ in
            let later = try (0..<3).map { round -> URL in
                try stack.perform(synchronous: { transaction in
                    let person = transaction.create(Into<Person>())
                    person.email = "later \(round)"
                    return person.objectID().uriRepresentation()
                })
            }
            #expect(lost.isDisjoint(with: later))
        }
    }
}
