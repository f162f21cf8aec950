import ObjectGraph
import TestSupport
import Testing

private final class Marble: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Relationship("parent") var parent: Marble?
    @Field.Relationship("children", inverse: \.$parent, deleteRule: .cascade)
    var children: Set<Marble>
    @Field.Relationship("keeper") var keeper: Marble?
    @Field.Relationship("kept", inverse: \.$keeper, deleteRule: .cascade) var kept: Set<Marble>
    @Field.Relationship("watcher") var watcher: Marble?
    @Field.Relationship("watched", inverse: \.$watcher) var watched: Set<Marble>
    @Field.Relationship("ward") var ward: Marble?
    @Field.Relationship("guards", inverse: \.$ward, deleteRule: .deny) var guards: Set<Marble>
}

private class Card: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Relationship("box") var box: Box?
}

private final class LongCard: Card {
    @Field.Stored("text") var text: String = ""
}

private final class Box: CoreStoreObject {
    @Field.Relationship("cards", inverse: \.$box, deleteRule: .cascade) var cards: Set<Card>
}

private final class Book: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Relationship("shelf") var shelf: Shelf?
}

private final class Shelf: CoreStoreObject {
    @Field.Relationship("books", inverse: \.$shelf, deleteRule: .cascade) var books: Set<Book>
}

/// Cascades along relationships that mirror a to-one, which read no record of what they delete.
@Suite struct CascadeTests {
    private let stack: DataStack
    private let queue = DispatchQueue(label: "view")

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Marble>("Marble"), Entity<Card>("Card"), Entity<LongCard>("LongCard"),
                    Entity<Box>("Box"), Entity<Book>("Book"), Entity<Shelf>("Shelf"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
    }

    // MARK: Against a model

    /// The links of all marbles by their labels, as a simple model.
    private struct Links: Equatable {
        var parent: [Int: Int] = [:]
        var keeper: [Int: Int] = [:]
        var watcher: [Int: Int] = [:]
        var ward: [Int: Int] = [:]

        /// The marbles that a deletion of this one deletes, in order.
        func doomed(by marble: Int, in living: Set<Int>) -> [Int] {
            var found = [marble]
            var position = 0
            while position < found.count {
                let next = found[position]
                position += 1
                for links in [parent, keeper] {
                    for target in living.sorted()
                    where links[target] == next && !found.contains(target) {
                        found.append(target)
                    }
                }
            }
            return found
        }

        mutating func forget(_ gone: [Int]) {
            for path in [\Links.parent, \.keeper, \.watcher, \.ward] {
                self[keyPath: path] = self[keyPath: path].filter {
                    !gone.contains($0.key) && !gone.contains($0.value)
                }
            }
        }
    }

    private struct Model: Equatable {
        var links = Links()
        var living: Set<Int>
        /// Deleted marbles, in order; and the marbles whose ward a deletion took, which deny it
        /// unless they are deleted too, or have another ward.
        var gone: [Int] = []
        var denials: [Int] = []

        mutating func delete(_ marble: Int) {
            guard living.contains(marble) else { return }
            let doomed = links.doomed(by: marble, in: living)
            for (index, next) in doomed.enumerated() {
                // Marbles that were deleted earlier have lost their wards.
                denials += living.filter {
                    links.ward[$0] == next && !doomed[..<index].contains($0)
                }
            }
            links.forget(doomed)
            living.subtract(doomed)
            gone += doomed
        }

        var isDenied: Bool { denials.contains { living.contains($0) && links.ward[$0] == nil } }
    }

