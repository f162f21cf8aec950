import ObjectGraph
import Testing

private final class Car: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Relationship("next", inverse: \.$previous, deleteRule: .cascade) var next: Car?
    @Field.Relationship("previous") var previous: Car?
}

private final class Album: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Relationship("cover") var cover: Picture?
    @Field.Relationship("pictures") var pictures: [Picture]
    @Field.Relationship("favourites") var favourites: Set<Picture>
    @Field.Relationship("pair", minCount: 2, maxCount: 3) var pair: [Picture]
}

private final class Picture: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

/// The objects and links that a deletion removes, and its cost.
@Suite struct DeletionTests {
    private func stack() throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Car>("Car"), Entity<Album>("Album"), Entity<Picture>("Picture"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return (stack, queue)
    }

    @Test func `a cascade runs down a chain of any length`() throws {
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        let count = isLong ? 100_000 : 5_000
        let (stack, queue) = try stack()
        let first = try stack.perform(synchronous: { transaction in
            var last: Car?
            var first: Car?
            for number in 0..<count {
                let car = transaction.create(Into<Car>())
                car.number = number
                last?.next = car
                (first, last) = (first ?? car, car)
            }
            return try #require(first).objectID()
        })
        try stack.perform(synchronous: { transaction in
            let car: Car? = transaction.fetchExisting(first)
            transaction.delete(car)
            #expect(transaction.deletedObjectIDs().count == count)
        })
        #expect(try queue.sync { try stack.fetchCount(From<Car>()) } == 0)
    }

    @Test(arguments: [false, true])
    func `a deletion counts objects that a cascade deleted first`(reversed: Bool) throws {
        let (stack, _) = try stack()
        try stack.perform(synchronous: { transaction in
            let cars = (0..<5).map { _ in transaction.create(Into<Car>()) }
            for (car, next) in zip(cars, cars.dropFirst()) { car.next = next }
            let doomed = reversed ? Array(cars.reversed()) : cars
            #expect(transaction.delete(doomed + doomed) == 5)
            #expect(transaction.delete(doomed) == 0)
        })
    }

    /// Deletes from the last to the first: a search for each would walk over all before it.
    private func timeOfDeleting(_ count: Int) throws -> Double {
        let (stack, _) = try stack()
        var time = 0.0
        try stack.perform(synchronous: { transaction in
            let pictures = (0..<count).map { _ in transaction.create(Into<Picture>()) }
            time = ThreadTime.of { transaction.delete(pictures.reversed()) }
            #expect(!transaction.hasChanges)
        })
        return time
    }

    @Test func `the cost of deleting a new object does not grow with their number`() throws {
        let small = try (0..<3).map { _ in try timeOfDeleting(1_000) }.min()
        let large = try (0..<3).map { _ in try timeOfDeleting(16_000) }.min()
        let ratio = try #require(large) / #require(small)
        // Sixteen times the objects: sixteen times the work, and not 256 times.
        #expect(ratio < 80, "\(ratio)")
    }

