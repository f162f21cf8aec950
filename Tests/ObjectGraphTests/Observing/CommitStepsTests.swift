import Dispatch
import Foundation
import Primitives
import RecordStore
import TestSupport
import Testing

@testable import ObjectGraph

/// The steps that subscribers get, and their order.
@Suite(.timeLimit(.minutes(hangMinutes))) struct CommitStepsTests {
    private final class Recorder: StepSubscriber {
        let needsChanges: Bool
        private let received = Mutex<[CommitStep]>([])

        init(needsChanges: Bool = true) { self.needsChanges = needsChanges }

        var steps: [CommitStep] { received.withLock { $0 } }
        func receive(_ step: CommitStep) { received.withLock { $0.append(step) } }
    }

    private func dogs(_ step: CommitStep) throws -> Int {
        let snapshot = try #require(step.parts.first).snapshot
        return try snapshot.recordCount(of: try #require(snapshot.schema.entity(named: "Dog")))
    }

    @Test func `steps of several threads arrive in commit order, each with its snapshot`()
        async throws
    {
        let (stack, _) = try Zoo.stack()
        let recorders = [Recorder(), Recorder(needsChanges: false)]
        for recorder in recorders { stack.steps.subscribe(recorder) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<40 {
                        try stack.perform(
                            synchronous: { $0.create(Into<Dog>()).age = number },
                            sourceIdentifier: thread)
                    }
                }
            }
            try await group.waitForAll()
        }
        for recorder in recorders {
            let steps = recorder.steps
            #expect(steps.count == 160)
            let numbers = steps.compactMap { $0.parts.first?.snapshot.commitNumber }
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
            #expect(try steps.map(dogs) == Array(1...160))
            for thread in 0..<4 {
                let own = steps.filter { $0.sourceIdentifier == SourceIdentifier(thread) }
                #expect(own.count == 40)
            }
        }
    }

    /// A bug: it was published at once, and took the commits that it showed from their own steps.
    @Test func `a checkpoint's step waits for the turns of commits before it`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, _) = try Zoo.stack(at: url)
        try stack.perform(synchronous: { _ = $0.create(Into<Toy>()) })
        let recorder = Recorder()
        stack.steps.subscribe(recorder)
        let turn = stack.steps.reserve()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try stack.checkpoint() }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
        #expect(recorder.steps.isEmpty)
        stack.steps.publish(nil, at: turn)
        done.wait()
        #expect(!recorder.steps.isEmpty)
    }

    @Test func `nothing is recorded while no subscriber needs it`() throws {
        let (stack, _) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        let listener = Recorder(needsChanges: false)
        stack.steps.subscribe(listener)
        #expect(!stack.steps.areChangesNeeded)
        func age() throws {
            try stack.perform(synchronous: { transaction in
                let dog: Dog? = transaction.fetchExisting(id)
                dog?.age += 1
            })
        }
        try age()
        let reader = Recorder()
        stack.steps.subscribe(reader)
        try age()
        stack.steps.unsubscribe(reader)
        #expect(!stack.steps.areChangesNeeded)
        try age()
        let isKnown = listener.steps.map { step in
            if case .changes? = step.parts.first?.content { true } else { false }
        }
        #expect(isKnown == [false, true, false])
        guard case .changes(let changes)? = reader.steps.first?.parts.first?.content else {
            Issue.record("the subscriber got no changes")
            return
        }
        #expect(reader.steps.count == 1)
        let records = try #require(changes.records(in: id.hierarchy))
        #expect(Array(records.updated) == [id.number])
        #expect(records.inserted.isEmpty && records.deleted.isEmpty)
    }

    @Test func `a subscriber that joins while a commit is staged gets unknown changes`()
        throws
    {
        let (stack, _) = try Zoo.stack()
        let context = TransactionContext(of: stack)
        let transaction = SynchronousDataTransaction(
            stack: stack, context: context, sourceIdentifier: nil)
        let (_, staged, _) = try stack.stage(transaction, context, nil) { transaction in
            transaction.create(Into<Dog>()).age = 2
        }
        let late = Recorder()
        stack.steps.subscribe(late)
        try #require(staged).finish()
        #expect(late.steps.count == 1)
        guard case .unknown? = late.steps.first?.parts.first?.content else {
            Issue.record("unrecorded changes were reported as no changes")
            return
        }
    }

    @Test func `a transaction that does nothing or fails makes no step`() throws {
        let (stack, _) = try Zoo.stack()
        let recorder = Recorder()
        stack.steps.subscribe(recorder)
        try stack.perform(synchronous: { _ = try $0.fetchCount(From<Dog>()) })
        _ = try? stack.perform(synchronous: { transaction in
            transaction.create(Into<Dog>()).age = 3
            try transaction.cancel()
        })
        #expect(recorder.steps.isEmpty)
        try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 3 })
        #expect(recorder.steps.count == 1)
    }

    /// A bug: an unused view kept the ID of every object that was deleted in the meantime.
    @Test func `objects created and deleted while the view is unused leave no entry`() throws {
        let (stack, queue) = try Zoo.stack()
        let kept = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        let dog: Dog? = queue.sync { stack.fetchExisting(kept) }
        let recorder = StepQueue()
        stack.steps.subscribe(recorder)
        let toy = try #require(stack.stores.first?.database.schema.entity(named: "Toy"))
        for _ in 0..<3 {
            let ids = try stack.perform(synchronous: { transaction in
                (0..<1000).map { _ in transaction.create(Into<Toy>()).objectID() }
            })
            try stack.perform(synchronous: { transaction in
                transaction.delete(objectIDs: ids)
                let dog: Dog? = transaction.fetchExisting(kept)
                dog?.age += 1
            })
        }
        #expect(recorder.count == 1)
        guard
            case .changes(let changes)? = recorder.takeAll(takesCompletions: true)?.parts.first?
                .content
        else {
            Issue.record("the changes are not known")
            return
        }
        #expect(changes.records(in: toy.hierarchy)?.isEmpty == true)
        #expect(changes.records(in: kept.hierarchy)?.updated.count == 1)
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Toy>()) == 0)
            #expect(dog?.age == 4)
        }
    }

    @Test func `a view compares the objects of a hierarchy with too many changes`() throws {
        let (stack, _) = try Zoo.stack()
        let store = try #require(stack.stores.first)
        let ids = try stack.perform(synchronous: { transaction in
            (0..<3).map { _ in transaction.create(Into<Dog>()).objectID() }
        })
        let view = StackView(of: stack)
        defer { view.end() }
        let dogs = try ids.map { try #require(try view.existing($0) as? Dog) }
        #expect(dogs.map(\.age) == [1, 1, 1])
        try stack.perform(synchronous: { transaction in
            let dog: Dog? = transaction.fetchExisting(ids[0])
            dog?.age = 7
            transaction.delete(objectIDs: [ids[1]])
        })
        var changes = ChangeSet()
        changes.set(nil, in: ids[0].hierarchy)
        view.take(
            CommitStep(
                [
                    CommitStep.Part(
                        store: store, snapshot: try store.database.snapshot(),
                        content: .changes(changes))
                ], origin: .transaction))
        #expect(dogs.map(\.isDeleted) == [false, true, false])
        #expect(dogs.map(\.age) == [7, 1, 1])
    }
}
