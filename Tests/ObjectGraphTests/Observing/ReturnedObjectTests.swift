import Dispatch
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// Objects that come to be, or come back, while they are held and observed.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ReturnedObjectTests {
    private let chain = From<Dog>().orderBy(.ascending(\.$age))

    /// A bug: the object stayed deleted in the view, and fetches left it out that counts had.
    @Test func `an undone deletion that was committed brings the object back`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            (dog.age, dog.nickname) = (7, "Rex")
            return dog.objectID()
        })
        let recorder = ListRecorder<Dog> { "\($0.age) \($0.isDeleted)" }
        let objectRecorder = ObjectRecorder<Dog> { "\($0.age)" }
        let (dog, list, monitor, publisher) = try queue.sync {
            let dog = try #require(stack.fetchExisting(id) as Dog?)
            let (list, monitor) = (stack.monitorList(chain), stack.monitorObject(dog))
            list.addObserver(recorder)
            monitor.addObserver(objectRecorder)
            return (dog, list, monitor, dog.asPublisher(in: stack))
        }
        let form = stack.beginUnsafe(supportsUndo: true)
        let edited = try #require(form.fetchExisting(id) as Dog?)
        let committed = DispatchSemaphore(value: 0)
        // While the writer is busy, so that the second commit is counted from the first.
        try stack.perform(synchronous: { _ in
            form.delete(edited)
            form.flush()
            form.commit { _ in committed.signal() }
            form.undo()
            form.commit { _ in committed.signal() }
        })
        for _ in 0..<2 { committed.wait() }
        stack.drain(queue)
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Dog>()) == 1)
            #expect(try stack.fetchAll(chain).first === dog)
            #expect(!dog.isDeleted && dog.nickname == "Rex")
            #expect(list.numberOfObjects() == 1 && list[0] === dog)
            let insertions = recorder.takeEvents().filter { $0.hasPrefix("+") }
            #expect(insertions.allSatisfy { $0 == "+7 false 0.0" })
            #expect(monitor.object === dog)
            #expect(publisher.snapshot?.$age == 7)
        }
        _ = objectRecorder.takeEvents()
        try stack.perform(synchronous: { $0.edit(dog)?.age = 8 })
        stack.drain(queue)
        queue.sync {
            #expect(dog.age == 8)
            #expect(objectRecorder.takeEvents().isEmpty == false)
        }
    }

    /// A bug: no observer was told that there was something to show.
    @Test func `a publisher that is older than its object is told of its coming`() throws {
        let (stack, queue) = try Zoo.stack()
        let form = stack.beginUnsafe()
        let dog = form.create(Into<Dog>())
        dog.age = 5
        form.flush()
        let id = dog.objectID()
        let ages = Mutex<[Int?]>([])
        let observer = ListRecorder<Dog> { _ in "" }
        let publisher = queue.sync {
            let publisher: ObjectPublisher<Dog> = stack.publishObject(id)
            publisher.addObserver(observer) { publisher in
                let age = publisher.snapshot?.$age
                ages.withLock { $0.append(age) }
            }
            #expect(publisher.snapshot == nil)
            return publisher
        }
        try form.commitAndWait()
        stack.drain(queue)
        queue.sync {
            #expect(ages.withLock { $0 } == [5])
            #expect(publisher.snapshot?.$age == 5)
        }
    }
}