    @Test func `an object created, flushed and deleted in one transaction is gone`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let picture = transaction.create(Into<Picture>())
            let id = picture.objectID()
            let before = try transaction.fetchCount(From<Picture>())
            #expect(before == 1)
            transaction.delete(picture)
            #expect(transaction.fetchExisting(id) as Picture? == nil)
            let after = try transaction.fetchCount(From<Picture>())
            #expect(after == 0)
            #expect(transaction.fetchExisting(id) as Picture? == nil)
            #expect(!transaction.hasChanges)
            transaction.create(Into<Album>()).title = "kept"
        })
        #expect(try queue.sync { try stack.fetchCount(From<Picture>()) } == 0)
        #expect(try queue.sync { try stack.fetchCount(From<Album>()) } == 1)
    }

    @Test func `a deleted object is removed from relationships without an inverse`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let pictures = (0..<3).map { number in
                let picture = transaction.create(Into<Picture>())
                picture.name = "\(number)"
                return picture
            }
            let album = transaction.create(Into<Album>())
            album.cover = pictures[1]
            album.pictures = [pictures[2], pictures[1], pictures[0]]
            album.favourites = [pictures[1], pictures[2]]
        })
        try stack.perform(synchronous: { transaction in
            let picture = try transaction.fetchOne(From<Picture>().where(\.$name == "1"))
            transaction.delete(picture)
        })
        try queue.sync { () throws in
            let album = try #require(try stack.fetchOne(From<Album>()))
            #expect(album.cover == nil)
            #expect(album.pictures.map(\.name) == ["2", "0"])
            #expect(album.favourites.map(\.name) == ["2"])
            #expect(
                try stack.fetchCount(From<Album>().where(format: "pictures.@count == 2")) == 1)
        }
    }

    @Test func `a minimum count applies to a list that is not empty`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Album>()).title = "empty"
        })
        for count in [1, 4] {
            let failure = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { transaction in
                    let album = try #require(try transaction.fetchOne(From<Album>()))
                    album.pair = (0..<count).map { _ in transaction.create(Into<Picture>()) }
                })
            }
            #expect(failure?.description.contains("Album.pair leads to \(count)") == true)
        }
        try stack.perform(synchronous: { transaction in
            let album = try #require(try transaction.fetchOne(From<Album>()))
            album.pair = (0..<2).map { _ in transaction.create(Into<Picture>()) }
        })
        #expect(try queue.sync { try stack.fetchCount(From<Picture>()) } == 2)
    }

    /// A bug: only a change of its owner had a list counted, and no inverse leads to that.
    @Test(arguments: [0, 1, 2])
    func `a deleted member left a list with fewer than its least count`(_ form: Int) throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let album = transaction.create(Into<Album>())
            album.pair = (0..<3).map { _ in transaction.create(Into<Picture>()) }
            for (number, picture) in album.pair.enumerated() { picture.name = "\(number)" }
        })
        func delete(_ names: String...) throws {
            let meant = From<Picture>().where(format: "name IN %@", names)
            guard form == 2 else {
                return try stack.perform(synchronous: { transaction in
                    if form == 0 {
                        transaction.delete(try transaction.fetchAll(meant))
                    } else {
                        _ = try transaction.deleteAll(meant)
                    }
                })
            }
            let transaction = stack.beginUnsafe()
            transaction.delete(try transaction.fetchAll(meant))
            try transaction.commitAndWait()
        }
        try delete("0")
        let failure = #expect(throws: CoreStoreError.self) { try delete("1") }
        #expect(failure?.violations.map(\.kind) == [.count])
        #expect(failure?.violations.first?.keyPaths == ["pair"])
        #expect(try queue.sync { try stack.fetchCount(From<Picture>()) } == 2)
        // An empty list is always accepted.
        try delete("1", "2")
        #expect(try queue.sync { try stack.fetchCount(From<Picture>()) } == 0)
    }

    private final class Shelf: CoreStoreObject {
        @Field.Relationship("items", inverse: \.$shelf, deleteRule: .noAction)
        var items: Set<Item>
    }

    private final class Item: CoreStoreObject {
        @Field.Relationship("shelf") var shelf: Shelf?
    }

    @Test func `noAction leaves no link to a deleted object`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Shelf>("Shelf"), Entity<Item>("Item")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let shelf = transaction.create(Into<Shelf>())
            shelf.items = Set((0..<3).map { _ in transaction.create(Into<Item>()) })
        })
        try stack.perform(synchronous: { transaction in
            transaction.delete(try transaction.fetchOne(From<Shelf>()))
        })
        try queue.sync { () throws in
            #expect(try stack.fetchAll(From<Item>()).map(\.shelf) == [nil, nil, nil])
            #expect(try stack.fetchCount(From<Item>().where(\.$shelf == nil)) == 3)
        }
    }

    @Test func `a deny rule does not hold for an object that was never stored`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.email = "a"
        })
        try stack.perform(synchronous: { transaction in
            let person = try #require(try transaction.fetchOne(From<Person>()))
            do {
                let debt = transaction.create(Into<Debt>())
                debt.debtor = person
                transaction.delete(person)
                transaction.delete(debt)
            }
            _ = try transaction.fetchCount(From<Debt>())
        })
        #expect(try queue.sync { try stack.fetchCount(From<Person>()) } == 0)
    }

    /// A bug: only what was moved before the deletion did not count.
    @Test func `a deny rule does not hold for objects that are given to another one`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let people = ["a", "b"].map { email in
                let person = transaction.create(Into<Person>())
                person.email = email
                return person
            }
            for _ in 0..<2 { transaction.create(Into<Debt>()).debtor = people[0] }
        })
        func delete(moving count: Int) throws {
            try stack.perform(synchronous: { transaction in
                let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.$email)))
                let debts = try transaction.fetchAll(From<Debt>())
                transaction.delete(people[0])
                for debt in debts.prefix(count) { debt.debtor = people[1] }
            })
        }
        #expect(throws: CoreStoreError.self) { try delete(moving: 1) }
        try delete(moving: 2)
        try queue.sync { () throws in
            let person = try #require(try stack.fetchOne(From<Person>()))
            #expect(person.email == "b" && person.debts.count == 2)
        }
    }

    @Test func `a new object that was deleted again denied the commit`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            _ = transaction.create(Into<Debt>())
        })
        /// Gives a new person the debt, and deletes the person.
        func change(_ transaction: BaseDataTransaction, flushes: Bool) throws {
            let person = transaction.create(Into<Person>())
            person.email = "a"
            let debt = try #require(try transaction.fetchOne(From<Debt>()))
            debt.debtor = person
            if flushes { _ = try transaction.fetchCount(From<Person>()) }
            transaction.delete(person)
        }
        for flushes in [false, true] {
            try stack.perform(synchronous: { try change($0, flushes: flushes) })
            let form = stack.beginUnsafe()
            try change(form, flushes: flushes)
            try form.commitAndWait()
        }
        // An unsafe transaction that has committed the person is denied the deletion.
        let form = stack.beginUnsafe()
        let person = form.create(Into<Person>())
        try #require(try form.fetchOne(From<Debt>())).debtor = person
        try form.commitAndWait()
        form.delete(person)
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Person>()) == 1)
            #expect(try stack.fetchCount(From<Debt>()) == 1)
        }
    }

    @Test func `the objects of a transaction go when it ends`() throws {
        let (stack, _) = try Zoo.stack()
        weak var created: Dog?
        weak var changed: Dog?
        weak var deleted: Dog?
        let ids = try stack.perform(synchronous: { transaction in
            (0..<2).map { _ in transaction.create(Into<Dog>()).objectID() }
        })
        try stack.perform(synchronous: { transaction in
            let new = transaction.create(Into<Dog>())
            let old: Dog = try #require(transaction.fetchExisting(ids[0]))
            let gone: Dog = try #require(transaction.fetchExisting(ids[1]))
            old.age = 9
            old.master = transaction.create(Into<Person>())
            transaction.delete(gone)
            (created, changed, deleted) = (new, old, gone)
        })
        #expect(created == nil)
        #expect(changed == nil)
        #expect(deleted == nil)
        _ = try? stack.perform(synchronous: { transaction in
            let new = transaction.create(Into<Dog>())
            created = new
            try transaction.cancel()
        })
        #expect(created == nil)
    }
}
