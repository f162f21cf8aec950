import ObjectProof
import TestSupport
import Testing

@testable import ObjectGraph

/// Observed lists and objects of unsafe transactions.
@Suite(.timeLimit(.minutes(hangMinutes))) struct TransactionMonitorTests {
    private let chain = From<Dog>().where(\.$age > 1).orderBy(.ascending(\.$age))

    /// Dogs of ages 1 to 3, named by their ages.
    private func stack() throws -> (DataStack, DispatchQueue) {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 1...3 {
                let dog = transaction.create(Into<Dog>())
                (dog.age, dog.nickname) = (age, "n\(age)")
            }
        })
        return (stack, queue)
    }

    private func recorder() -> ListRecorder<Dog> { ListRecorder { $0.nickname ?? "-" } }

    private func dogs(_ transaction: UnsafeDataTransaction) throws -> [Dog] {
        try transaction.fetchAll(From<Dog>().orderBy(.ascending(\.$nickname)))
    }

    @Test func `a list reports changes at flush, undo, redo and rollback, not at a fetch`() throws {
        let transaction = try stack().0.beginUnsafe(supportsUndo: true, sourceIdentifier: "mine")
        let monitor = transaction.monitorList(chain)
        let recorder = recorder()
        monitor.addObserver(recorder)
        let dogs = try dogs(transaction)
        #expect(monitor.objectsInAllSections() == [dogs[1], dogs[2]])

        dogs[0].age = 9
        transaction.delete(dogs[1])
        let new = transaction.create(Into<Dog>())
        (new.age, new.nickname) = (2, "new")
        #expect(try transaction.fetchCount(chain) == 3)
        #expect(recorder.takeEvents().isEmpty && monitor.numberOfObjects() == 2)
        transaction.flush()
        #expect(
            recorder.takeEvents() == ["will mine", "-n2 0.0", "+new 0.0", "+n1 0.2", "did"])
        #expect(monitor.objectsInAllSections() == [new, dogs[2], dogs[0]])
        #expect(monitor.index(of: dogs[0]) == 2 && monitor.index(of: dogs[1]) == nil)

        transaction.undo()
        #expect(
            recorder.takeEvents() == ["will mine", "-new 0.0", "-n1 0.2", "+n2 0.0", "did"])
        transaction.redo()
        #expect(
            recorder.takeEvents() == ["will mine", "-n2 0.0", "+new 0.0", "+n1 0.2", "did"])
        dogs[2].color = "red"
        transaction.flush()
        #expect(recorder.takeEvents() == ["will mine", "=n3 0.1", "did"])
        transaction.rollback()
        #expect(
            recorder.takeEvents() == [
                "will mine", "-new 0.0", "-n1 0.2", "+n2 0.0", "=n3 0.1", "did",
            ])
        transaction.flush()
        #expect(recorder.takeEvents().isEmpty)
    }

    @Test func `the deletion of an object that was not loaded reports its last values`() throws {
        let transaction = try stack().0.beginUnsafe(supportsUndo: true)
        let monitor = transaction.monitorList(chain)
        let recorder = recorder()
        monitor.addObserver(recorder)
        for _ in 0..<1 {
            let new = transaction.create(Into<Dog>())
            (new.age, new.nickname) = (5, "new")
        }
        transaction.flush()
        _ = recorder.takeEvents()
        transaction.undo()
        #expect(recorder.takeEvents() == ["will", "-new 0.2", "did"])
        transaction.redo()
        #expect(recorder.takeEvents() == ["will", "+new 0.2", "did"])
        #expect(monitor[2].nickname == "new" && !monitor[2].isDeleted)
    }

    @Test func `a sectioned list in a transaction follows changes and refetches`() throws {
        let transaction = try stack().0.beginUnsafe()
        let monitor = transaction.monitorSectionedList(
            From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age)))
        let recorder = recorder()
        monitor.addObserver(recorder)
        try dogs(transaction)[0].age = 3
        transaction.flush()
        #expect(recorder.takeEvents() == ["will", "~n1 0.0>1.0", "-[1] 0", "did"])
        #expect(monitor.sections().map(\.name) == ["2", "3"])
        monitor.refetch(
            Where<Dog>(\.$age > 2), OrderBy<Dog>(.ascending(\.$age)), sourceIdentifier: "again")
        #expect(recorder.takeEvents() == ["willRefetch", "didRefetch again"])
        #expect(!monitor.isPendingRefetch && monitor.sections().map(\.name) == ["3"])
        transaction.monitorList(
            createAsynchronously: { #expect($0.numberOfObjects() == 3) },
            From<Dog>().orderBy(.ascending(\.$age)))
    }

    @Test func `a commit reports its own changes before those of other commits`() throws {
        let (stack, _) = try stack()
        let transaction = stack.beginUnsafe()
        let monitor = transaction.monitorList(chain)
        let recorder = recorder()
        monitor.addObserver(recorder)
        try stack.perform(synchronous: { other in
            let dog = other.create(Into<Dog>())
            (dog.age, dog.nickname) = (7, "other")
        })
        try dogs(transaction)[0].age = 8
        #expect(recorder.takeEvents().isEmpty)
        try transaction.commitAndWait()
        #expect(
            recorder.takeEvents() == [
                "will", "+n1 0.2", "did", "will", "+other 0.2", "did",
            ])
        #expect(monitor.objectsInAllSections() == (try transaction.fetchAll(chain)))
    }

    @Test func `a nested commit is reported by the outer transaction`() throws {
        let transaction = try stack().0.beginUnsafe()
        let (monitor, recorder) = (transaction.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        let nested = transaction.beginUnsafe()
        try dogs(nested)[0].age = 4
        nested.flush()
        #expect(recorder.takeEvents().isEmpty)
        try nested.commitAndWait()
        #expect(recorder.takeEvents() == ["will", "+n1 0.2", "did"])
    }

    /// A bug: only the next flush reported it.
    @Test func `other commits are reported after a background commit has ended`()
        async throws
    {
        let (stack, _) = try stack()
        let transaction = stack.beginUnsafe()
        let (monitor, recorder) = (transaction.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        try dogs(transaction)[0].age = 8
        try stack.perform(synchronous: { other in
            let dog = other.create(Into<Dog>())
            (dog.age, dog.nickname) = (7, "other")
        })
        await withCheckedContinuation { ended in
            transaction.commit { _ in ended.resume() }
        }
        #expect(recorder.takeEvents() == ["will", "+n1 0.2", "did"])
        #expect(transaction.hasChanges == false && recorder.takeEvents().isEmpty)
        #expect(try transaction.fetchCount(chain) == 4)
        #expect(recorder.takeEvents() == ["will", "+other 0.2", "did"])
        transaction.flush()
        #expect(recorder.takeEvents().isEmpty)
    }

    /// A bug: its own monitors were notified only by its next flush.
    @Test func `a nested commit reports the outer transaction's changes to its lists`() throws {
        let transaction = try stack().0.beginUnsafe()
        let nested = transaction.beginUnsafe()
        let (monitor, recorder) = (nested.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        try dogs(transaction)[1].age = 9
        try dogs(nested)[0].age = 4
        try nested.commitAndWait()
        #expect(
            recorder.takeEvents() == [
                "will", "+n1 0.2", "did", "will", "~n2 0.0>0.2", "did",
            ])
        nested.flush()
        #expect(recorder.takeEvents().isEmpty)
        #expect(monitor.objectsInAllSections().map(\.nickname) == ["n3", "n1", "n2"])
    }

    @Test func `changes made in a callback are reported after the current ones`() throws {
        let transaction = try stack().0.beginUnsafe()
        let (monitor, recorder) = (transaction.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        let dogs = try dogs(transaction)
        recorder.onEvent = { event, _ in
            guard event == "did", dogs[1].age == 2 else { return }
            dogs[1].age = 6
            transaction.flush()
        }
        dogs[0].age = 4
        transaction.flush()
        #expect(
            recorder.takeEvents() == [
                "will", "+n1 0.2", "did", "will", "~n2 0.0>0.2", "did",
            ])
    }

    /// A bug: it waited for the next flush.
    @Test func `a refetch in didRefetch after a flush is run`() throws {
        let transaction = try stack().0.beginUnsafe()
        let (monitor, recorder) = (transaction.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        let order = OrderBy<Dog>(.ascending(\.$age))
        recorder.onEvent = { event, monitor in
            switch event {
            case "did": monitor.refetch(Where<Dog>(\.$age > 3), order, sourceIdentifier: "a")
            case "didRefetch a":
                monitor.refetch(Where<Dog>(\.$age == 3), order, sourceIdentifier: "b")
            default: break
            }
        }
        try dogs(transaction)[0].age = 4
        transaction.flush()
        #expect(
            recorder.takeEvents() == [
                "will", "+n1 0.2", "did", "willRefetch", "didRefetch a", "willRefetch",
                "didRefetch b",
            ])
        #expect(!monitor.isPendingRefetch)
        #expect(monitor.objectsInAllSections().map(\.age) == [3])
    }

    @Test func `a change in didRefetch is told with the transaction's identifier`() throws {
        let transaction = try stack().0.beginUnsafe(sourceIdentifier: "mine")
        let (monitor, recorder) = (transaction.monitorList(chain), recorder())
        monitor.addObserver(recorder)
        let dogs = try dogs(transaction)
        recorder.onEvent = { event, _ in
            guard event.hasPrefix("didRefetch"), dogs[0].age == 1 else { return }
            dogs[0].age = 4
            transaction.flush()
        }
        monitor.refetch(Where<Dog>(\.$age > 1), OrderBy<Dog>(.ascending(\.$age)))
        #expect(
            recorder.takeEvents() == [
                "willRefetch", "didRefetch", "will mine", "+n1 0.2", "did",
            ])
    }

    @Test func `an object reports its changed properties, and an undo restores it`() throws {
        let transaction = try stack().0.beginUnsafe(supportsUndo: true)
        let dog = try dogs(transaction)[0]
        let monitor = transaction.monitorObject(dog)
        let recorder = ObjectRecorder<Dog> { "\($0.age)" }
        monitor.addObserver(recorder)
        dog.age = 5
        dog.master = transaction.create(Into<Person>())
        #expect(recorder.takeEvents().isEmpty)
        transaction.flush()
        #expect(recorder.takeEvents() == ["will 5", "did 5 age,master"])
        transaction.undo()
        #expect(recorder.takeEvents() == ["will 1", "did 1 age,master"])
        transaction.delete(dog)
        transaction.flush()
        #expect(recorder.takeEvents() == ["will 1", "deleted 1"])
        #expect(monitor.object == nil && monitor.isObjectDeleted)
        transaction.undo()
        let events = recorder.takeEvents()
        #expect(events.count == 2 && events.first == "will 1")
        #expect(monitor.object === dog && !monitor.isObjectDeleted)
    }

    /// Names are longer than the part of a key that a list keeps.
    @Test func `a change of hidden objects alone hid the object of a list with an offset`() throws {
        let (stack, _) = try Zoo.stack()
        let start = String(repeating: "n", count: 100)
        try stack.perform(synchronous: { transaction in
            for letter in "abcdefghi" {
                transaction.create(Into<Dog>()).nickname = start + "\(letter)"
            }
            // Otherwise the names would share their beginnings and be kept whole.
            transaction.create(Into<Dog>()).nickname = "z"
        })
        let transaction = stack.beginUnsafe()
        let monitor = transaction.monitorList(
            From<Dog>().orderBy(.ascending(\.$nickname)).tweak {
                $0.fetchOffset = 2
                $0.fetchLimit = 1
            })
        let dogs = try dogs(transaction)
        #expect(monitor.index(of: dogs[2]) == 0)
        dogs[0].nickname = start + "y"
        // Where a search begins.
        dogs[5].nickname = start + "aa"
        transaction.flush()
        #expect(monitor.objectsInAllSections() == [dogs[2]])
        #expect(monitor.index(of: dogs[2]) == 0)
    }

    @Test func `monitors do not retain their transaction and stay usable after it`() throws {
        let (stack, _) = try stack()
        var transaction: UnsafeDataTransaction? = stack.beginUnsafe()
        weak let observed = transaction
        let monitor = try #require(transaction?.monitorList(chain))
        let recorder = recorder()
        monitor.addObserver(recorder)
        transaction = nil
        #expect(observed == nil)
        #expect(monitor.numberOfObjects() == 2)
        monitor.refetch(OrderBy<Dog>(.ascending(\.$age)))
        #expect(recorder.takeEvents() == ["willRefetch", "didRefetch"])
        #expect(stack.statistics.pins.isEmpty)
    }

    @Test func `lists equal fetches after random changes, undos and merges`() throws {
        let seed = SeededRandom(for: "TransactionMonitorTests").seed
        var lists = EditedLists(seed: seed)
        let count = 900 / Sweep.step
        #expect(try lists.run(count) >= count)
    }
}
