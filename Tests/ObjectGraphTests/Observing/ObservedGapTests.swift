import Dispatch
import Primitives
import RecordStore
import TestSupport
import Testing

@testable import ObjectGraph

/// What the computed property of every guest is.
private let tableName = Mutex("Ann")

private final class Guest: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Virtual("table", customGetter: { object, field in tableName.withLock { $0 } })
    var table: String
}

private final class LogLine: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
}

/// Changes that an observer was not told, was told twice, or was told too late.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ObservedGapTests {
    private final class Recorder: StepSubscriber {
        let needsChanges = true
        private let received = Mutex<[CommitStep]>([])
        var steps: [CommitStep] { received.withLock { $0 } }
        func receive(_ step: CommitStep) { received.withLock { $0.append(step) } }
    }

    private func party() throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Guest>("Guest"), Entity<LogLine>("LogLine")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { _ = $0.create(Into<Guest>()) })
        return (stack, queue)
    }

    private var seating: SectionMonitorChainBuilder<Guest> {
        From<Guest>().sectionBy(\.$table).orderBy(.ascending(\.$name))
    }

    @Test func `a publisher out of a list of a superclass missed properties of the class`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let list = stack.publishList(From<Animal>().orderBy(.ascending(\.$species)))
            let publisher = list.snapshot[0]
            let (observer, told) = (NSObject(), Counter())
            publisher.addObserver(observer) { _ in told.count += 1 }
            try stack.perform(synchronous: { ($0.fetchExisting(id) as Dog?)?.age = 9 })
            #expect(told.count == 1)
            #expect((publisher.object as? Dog)?.age == 9)
        }
    }

    private final class Counter {
        var count = 0
    }

    @Test func `an object that changes moves to the section that its property computes`() throws {
        let (stack, queue) = try party()
        try queue.sync {
            let monitor = stack.monitorSectionedList(seating)
            func names() -> [String] { monitor.sections().map(\.name) }
            #expect(names() == ["Ann"])
            // Only changes of the object itself are followed.
            tableName.withLock { $0 = "Bob" }
            try stack.perform(synchronous: { _ = $0.create(Into<LogLine>()) })
            #expect(names() == ["Ann"])
            try stack.perform(synchronous: { try $0.fetchOne(From<Guest>())?.age = 9 })
            #expect(names() == ["Bob"])
        }
    }

    @Test func `computed sections kept the file as it was when they were asked last`() throws {
        let (stack, queue) = try party()
        let store = try #require(stack.stores.first)
        try queue.sync {
            let monitor = stack.monitorSectionedList(seating)
            weak let first = stack.withView { $0.snapshot(of: store) }
            var isHeld = first != nil
            #expect(isHeld)
            try stack.perform(synchronous: { _ = $0.create(Into<LogLine>()) })
            // The thread that computes lists may still hold the step.
            for _ in 0..<10_000 where isHeld {
                usleep(1000)
                isHeld = first != nil
            }
            #expect(!isHeld)
            #expect(monitor.numberOfObjects() == 1)
        }
    }

    @Test func `a step that no view receives does not have its completion run`() throws {
        let steps = CommitSteps(nil)
        let step = CommitStep([], origin: .transaction, completion: {})
        #expect(!steps.publish(step, at: steps.reserve()))
        let recorder = Recorder()
        steps.subscribe(recorder)
        #expect(!steps.publish(step, at: steps.reserve()))
        #expect(recorder.steps.count == 1)
        let (stack, queue) = try Zoo.stack()
        queue.sync { stack.beginView() }
        #expect(stack.steps.publish(step, at: stack.steps.reserve()))
        queue.sync {}
    }

    @Test func `an object is observed on a stack that nothing was fetched from`() throws {
        let (stack, queue) = try Zoo.stack()
        let dog = try stack.perform(synchronous: { $0.create(Into<Dog>()) })
        try queue.sync {
            let monitor = stack.monitorObject(dog)
            let recorder = ObjectRecorder<Dog> { "\($0.age)" }
            monitor.addObserver(recorder)
            for age in 2...3 {
                try stack.perform(synchronous: { $0.edit(dog)?.age = age })
                #expect(recorder.takeEvents() == ["will \(age - 1)", "did \(age) age"])
            }
        }
    }

    @Test func `an object is observed again when its storage is back`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, queue) = try Zoo.stack(at: url)
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            let monitor = stack.monitorObject(dog)
            let recorder = ObjectRecorder<Dog> { "\($0.age)" }
            monitor.addObserver(recorder)
            stack.unsafeRemoveAllPersistentStoresAndWait()
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try stack.perform(synchronous: { ($0.fetchExisting(id) as Dog?)?.age = 4 })
            #expect(recorder.takeEvents() == ["will 1", "did 4 age"])
        }
    }

    @Test func `the deletion of an object that nothing holds is told in its transaction`() throws {
        let (stack, _) = try Zoo.stack()
        let transaction = stack.beginUnsafe()
        let monitor = transaction.monitorObject(transaction.create(Into<Dog>()))
        let recorder = ObjectRecorder<Dog> { "\($0.age)" }
        monitor.addObserver(recorder)
        _ = try transaction.deleteAll(From<Dog>())
        transaction.flush()
        #expect(recorder.takeEvents() == ["will 1", "deleted 1"])
    }

    @Test func `monitors of a transaction that has ended keep no commit`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, _) = try Zoo.stack(at: url)
        let dog = try stack.perform(synchronous: { $0.create(Into<Dog>()) })
        var transaction: UnsafeDataTransaction? = stack.beginUnsafe()
        let list = try #require(
            transaction?.monitorList(From<Dog>().orderBy(.ascending(\.$age))))
        let object = try #require(transaction?.monitorObject(dog))
        #expect(stack.statistics.oldestReaderAge != nil)
        transaction = nil
        #expect(stack.statistics.oldestReaderAge == nil)
        #expect(list.numberOfObjects() == 1 && list.index(of: dog) == 0)
        #expect(object.isObjectDeleted)
    }

    @Test func `a storage that comes is told to no publisher of another one's objects`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let publisher = stack.publishObject(try #require(stack.fetchExisting(id) as Dog?))
            let (observer, told) = (NSObject(), Counter())
            publisher.addObserver(observer) { _ in told.count += 1 }
            try stack.addStorageAndWait(InMemoryStore())
            #expect(told.count == 0)
            stack.unsafeRemoveAllPersistentStoresAndWait()
            #expect(told.count == 1)
        }
    }

    @Test func `a deletion that the view has shown was told again with another step`() throws {
        let (stack, queue) = try Zoo.stack()
        let recorder = Recorder()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        try queue.sync {
            let publisher = stack.publishObject(try #require(stack.fetchExisting(id) as Dog?))
            let (observer, told) = (NSObject(), Counter())
            publisher.addObserver(observer) { _ in told.count += 1 }
            stack.steps.subscribe(recorder)
            try stack.perform(synchronous: { $0.delete(objectIDs: [id]) })
            #expect(told.count == 1)
            stack.steps.publish(try #require(recorder.steps.last))
            stack.deliverIfCurrent()
            #expect(told.count == 1)
            #expect(publisher.snapshot == nil)
        }
    }
}
