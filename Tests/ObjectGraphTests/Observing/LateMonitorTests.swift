import Foundation
import ObjectGraph
import Testing

/// What callbacks make and add while a step is on its way to the observers.
@Suite struct LateMonitorTests {
    @Test func `monitors made during an announcement told nobody of the step`() throws {
        try Zoo.withDogs(0..<3) { stack, ids in
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let monitor = stack.monitorList(chain)
            let first = ListRecorder<Dog> { $0.nickname ?? "?" }
            let list = ListRecorder<Dog> { $0.nickname ?? "?" }
            let object = ObjectRecorder<Dog> { "\($0.age)" }
            var values: [Int] = []
            var counts: [Int] = []
            var made: [AnyObject] = []
            var isRefused = false
            first.onEvent = { event, _ in
                guard event == "will", made.isEmpty else { return }
                let late = stack.monitorList(chain)
                late.addObserver(list)
                counts.append(late.numberOfObjects())
                guard let dog: Dog = stack.fetchExisting(ids[0]) else {
                    isRefused = true
                    return
                }
                let lateObject = stack.monitorObject(dog)
                lateObject.addObserver(object)
                let observation = dog.observe(\.$age, options: [.initial, .new]) { _, change in
                    if let value = change.newValue { values.append(value) }
                }
                made = [late, lateObject, dog, observation as AnyObject]
            }
            list.onEvent = { event, late in
                if event == "did" { counts.append(late.numberOfObjects()) }
            }
            monitor.addObserver(first)
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[0]) as Dog?)?.age = 7
                transaction.delete(objectIDs: [ids[1]])
            })
            #expect(!isRefused)
            #expect(counts == [3, 2])
            #expect(list.takeEvents() == first.takeEvents())
            #expect(object.takeEvents() == ["will 0", "did 7 age"])
            #expect(values == [0, 7])
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[0]) as Dog?)?.age = 8
            })
            #expect(list.takeEvents() == first.takeEvents())
            #expect(values == [0, 7, 8])
            withExtendedLifetime(made) {}
        }
    }

    @Test func `an observer that was added again in a delivery fell out of it`() throws {
        try Zoo.withDogs(0..<2) { stack, ids in
            let monitor = stack.monitorList(From<Dog>().orderBy(.ascending(\.$age)))
            let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
            recorder.onEvent = { event, monitor in
                if event == "will" { monitor.addObserver(recorder) }
            }
            monitor.addObserver(recorder)
            let dog: Dog = try #require(stack.fetchExisting(ids[1]))
            let object = stack.monitorObject(dog)
            let objects = ObjectRecorder<Dog> { "\($0.age)" }
            objects.onEvent = { $0.addObserver(objects) }
            object.addObserver(objects)
            let publisher: ObjectPublisher<Dog> = stack.publishObject(ids[1])
            let (first, second) = (NSObject(), NSObject())
            var told: [String] = []
            publisher.addObserver(first) { publisher in
                told.append("first")
                publisher.addObserver(second) { _ in told.append("second, added again") }
            }
            publisher.addObserver(second) { _ in told.append("second") }
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[1]) as Dog?)?.color = "red"
            })
            #expect(recorder.takeEvents() == ["will", "=1 0.1", "did"])
            #expect(objects.takeEvents() == ["will 1", "did 1 color"])
            #expect(told == ["first", "second, added again"])
            recorder.onEvent = { _, _ in }
            objects.onEvent = { _ in }
        }
    }

    /// A table kept the row as it was until the object changed again.
    @Test(arguments: [false, true])
    func `an update before a refetch was lost to a reader that skipped it`(
        isInDelivery: Bool
    ) throws {
        try Zoo.withDogs(0..<3) { stack, ids in
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let publisher = stack.publishList(chain)
            let before = publisher.snapshot
            let dog: Dog = try #require(stack.fetchExisting(ids[2]))
            let monitor = stack.monitorObject(dog)
            let recorder = ObjectRecorder<Dog> { "\($0.age)" }
            var failure: (any Error)?
            func refetch() {
                do { try publisher.refetch(chain.where(\.$age > 0)) } catch { failure = error }
            }
            recorder.onEvent = { _ in if isInDelivery { refetch() } }
            monitor.addObserver(recorder)
            try stack.perform(synchronous: { transaction in
                for id in ids.dropFirst() {
                    (transaction.fetchExisting(id) as Dog?)?.color = "red"
                }
            })
            if !isInDelivery { refetch() }
            #expect(failure == nil)
            let reloaded = StagedChanges(from: before, to: publisher.snapshot)
                .flatMap(\.reloadedItems)
            #expect(reloaded.map { $0[1] } == [1, 2])
            recorder.onEvent = { _ in }
        }
    }
}
