import ObjectGraph
import Testing

/// A unique constraint that is declared after objects were stored.
@Suite struct AddedConstraintTests {
    private final class Pot: CoreStoreObject {
        @Field.Stored("label") var label: String = ""
        @Field.Stored("size") var size: Int?
    }

    private let queue = DispatchQueue(label: "view")

    private func open(_ url: URL, _ constraints: [[PartialKeyPath<Pot>]]) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Pot>("Pot", uniqueConstraints: constraints)]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    private func fill(_ url: URL, _ pots: [(String, Int?)]) throws {
        let stack = try open(url, [])
        try stack.perform(synchronous: { transaction in
            for pot in pots {
                let made = transaction.create(Into<Pot>())
                (made.label, made.size) = pot
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a constraint over duplicates is refused with the first pair`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url, [("b", 1), ("a", 2), ("b", 3), ("a", 2), ("c", 1)])
        let before = try Data(contentsOf: url)
        let error = #expect(throws: CoreStoreError.self) {
            try open(url, [[\.$label, \.$size]])
        }
        let message = error?.storeError?.message ?? ""
        for part in ["Pot", "label", "size", "“a”", "2", "object 2", "object 4"] {
            #expect(message.contains(part), "\(part) in: \(message)")
        }
        #expect(try Data(contentsOf: url) == before)
        let stack = try open(url, [])
        #expect(try queue.sync { try stack.fetchCount(From<Pot>()) } == 5)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `nil is no duplicate, and without duplicates a constraint is added`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url, [("a", nil), ("a", nil), ("a", 1), ("b", 1)])
        let stack = try open(url, [[\.$label, \.$size]])
        try stack.perform(synchronous: { transaction in
            let pot = transaction.create(Into<Pot>())
            (pot.label, pot.size) = ("a", 1)
        })
        #expect(try queue.sync { try stack.fetchCount(From<Pot>()) } == 4)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
