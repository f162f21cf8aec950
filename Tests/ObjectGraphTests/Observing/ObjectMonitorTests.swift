import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// The notifications of object monitors.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ObjectMonitorTests {
    private func withDog(
        _ body: (DataStack, Dog, ObjectMonitor<Dog>, ObjectRecorder<Dog>) throws -> Void
    ) throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            let recorder = ObjectRecorder<Dog> { "\($0.age)" }
            let monitor = stack.monitorObject(dog)
            monitor.addObserver(recorder)
            try body(stack, dog, monitor, recorder)
        }
    }

    @Test func `each change is reported with the names of the changed properties`() throws {
        try withDog { stack, dog, monitor, recorder in
            let other = ObjectRecorder<Dog> { $0.color ?? "-" }
            monitor.addObserver(other)
            try stack.perform(
                synchronous: { transaction in
                    let dog = transaction.edit(dog)
                    dog?.age = 2
                    dog?.color = "red"
                }, sourceIdentifier: "here")
            #expect(recorder.takeEvents() == ["will 1", "did 2 age,color here"])
            // A bug: a second observer got no names of properties.
            #expect(other.takeEvents() == ["will -", "did red age,color here"])
            try stack.perform(synchronous: { transaction in
                let master = transaction.create(Into<Person>())
                master.email = "m"
                transaction.edit(dog)?.master = master
            })
            #expect(recorder.takeEvents() == ["will 2", "did 2 master"])
        }
    }

    @Test func `links on the other side are changes of both objects`() throws {
        try withDog { stack, dog, monitor, recorder in
            let id = try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                person.email = "m"
                return person.objectID()
            })
            let person = try #require(stack.fetchExisting(id) as Person?)
            let owners = stack.monitorObject(person)
            let owner = ObjectRecorder<Person> { $0.email }
            owners.addObserver(owner)
            try stack.perform(synchronous: { transaction in
                transaction.edit(dog)?.master = transaction.edit(person)
            })
            #expect(owner.takeEvents() == ["will m", "did m pets"])
            #expect(recorder.takeEvents() == ["will 1", "did 1 master"])
        }
    }

    @Test func `a deletion is reported once, and the object is gone`() throws {
        try withDog { stack, dog, monitor, recorder in
            var wasDeleted: [Bool] = []
            recorder.onEvent = { wasDeleted.append($0.isObjectDeleted) }
            #expect(monitor.object === dog)
            try stack.perform(synchronous: { $0.delete($0.edit(dog)) })
            #expect(recorder.takeEvents() == ["will 1", "deleted 1"])
            #expect(wasDeleted == [false, true])
            #expect(monitor.object == nil && monitor.isObjectDeleted)
            #expect(dog.age == 1)
            try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
            #expect(recorder.takeEvents().isEmpty)
        }
    }

    @Test func `equal values, rollbacks and changes of other objects are not reported`() throws {
        try withDog { stack, dog, monitor, recorder in
            try stack.perform(synchronous: { $0.edit(dog)?.age = 1 })
            _ = try? stack.perform(synchronous: { transaction in
                transaction.edit(dog)?.age = 5
                try transaction.cancel()
            })
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 7 })
            #expect(recorder.takeEvents().isEmpty)
        }
    }

    @Test func `a refresh is reported even if nothing has changed`() throws {
        try withDog { stack, dog, monitor, recorder in
            stack.refreshAndMergeAllObjects()
            #expect(recorder.takeEvents() == ["will 1", "did 1 "])
        }
    }

    @Test func `nothing keeps an observer, an object or a stack alive`() throws {
        var stack: DataStack? = try Zoo.stack().0
        weak let released = stack
        let queue = DispatchQueue(label: "view")
        stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        weak let second = stack
        #expect(released == nil)
        try stack?.addStorageAndWait(InMemoryStore())
        let id = try #require(
            try stack?.perform(synchronous: { $0.create(Into<Dog>()).objectID() }))
        let monitor: ObjectMonitor<Dog>? = queue.sync {
            (stack?.fetchExisting(id) as Dog?).flatMap { stack?.monitorObject($0) }
        }
        weak var dog: Dog?
        queue.sync { dog = monitor?.object }
        #expect(dog == nil)
        queue.sync { stack = nil }
        #expect(second == nil)
        queue.sync { #expect(monitor?.object == nil) }
    }
}
