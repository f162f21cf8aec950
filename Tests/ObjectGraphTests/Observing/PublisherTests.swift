import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// The content of publishers of lists and objects, and their notifications.
@Suite(.timeLimit(.minutes(hangMinutes))) struct PublisherTests {
    private func publisher(_ stack: DataStack) -> ListPublisher<Dog> {
        stack.publishList(
            From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age), .ascending(\.$nickname)))
    }

    @Test func `a list's snapshot follows commits, and an earlier one stays as it was`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            let publisher = publisher(stack)
            let before = publisher.snapshot
            var calls: [String] = []
            let observer = UserInfoKey()
            publisher.addObserver(observer, notifyInitial: true, initialSourceIdentifier: "start") {
                publisher, source in
                calls.append("\(source ?? "-") \(publisher.snapshot.count)")
            }
            #expect(before.sectionIDs == ["0", "1"])
            #expect(before.itemIDs == ids)
            try stack.perform(
                synchronous: { transaction in
                    transaction.delete(objectIDs: [ids[0]])
                    (transaction.fetchExisting(ids[1]) as Dog?)?.age = 1
                    (transaction.fetchExisting(ids[3]) as Dog?)?.color = "red"
                }, sourceIdentifier: "edit")
            #expect(calls == ["start 4", "edit 3"])
            #expect(before.itemIDs == ids && before.numberOfSections == 2)
            let after = publisher.snapshot
            #expect(after.itemIDs == [ids[1], ids[2], ids[3]])
            #expect(after.sectionIDs == ["1"])
            #expect(after.updatedItemIdentifiers == [ids[1], ids[3]])
            #expect(after != before && after == publisher.snapshot)
            #expect(after.indexOfItem(withID: ids[2]) == 1)
            #expect(after.indexOfItem(withID: ids[0]) == nil)
            #expect(after.sectionID(containingItemWithID: ids[3]) == "1")
            // A change that does not concern the list.
            try stack.perform(synchronous: { _ = $0.create(Into<Toy>()) })
            #expect(calls.count == 2)
            publisher.removeObserver(observer)
            try stack.perform(synchronous: { $0.delete(objectIDs: ids) })
            #expect(calls.count == 2 && !publisher.snapshot.hasItems())
            #expect(publisher.snapshot.numberOfSections == 0)
        }
    }

    private final class UserInfoKey {}

    /// A bug: the clauses of the earlier fetch came back when that ended.
    @Test func `a refetch replaces a fetch that is under way in the background`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let publisher = try queue.sync {
            let publisher = stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            try stack.addStorageAndWait(InMemoryStore())
            try publisher.refetch(From<Dog>().where(\.$age > 1).orderBy(.ascending(\.$age)))
            return publisher
        }
        try stack.perform(synchronous: { transaction in
            for age in [0, 5] { transaction.create(Into<Dog>()).age = age }
        })
        stack.drain(queue)
        #expect(queue.sync { publisher.snapshot.count } == 1)
    }

    @Test func `a refetch is reported once and may change the sections`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            let publisher = publisher(stack)
            var calls: [String] = []
            publisher.addObserver(self.key) { publisher, source in
                calls.append("\(source ?? "-") \(publisher.snapshot.sectionIDs)")
            }
            try publisher.refetch(
                From<Dog>().where(\.$age == 1).orderBy(.descending(\.$nickname)),
                sourceIdentifier: "again")
            #expect(publisher.snapshot.itemIDs == [ids[3], ids[2]])
            #expect(calls == ["again [\"\"]"])
            #expect(throws: CoreStoreError.self) {
                try publisher.refetch(
                    From<Dog>().where(format: "nonsense == 1").orderBy(.ascending(\.$age)))
            }
            #expect(publisher.snapshot.itemIDs == [ids[3], ids[2]])
            try stack.perform(synchronous: { $0.delete(objectIDs: [ids[3]]) })
            #expect(publisher.snapshot.itemIDs == [ids[2]])
        }
    }

    private let key = UserInfoKey()

    @Test func `an object has one publisher, which follows it to its end`() throws {
        try Zoo.withDogs((0..<1).map { $0 / 2 }) { stack, ids in
            let dog = try #require(stack.fetchExisting(ids[0]) as Dog?)
            let publisher = dog.asPublisher(in: stack)
            #expect(publisher === stack.publishObject(ids[0]) as ObjectPublisher<Dog>)
            #expect(publisher.snapshot?.$age == 0 && publisher.$age == 0)
            var calls: [String] = []
            publisher.addObserver(key) { publisher, source in
                calls.append("\(source ?? "-") \(publisher.snapshot?.$age ?? -1)")
            }
            let before = try #require(publisher.snapshot)
            try stack.perform(
                synchronous: { (($0.edit(dog)) as Dog?)?.age = 5 }, sourceIdentifier: "edit")
            #expect(calls == ["edit 5"])
            #expect(before.$age == 0)
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 9 })
            try stack.perform(synchronous: { $0.delete($0.edit(dog)) })
            #expect(calls == ["edit 5", "- -1"])
            #expect(publisher.snapshot == nil && publisher.object == nil)
            #expect(publisher.$age == nil)
        }
    }

    /// A bug: a publisher showed the preceding commit until its own notification.
    @Test func `all publishers show a step before the first observer is notified`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let monitor = stack.monitorList(chain)
            let (first, second) = (publisher(stack), publisher(stack))
            let object = stack.publishObject(ids[0]) as ObjectPublisher<Dog>
            _ = object.snapshot
            var seen: [String] = []
            func note(_ event: String) {
                seen.append(
                    "\(event) \(first.snapshot.count) \(second.snapshot.count) "
                        + "\(object.snapshot?.$age ?? -1)")
            }
            let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
            recorder.onEvent = { event, _ in note(event) }
            monitor.addObserver(recorder)
            first.addObserver(key) { _ in note("first") }
            second.addObserver(key) { _ in note("second") }
            object.addObserver(key) { _ in note("object") }
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[0]) as Dog?)?.age = 7
                transaction.delete(objectIDs: [ids[3]])
            })
            #expect(
                seen == [
                    "will 4 4 0", "-3 0.3 3 3 7", "~0 0.0>0.2 3 3 7", "first 3 3 7",
                    "second 3 3 7", "object 3 3 7", "did 3 3 7",
                ])
        }
    }

    /// A bug: publishers created or fetched during an announcement never showed that step.
    @Test func `publishers created during the announcement of a step show that step`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let monitor = stack.monitorList(chain)
            let refetched = publisher(stack)
            var told: [String] = []
            refetched.addObserver(key) { _, source in told.append("\(source ?? "-")") }
            var made: (ListPublisher<Dog>, ObjectPublisher<Dog>)?
            var seen: [String] = []
            let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
            recorder.onEvent = { event, _ in
                if event == "will", made == nil {
                    made = (stack.publishList(chain), stack.publishObject(ids[0]))
                    try? refetched.refetch(
                        From<Dog>().where(\.$age < 9).orderBy(.ascending(\.$age)),
                        sourceIdentifier: "again")
                }
                guard let made else { return }
                seen.append(
                    "\(event) \(made.0.snapshot.count) \(made.1.snapshot?.$age ?? -1) "
                        + "\(refetched.snapshot.count)")
            }
            monitor.addObserver(recorder)
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[0]) as Dog?)?.age = 7
                transaction.delete(objectIDs: [ids[3]])
            })
            #expect(seen == ["will 4 0 4", "-3 0.3 3 7 3", "~0 0.0>0.2 3 7 3", "did 3 7 3"])
            #expect(told == ["again"] && refetched.snapshot.count == 3)
        }
    }

    @Test func `publishers made during an announcement told nobody of the step`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            let chain = From<Dog>().orderBy(.ascending(\.$age))
            let monitor = stack.monitorList(chain)
            let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
            var told: [String] = []
            var made: [AnyObject] = []
            recorder.onEvent = { event, _ in
                guard event == "will", made.isEmpty else { return }
                let (list, others) = (
                    stack.publishList(chain), stack.publishList(chain.where(\.$age == 9))
                )
                list.addObserver(key, notifyInitial: true) {
                    told.append("list \($0.snapshot.count)")
                }
                others.addObserver(key) { _ in told.append("others") }
                let objects: [ObjectPublisher<Dog>] = [ids[0], ids[1]].map {
                    stack.publishObject($0)
                }
                for (index, object) in objects.enumerated() {
                    object.addObserver(key) { told.append("\(index) \($0.snapshot?.$age ?? -1)") }
                }
                made = [list, others] + objects
            }
            monitor.addObserver(recorder)
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[0]) as Dog?)?.age = 7
                transaction.delete(objectIDs: [ids[3]])
            })
            // Neither the list nor the object that the step does not change.
            #expect(told == ["list 4", "list 3", "0 7"])
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(ids[1]) as Dog?)?.age = 8
            })
            #expect(told.dropFirst(3) == ["list 3", "1 8"])
        }
    }

    @Test func `the last publisher goes while the first of others comes`() async throws {
        let (stack, queue) = try Zoo.stack()
        let ids = try stack.perform(synchronous: { transaction in
            (0..<2).map { _ in transaction.create(Into<Dog>()).objectID() }
        })
        for round in 1...500 {
            // One goes on another thread, as when a task that read its snapshots is cancelled.
            let going = queue.sync {
                let publisher: ObjectPublisher<Dog> = stack.publishObject(ids[0])
                _ = publisher.snapshot
                return UncheckedTransfer(Unmanaged.passRetained(publisher))
            }
            let released = DispatchGroup()
            DispatchQueue.global().async(group: released) { going.value.release() }
            let coming: ObjectPublisher<Dog> = try queue.sync {
                let publisher: ObjectPublisher<Dog> = stack.publishObject(ids[1])
                _ = publisher.snapshot
                released.wait()
                try stack.perform(synchronous: { transaction in
                    (transaction.fetchExisting(ids[1]) as Dog?)?.age = round
                })
                #expect(publisher.snapshot?.$age == round)
                return publisher
            }
            queue.sync { withExtendedLifetime(coming) {} }
        }
    }

    @Test func `publishers that watch other paths are not equal`() throws {
        try Zoo.withDogs((0..<1).map { $0 / 2 }) { stack, ids in
            let plain: ObjectPublisher<Dog> = stack.publishObject(ids[0])
            let dog = try #require(stack.fetchExisting(ids[0]) as Dog?)
            let watching: ObjectPublisher<Dog> = stack.publishObject(
                dog, watching: \.$master ~ \.$name)
            #expect(plain != watching && plain == stack.publishObject(ids[0]))
        }
    }

    @Test func `publishers are retained only by the code that uses them`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Dog>()).objectID() })
        queue.sync {
            weak var released: ObjectPublisher<Dog>?
            do {
                let publisher = stack.publishObject(id) as ObjectPublisher<Dog>
                _ = publisher.snapshot
                #expect(!stack.observers.isEmpty)
                released = publisher
            }
            #expect(released == nil)
            #expect(stack.observers.isEmpty)
            do { _ = publisher(stack).snapshot }
            #expect(stack.observers.isEmpty && stack.viewSteps.lists.isEmpty)
        }
    }

    // MARK: Snapshots of objects

    @Test func `a snapshot has all values, and changing it changes no object`() throws {
        try Zoo.withDogs((0..<2).map { $0 / 2 }) { stack, ids in
            try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                (person.name, person.email, person.title) = ("Ann", "a", "phd")
                person.score = Decimal(string: "12.5") ?? 0
                person.pets = Set(ids.compactMap { transaction.fetchExisting($0) as Dog? })
            })
            let person = try #require(try stack.fetchOne(From<Person>()))
            var snapshot = try #require(person.asSnapshot())
            #expect(snapshot.$name == "Ann")
            // Through its getter.
            #expect(snapshot.$title == "Dr. PHD")
            #expect(snapshot.$score == Decimal(string: "12.5"))
            #expect(snapshot.$born == nil)
            #expect(snapshot.$identifier == person.identifier)
            #expect(Set(snapshot.$pets.map { $0.objectID() }) == Set(ids))
            let same = try #require(person.asSnapshot(in: stack))
            #expect(snapshot == same && snapshot.hashValue == same.hashValue)
            snapshot.$name = "Bob"
            snapshot.$born = Date(timeIntervalSinceReferenceDate: 1)
            snapshot.$pets = []
            #expect(snapshot.$name == "Bob" && snapshot.$pets.isEmpty)
            #expect(snapshot.$born == Date(timeIntervalSinceReferenceDate: 1))
            #expect(snapshot != same && same.$name == "Ann" && person.name == "Ann")
            let values = same.dictionaryForValues()
            #expect(values["name"] as? String == "Ann")
            #expect((values["pets"] as? Set<NSManagedObjectID>)?.count == 2)
            #expect(values["born"] == nil)
            // On another thread, after the object has changed.
            try stack.perform(synchronous: { $0.edit(person)?.name = "Cid" })
            let name = DispatchQueue(label: "reader").sync { same.$name }
            #expect(name == "Ann")
            #expect(person.asSnapshot() != same)
            #expect(same.asReadOnly(in: stack) === person)
            let inside = try stack.perform(synchronous: { transaction in
                same.asEditable(in: transaction)?.name = "Dan"
                return same.asSnapshot(in: transaction)?.$name
            })
            #expect(inside == "Dan" && person.name == "Dan")
        }
    }

    // MARK: Snapshots of lists

    @Test func `items of a snapshot are inserted, moved, deleted and reloaded`() throws {
        try Zoo.withDogs((0..<6).map { $0 / 2 }) { stack, ids in
            var list = publisher(stack).snapshot
            let original = list
            func places() -> [[Int]] {
                list.sectionIDs.map { section in
                    list.itemIDs(inSectionWithID: section).compactMap { ids.firstIndex(of: $0) }
                }
            }
            #expect(places() == [[0, 1], [2, 3], [4, 5]])
            list.deleteItems(withIDs: [ids[1], ids[4]])
            #expect(places() == [[0], [2, 3], [5]])
            list.insertItems(withIDs: [ids[1]], beforeItemID: ids[3])
            list.insertItems(withIDs: [ids[4]], afterItemID: ids[3])
            #expect(places() == [[0], [2, 1, 3, 4], [5]])
            list.moveItem(withID: ids[2], afterItemID: ids[5])
            list.moveItem(withID: ids[4], beforeItemID: ids[0])
            #expect(places() == [[4, 0], [1, 3], [5, 2]])
            list.moveItem(at: IndexPath(item: 0, section: 0), to: IndexPath(item: 1, section: 2))
            #expect(places() == [[0], [1, 3], [5, 4, 2]])
            list.deleteItems(
                at: [IndexPath(item: 0, section: 1), IndexPath(item: 2, section: 2)])
            list.insertItems(withIDs: [ids[2]], at: IndexPath(item: 1, section: 1))
            list.appendItems(withIDs: [ids[1]])
            #expect(places() == [[0], [3, 2], [5, 4, 1]])
            list.reloadItems(withIDs: [ids[3]])
            list.reloadItems(at: [IndexPath(item: 0, section: 0)])
            #expect(list.updatedItemIdentifiers == [ids[3], ids[0]])
            list.deleteAllItems()
            #expect(list.numberOfSections == 3 && !list.hasItems())
            #expect(original.itemIDs == ids && original != list)
        }
    }

    @Test func `sections of a snapshot are inserted, moved, deleted and reloaded`() throws {
        try Zoo.withDogs((0..<4).map { $0 / 2 }) { stack, ids in
            var list = publisher(stack).snapshot
            list.appendSections(withIDs: ["z"])
            list.insertSections(withIDs: ["x"], beforeSectionID: "1")
            list.insertSections(withIDs: ["y"], afterSectionID: "1")
            list.insertSections(["a"], at: 0)
            #expect(list.sectionIDs == ["a", "0", "x", "1", "y", "z"])
            list.moveSection(withID: "a", afterSectionID: "z")
            list.moveSection(withID: "y", beforeSectionID: "0")
            #expect(list.sectionIDs == ["y", "0", "x", "1", "z", "a"])
            // The index counts before the move.
            list.moveSection(at: 0, to: 2)
            #expect(list.sectionIDs == ["0", "y", "x", "1", "z", "a"])
            list.moveSection(at: 3, to: 1)
            #expect(list.sectionIDs == ["0", "1", "y", "x", "z", "a"])
            list.reloadSections(withIDs: ["1", "unknown"])
            #expect(list.updatedItemIdentifiers == [])
            list.reloadSections(at: [0])
            #expect(StagedChanges(from: list, to: list).first?.reloadedSections == [0, 1])
            list.deleteSections(withIDs: ["y", "unknown"])
            list.deleteSections(at: [2, 3])
            #expect(list.sectionIDs == ["0", "1", "a"])
            list.appendItems(with: [ids[0]], toSectionAt: 2)
            #expect(list.itemIDs(inSectionWithID: "a") == [ids[0]])
            list.deleteSections(withIDs: ["0"])
            #expect(list.itemIDs == [ids[2], ids[3], ids[0]])
        }
    }

    @Test func `a snapshot is a collection of publishers, over all sections`() throws {
        try Zoo.withDogs((0..<6).map { $0 / 2 }) { stack, ids in
            let list = publisher(stack).snapshot
            #expect(list.map { $0.objectID() } == ids)
            // A bug: a slice across sections was wrong.
            let slice = list[1..<5]
            #expect(slice.indices == 1..<5)
            #expect(slice.map { $0.objectID() } == Array(ids[1..<5]))
            #expect(list[3..<3].isEmpty)
            #expect(list[1, 1].objectID() == ids[3])
            #expect(list[safeSectionIndex: 1, safeItemIndex: 2] == nil)
            #expect(list[safeIndex: 6] == nil)
            #expect(list[safeIndexPath: IndexPath(item: 1, section: 2)]?.objectID() == ids[5])
            #expect(list.items(atIndices: [5, 0]).map { $0.objectID() } == [ids[5], ids[0]])
            #expect(list.lazy(inSectionWithID: "2").map { $0.objectID() } == Array(ids[4...]))
            #expect(list.sections().map(\.count) == [2, 2, 2])
            #expect(list.sections()[1][0] === list[2])
            #expect(list.section(containingItemWithID: ids[4])?.itemIDs == Array(ids[4...]))
            #expect(!list.hasItems(inSectionWithID: "unknown"))
            #expect(list.numberOfItems(inSectionWithID: "0") == 2)
            #expect(!ListSnapshot<Dog>().hasItems())
        }
    }
}
