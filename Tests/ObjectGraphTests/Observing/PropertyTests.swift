import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// Observed properties, watched relations, and snapshots as sequences.
@Suite(.timeLimit(.minutes(hangMinutes))) struct PropertyTests {
    private func withDog(_ body: (DataStack, Dog) throws -> Void) throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync { try body(stack, try #require(stack.fetchExisting(id) as Dog?)) }
    }

    @Test func `a property is told with the values that were asked for`() throws {
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
                // These two come as one.
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