    @Test(arguments: 0..<8)
    func `cascades over cycles and shared targets delete what a model does`(round: Int) throws {
        var random = SeededRandom(for: "cascades \(round)")
        let count = 24
        let ids = try stack.perform(synchronous: { transaction in
            (0..<count).map { label in
                let marble = transaction.create(Into<Marble>())
                marble.label = label
                return marble.objectID()
            }
        })
        var model = Model(living: Set(0..<count))
        for _ in 0..<40 where model.living.count > 4 {
            var next = model
            (next.gone, next.denials) = ([], [])
            let isKept = random.below(5) > 0
            var held: [(Int, Marble)] = []
            do {
                try stack.perform(synchronous: { transaction in
                    held = try change(transaction, ids, &next, &random)
                    if !isKept { try transaction.cancel() }
                })
                #expect(isKept && !next.isDenied, "seed \(random.seed)")
                model = next
            } catch {
                #expect(error == .userCancelled ? !isKept : next.isDenied, "seed \(random.seed)")
            }
            for (label, marble) in held { #expect(marble.label == label, "seed \(random.seed)") }
            let stored = queue.sync { self.stored(ids) }
            #expect(stored.living == model.living, "seed \(random.seed)")
            #expect(stored.links == model.links, "seed \(random.seed)")
        }
    }

    /// A few random changes and deletions; returns some deleted marbles with their labels.
    private func change(
        _ transaction: SynchronousDataTransaction, _ ids: [NSManagedObjectID],
        _ model: inout Model, _ random: inout SeededRandom
    ) throws -> [(Int, Marble)] {
        var held: [(Int, Marble)] = []
        for _ in 0..<random.below(12) {
            let (marble, target) = (random.below(ids.count), random.below(ids.count))
            if random.below(6) == 0 {
                let before = model.gone
                model.delete(marble)
                transaction.delete(objectIDs: [ids[marble]])
                if random.below(2) == 0 { _ = try transaction.fetchCount(From<Marble>()) }
                if model.gone != before, random.below(2) == 0 {
                    held += transaction.deletedObjects(Marble.self).map { ($0.label, $0) }
                }
                continue
            }
            guard model.living.contains(marble), model.living.contains(target),
                let object: Marble = transaction.fetchExisting(ids[marble]),
                let other: Marble = transaction.fetchExisting(ids[target])
            else { continue }
            switch random.below(4) {
            case 0:
                object.parent = other
                model.links.parent[marble] = target
            case 1:
                object.keeper = other
                model.links.keeper[marble] = target
            case 2:
                object.watcher = other
                model.links.watcher[marble] = target
            default:
                object.ward = other
                model.links.ward[marble] = target
            }
            if random.below(4) == 0 { _ = try transaction.fetchCount(From<Marble>()) }
        }
        let gone = Set(model.gone.map { ids[$0] })
        #expect(transaction.deletedObjectIDs() == gone, "seed \(random.seed)")
        // Each deleted object still has its label.
        for object in transaction.deletedObjects(Marble.self) {
            #expect(object.objectID() == ids[object.label], "seed \(random.seed)")
        }
        return held
    }

    private func stored(_ ids: [NSManagedObjectID]) -> Model {
        var model = Model(living: [])
        for id in ids {
            guard let marble: Marble = stack.fetchExisting(id) else { continue }
            model.living.insert(marble.label)
            model.links.parent[marble.label] = marble.parent?.label
            model.links.keeper[marble.label] = marble.keeper?.label
            model.links.watcher[marble.label] = marble.watcher?.label
            model.links.ward[marble.label] = marble.ward?.label
        }
        return model
    }

    // MARK: Unread rows

    /// One marble with three children.
    private func family() throws -> (parent: NSManagedObjectID, children: [NSManagedObjectID]) {
        try stack.perform(synchronous: { transaction in
            let parent = transaction.create(Into<Marble>())
            let children = (1...3).map { label in
                let child = transaction.create(Into<Marble>())
                child.label = label
                child.parent = parent
                return child.objectID()
            }
            return (parent.objectID(), children)
        })
    }

    @Test func `a cascade reads no record of the objects that it deletes`() throws {
        func lookups(of count: Int) throws -> UInt64 {
            let id = try stack.perform(synchronous: { transaction in
                let shelf = transaction.create(Into<Shelf>())
                for _ in 0..<count {
                    let book = transaction.create(Into<Book>())
                    book.shelf = shelf
                    // Few records fit in a leaf, so that reading them one by one looks up many
                    // pages.
                    book.title = String(repeating: "a", count: 3000)
                }
                return shelf.objectID()
            })
            return try stack.perform(synchronous: { transaction in
                let before = stack.statistics.pageLookups
                transaction.delete(objectIDs: [id])
                #expect(transaction.deletedObjectIDs().count == count + 1)
                return stack.statistics.pageLookups - before
            })
        }
        _ = try lookups(of: 1)
        #expect(try lookups(of: 10) == lookups(of: 30))
    }

    @Test(arguments: [false, true])
    func `an object deleted by a cascade keeps its values afterwards`(cancels: Bool) throws {
        let (parent, children) = try family()
        var held: Set<Marble> = []
        do {
            try stack.perform(synchronous: { transaction in
                transaction.delete(objectIDs: [parent])
                // Flushed: the transaction has no record of them any more.
                _ = try transaction.fetchCount(From<Marble>())
                held = transaction.deletedObjects(Marble.self)
                if cancels { try transaction.cancel() }
            })
        } catch {
            #expect(error == .userCancelled && cancels)
        }
        #expect(Set(held.map(\.label)) == [0, 1, 2, 3])
        #expect(Set(held.map { $0.objectID() }) == Set(children + [parent]))
    }

    @Test func `an object changed before a cascade deleted it keeps the change`() throws {
        let (parent, children) = try family()
        try stack.perform(synchronous: { transaction in
            do {
                let child: Marble = try #require(transaction.fetchExisting(children[1]))
                child.label = 20
            }
            _ = try transaction.fetchCount(From<Marble>())
            transaction.delete(objectIDs: [parent])
            _ = try transaction.fetchCount(From<Marble>())
            #expect(Set(transaction.deletedObjects(Marble.self).map(\.label)) == [0, 1, 20, 3])
        })
    }

    @Test func `a cascade deletes objects of subentities too`() throws {
        let id = try stack.perform(synchronous: { transaction in
            let box = transaction.create(Into<Box>())
            let long = transaction.create(Into<LongCard>())
            (long.label, long.text) = (1, "long")
            long.box = box
            let short = transaction.create(Into<Card>())
            short.label = 2
            short.box = box
            return box.objectID()
        })
        try stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [id])
            #expect(transaction.deletedObjects(LongCard.self).map(\.text) == ["long"])
            #expect(Set(transaction.deletedObjects(Card.self).map(\.label)) == [1, 2])
        })
        #expect(try queue.sync { try stack.fetchCount(From<Card>()) } == 0)
    }
}
