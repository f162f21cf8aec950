import Dispatch
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

private final class Boss: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Relationship("clerks", inverse: \.$boss) var clerks: Set<Clerk>
}

private final class Clerk: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("boss") var boss: Boss?
    @Field.Virtual(
        "title",
        customGetter: { object, _ in "clerk " + object.$name.value },
        affectedByKeyPaths: ["boss.name", "boss.unknown"])
    var title: String
}

/// Observed properties, watched relations, and snapshots as sequences.
@Suite(.timeLimit(.minutes(hangMinutes))) struct PropertyTests {
    private func withDog(_ body: (DataStack, Dog) throws -> Void) throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync { try body(stack, try #require(stack.fetchExisting(id) as Dog?)) }
    }

    @Test func `a property observer gets the values that its options ask for`() throws {
        try withDog { stack, dog in
            var calls: [String] = []
            func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }
            let all = dog.observe(\.$age, options: [.new, .old, .prior, .initial]) { dog, change in
                let values = "\(text(change.oldValue))>\(text(change.newValue))"
                calls.append((change.isPrior ? "prior " : "") + "\(values) \(dog.age)")
            }
            let bare = dog.observe(\.$age) { _, change in
                calls.append("bare \(text(change.newValue))")
            }
            try stack.perform(synchronous: { $0.edit(dog)?.age = 4 })
            #expect(calls == ["->1 1", "prior 1>- 1", "1>4 4", "bare -"])
            calls = []
            try stack.perform(synchronous: { $0.edit(dog)?.color = "red" })
            #expect(calls.isEmpty)
            all.invalidate()
            try stack.perform(synchronous: { $0.edit(dog)?.age = 5 })
            #expect(calls == ["bare -"])
            withExtendedLifetime(bare) {}
        }
    }

    /// A bug: they notified no observer.
    @Test func `undo, redo and rollback notify observers of the changed properties`() throws {
        try withDog { stack, dog in
            let transaction = stack.beginUnsafe(supportsUndo: true)
            let edited = try #require(transaction.edit(dog))
            let other = transaction.create(Into<Dog>())
            let person = transaction.create(Into<Person>())
            transaction.flush()
            var calls: [String] = []
            let tokens = [
                edited.observe(\.$age, options: [.new, .old, .prior]) { dog, change in
                    func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }
                    let values = "\(text(change.oldValue))>\(text(change.newValue))"
                    calls.append((change.isPrior ? "prior " : "") + "\(values) \(dog.age)")
                },
                other.observe(\.$age) { dog, _ in calls.append("other \(dog.age)") },
                person.observe(\.$pets) { person, _ in calls.append("\(person.pets.count) pets") },
            ]
            func take() -> [String] {
                defer { calls = [] }
                return calls
            }
            edited.age = 5
            edited.color = "red"
            edited.master = person
            transaction.flush()
            other.color = "blue"
            _ = take()
            // The open group has no change that is observed.
            transaction.undo()
            #expect(take().isEmpty)
            transaction.undo()
            #expect(take() == ["prior 5>- 5", "5>1 1", "0 pets"])
            transaction.redo()
            #expect(take() == ["prior 1>- 1", "1>5 5", "1 pets"])
            edited.age = 6
            _ = take()
            // Changes that were never flushed are reported too. Objects that are removed are not.
            transaction.rollback()
            #expect(take() == ["prior 6>- 6", "6>1 1"])
            transaction.rollback()
            #expect(take().isEmpty && edited.age == 1)
            withExtendedLifetime(tokens) {}
        }
    }

    /// A bug: the object had the value, and no commit wrote it.
    @Test func `what an observer writes before a rollback is rolled back`() throws {
        try withDog { stack, dog in
            let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
            let transaction = stack.beginUnsafe(supportsUndo: true)
            let edited = try #require(transaction.edit(dog))
            let other = try #require(transaction.fetchExisting(id) as Dog?)
            edited.age += 1
            transaction.flush()
            let color = other.color
            let token = edited.observe(\.$age, options: [.prior]) { _, change in
                if change.isPrior { other.color = "prior" }
            }
            transaction.undo()
            #expect(other.color == color)
            transaction.redo()
            #expect(other.color == color)
            transaction.rollback()
            #expect(other.color == color && !transaction.hasChanges)
            withExtendedLifetime(token) {}
        }
    }

    /// A bug: it ended the process.
    @Test func `an observer deletes an object whose links are refreshed`() throws {
        try withDog { stack, dog in
            try stack.perform(synchronous: { transaction in
                let edited = try #require(transaction.edit(dog))
                edited.master = transaction.create(Into<Person>())
                let token = edited.observe(\.$master) { dog, _ in transaction.delete(dog) }
                edited.refreshAsFault()
                #expect(try transaction.fetchCount(From<Dog>()) == 0)
                withExtendedLifetime(token) {}
            })
            #expect(try stack.fetchCount(From<Dog>()) == 0)
        }
    }

    @Test func `in a transaction each write notifies its observers at once`() throws {
        try withDog { stack, dog in
            try stack.perform(synchronous: { transaction in
                var calls: [String] = []
                func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }
                let edited = try #require(transaction.edit(dog))
                edited.age = 2
                let all = edited.observe(\.$age, options: [.new, .old, .prior]) { dog, change in
                    let values = "\(text(change.oldValue))>\(text(change.newValue))"
                    calls.append((change.isPrior ? "prior " : "") + "\(values) \(dog.age)")
                }
                edited.age = 3
                #expect(calls == ["prior 2>- 2", "2>3 3"])
                // An equal value is reported too, also after a fetch has flushed the changes.
                #expect(try transaction.fetchCount(From<Dog>().where(\.$age == 3)) == 1)
                calls = []
                edited.age = 3
                edited.age += 1
                #expect(calls == ["prior 3>- 3", "3>3 3", "prior 3>- 3", "3>4 4"])
                // Other properties and other objects are not reported.
                calls = []
                edited.color = "red"
                transaction.create(Into<Dog>()).age = 9
                #expect(calls.isEmpty)
                all.invalidate()
                edited.age = 5
                edited.age = 6
                #expect(calls.isEmpty)
                // A new object is observed until the token is released.
                let new = transaction.create(Into<Dog>())
                var count = 0
                do {
                    let token = new.observe(\.$nickname) { _, _ in count += 1 }
                    new.nickname = "a"
                    withExtendedLifetime(token) {}
                }
                new.nickname = "b"
                #expect(count == 1)
            })
            #expect(dog.age == 6)
            #expect(try stack.fetchCount(From<Dog>()) == 3)
        }
    }

    @Test func `observers of virtual and coded properties are notified in transactions`() throws {
        let (stack, _) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            var titles: [String] = []
            let token = person.observe(\.$title, options: [.new, .old]) { _, change in
                titles.append("\(change.oldValue ?? "-") > \(change.newValue ?? "-")")
            }
            person.title = "phd"
            #expect(titles == ["Dr. x > Dr. PHD"])
            transaction.delete(person)
            person.title = "gone"
            withExtendedLifetime(token) {}
        })
    }

    /// A bug: it was told with the value that the object had kept.
    @Test func `an object of a removed storage is not told of what a new one changes`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, queue) = try Zoo.stack(at: url)
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            var calls: [Int?] = []
            let token = dog.observe(\.$age, options: [.new]) { calls.append($1.newValue) }
            try stack.perform(synchronous: { $0.edit(dog)?.age = 3 })
            stack.unsafeRemoveAllPersistentStoresAndWait()
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try stack.perform(synchronous: { transaction in
                try transaction.fetchOne(From<Dog>())?.age = 4
            })
            #expect(calls == [3])
            #expect(dog.age == 3)
            withExtendedLifetime(token) {}
        }
    }

    /// A bug: names with dots were left out.
    @Test func `a computed property that is affected by a related value follows it`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Boss>("Boss"), Entity<Clerk>("Clerk")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let clerk = transaction.create(Into<Clerk>())
            clerk.boss = transaction.create(Into<Boss>())
        })
        try queue.sync {
            let clerk = try #require(try stack.fetchOne(From<Clerk>()))
            var titles: [String?] = []
            let token = clerk.observe(\.$title, options: [.new]) { titles.append($1.newValue) }
            try stack.perform(synchronous: { try $0.fetchOne(From<Boss>())?.name = "Ann" })
            #expect(titles == ["clerk "])
            try stack.perform(synchronous: { try $0.fetchOne(From<Boss>())?.age = 50 })
            #expect(titles.count == 1)
            withExtendedLifetime(token) {}
        }
    }

    @Test func `an observation ends with its token and keeps no object`() throws {
        try withDog { stack, dog in
            var count = 0
            do {
                let token = dog.observe(\.$color) { _, _ in count += 1 }
                try stack.perform(synchronous: { $0.edit(dog)?.color = "red" })
                withExtendedLifetime(token) {}
            }
            try stack.perform(synchronous: { $0.edit(dog)?.color = "blue" })
            #expect(count == 1)
            #expect(stack.observers.isEmpty)
        }
    }

    @Test func `a watched property of a related object is an update`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.name, person.email) = ("Ann", "a")
            for name in ["a", "b"] { transaction.create(Into<Dog>()).nickname = name }
            let first = try transaction.fetchOne(From<Dog>().orderBy(.ascending(\.$nickname)))
            first?.master = person
        })
        try queue.sync {
            let chain = From<Dog>().orderBy(.ascending(\.$nickname))
            let (plain, watching) = (
                stack.monitorList(chain),
                stack.monitorList(chain.watching(\.$master ~ \.$name))
            )
            let recorders = [plain, watching].map { monitor in
                let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
                monitor.addObserver(recorder)
                return recorder
            }
            func change(_ change: @escaping (Person?) -> Void) throws -> [[String]] {
                try stack.perform(synchronous: { change(try $0.fetchOne(From<Person>())) })
                return recorders.map { $0.takeEvents() }
            }
            let renamed = try change { $0?.name = "Bob" }
            #expect(renamed == [[], ["will", "=a 0.0", "did"]])
            let paid = try change { $0?.balance = 7 }
            #expect(paid == [[], []])
            #expect(try stack.fetchCount(chain.watching(\.$master ~ \.$name)) == 2)
        }
    }

    /// A dog that belongs to Ann, one of three people.
    private func withOwnedDog(_ body: (DataStack, Dog) throws -> Void) throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let people = ["Ann", "Bob", "Bob"].enumerated().map { index, name in
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = (name, "\(index)")
                return person
            }
            let dog = transaction.create(Into<Dog>())
            dog.master = people[0]
            return dog.objectID()
        })
        try queue.sync { try body(stack, try #require(stack.fetchExisting(id) as Dog?)) }
    }

    @Test func `watched values of related objects are changes of an observed object`() throws {
        try withOwnedDog { stack, dog in
            let monitors = [
                stack.monitorObject(dog), stack.monitorObject(dog, watching: \.$master ~ \.$name),
            ]
            let recorders = monitors.map { monitor in
                let recorder = ObjectRecorder<Dog> { $0.master?.name ?? "-" }
                monitor.addObserver(recorder)
                return recorder
            }
            let plain = stack.publishObject(dog)
            let publisher = stack.publishObject(dog, watching: \.$master ~ \.$name)
            #expect(plain !== publisher)
            #expect(
                publisher
                    === stack.publishObject(dog, watching: [Watching<Dog>(\.$master ~ \.$name)]))
            var calls: [String] = []
            plain.addObserver(recorders[0]) { _ in calls.append("plain") }
            publisher.addObserver(recorders[1]) { _ in calls.append("watching") }
            func change(
                _ change: (Dog, [Person]) -> Void
            ) throws -> [[String]] {
                calls = []
                try stack.perform(synchronous: { transaction in
                    let people = try transaction.fetchAll(
                        From<Person>().orderBy(.ascending(\.$email)))
                    change(try #require(transaction.edit(dog)), people)
                })
                return recorders.map { $0.takeEvents() } + [calls]
            }
            #expect(
                try change { $1[0].name = "Eve" } == [
                    [], ["will Ann", "did Eve master.name"], ["watching"],
                ])
            #expect(try change { $1[0].balance = 3 } == [[], [], []])
            #expect(try change { $1[1].name = "Cid" } == [[], [], []])
            #expect(
                try change { $0.master = $1[2] } == [
                    ["will Eve", "did Bob master"], ["will Eve", "did Bob master,master.name"],
                    ["plain", "watching"],
                ])
            #expect(
                try change { dog, _ in dog.master = nil } == [
                    ["will Bob", "did - master"], ["will Bob", "did - master,master.name"],
                    ["plain", "watching"],
                ])
            try stack.perform(synchronous: { $0.delete($0.edit(dog)) })
            #expect(
                recorders.map { $0.takeEvents() } == [
                    ["will -", "deleted -"], ["will -", "deleted -"],
                ])
            withExtendedLifetime(monitors) {}
        }
    }

    @Test func `a watched value that stays the same is no update`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let people = ["Ann", "Bob", "Bob"].enumerated().map { index, name in
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = (name, "\(index)")
                return person
            }
            people[0].spouse = people[1]
            transaction.create(Into<Dog>()).master = people[0]
        })
        func change(_ email: String, _ change: (Person, SynchronousDataTransaction) throws -> Void)
            throws
        {
            try stack.perform(synchronous: { transaction in
                let found = try transaction.fetchOne(From<Person>().where(\.$email == email))
                try change(try #require(found), transaction)
            })
        }
        let (monitor, recorder) = queue.sync {
            let monitor = stack.monitorList(
                From<Dog>().orderBy(.ascending(\.$age))
                    .watching(\.$master ~ \.$spouse ~ \.$name))
            let recorder = ListRecorder<Dog> { "\($0.age)" }
            monitor.addObserver(recorder)
            return (monitor, recorder)
        }
        // Another spouse of the same name.
        try change("0") { person, transaction in
            person.spouse = try transaction.fetchOne(From<Person>().where(\.$email == "2"))
        }
        try change("1") { person, _ in person.name = "Cid" }
        queue.sync { #expect(recorder.takeEvents().isEmpty) }
        try change("2") { person, _ in person.name = "Eve" }
        queue.sync { #expect(recorder.takeEvents() == ["will", "=1 0.0", "did"]) }
        withExtendedLifetime(monitor) {}
    }

    @Test func `a sequence of snapshots has the newest and ends with its reader`() async throws {
        let (stack, queue) = try Zoo.stack()
        func add(_ age: Int) throws {
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = age })
        }
        try add(1)
        let stream = queue.sync {
            stack.publishList(From<Dog>().orderBy(.ascending(\.$age))).snapshots()
        }
        var counts: [Int] = []
        for await snapshot in stream {
            counts.append(snapshot.numberOfItems)
            if counts.count == 3 { break }
            try add(2)
            if counts.count == 2 {
                // These two changes are delivered as one.
                try add(3)
                queue.sync {}
            }
        }
        #expect(counts.first == 1 && counts.last.map { $0 >= 3 } == true)
        let id = try stack.perform(synchronous: { try $0.fetchOne(From<Dog>())?.objectID() })
        let dog = try #require(id)
        let objects = queue.sync {
            (stack.publishObject(dog) as ObjectPublisher<Dog>).snapshots(emitInitialValue: false)
        }
        try stack.perform(synchronous: { $0.delete(objectIDs: [dog]) })
        for await snapshot in objects {
            #expect(snapshot == nil)
            break
        }
    }
}
