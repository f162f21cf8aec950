import Dispatch
import Primitives
import Testing

@testable import ObjectGraph

/// The state of an open transaction over undos and over commits that end later.
@Suite struct UnsafeStateTests {
    private let stack: DataStack
    private let ids: [NSManagedObjectID]

    init() throws {
        (stack, _) = try Zoo.stack()
        ids = try stack.perform(synchronous: { transaction in
            (0..<3).map { number in
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = ("name \(number)", "\(number)@zoo")
                return person.objectID()
            }
        })
    }

    private func person(_ index: Int, _ transaction: BaseDataTransaction) throws -> Person {
        try #require(transaction.fetchExisting(ids[index]) as Person?)
    }

    private func names() throws -> [String] {
        try stack.read { view in
            try view.fetchAll(From<Person>().orderBy(.ascending(\.$name))).map(\.name)
        }
    }

    /// Commits made while another transaction has the writer lock, and how they ended.
    private final class HeldCommits: Sendable {
        private let mayEnd = DispatchSemaphore(value: 0)
        private let done = DispatchSemaphore(value: 0)
        private let errors = Mutex<[CoreStoreError?]>([])

        /// Takes the writer lock; the commits proceed when it is released.
        init(
            _ stack: DataStack,
            _ changes: @escaping @Sendable (BaseDataTransaction) -> Void = { _ in }
        ) {
            let isHeld = DispatchSemaphore(value: 0)
            let mayEnd = mayEnd
            DispatchQueue.global().async {
                try? stack.perform(synchronous: { transaction in
                    isHeld.signal()
                    mayEnd.wait()
                    changes(transaction)
                })
            }
            isHeld.wait()
        }

        func begin(_ form: UnsafeDataTransaction) {
            form.commit { [self] error in
                errors.withLock { $0.append(error) }
                done.signal()
            }
        }

        /// Releases the lock and waits for the commits; returns which of them failed.
        func end(_ count: Int) -> [Bool] {
            mayEnd.signal()
            for _ in 0..<count { done.wait() }
            return errors.withLock { $0.map { $0 != nil } }
        }
    }

    // MARK: Commits that end later

    @Test func `a change made after a commit began stays pending after it`() throws {
        let form = stack.beginUnsafe()
        let commits = HeldCommits(stack)
        try person(0, form).name = "first"
        commits.begin(form)
        try person(0, form).name = "second"
        #expect(commits.end(1) == [false])
        #expect(try person(0, form).name == "second" && form.hasChanges)
        try form.commitAndWait()
        #expect(try names() == ["name 1", "name 2", "second"])
    }

    private final class Memo: CoreStoreObject {
        @Field.Stored("text") var text: String = ""
    }

    /// A bug: the transaction had no changes then, though its next commit stored them.
    @Test func `changes in a storage that is first used during a commit stay pending`() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [Entity<Memo>("Memo"): Set(["One", "Two"])]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore(configuration: "One"))
        let form = stack.beginUnsafe()
        try stack.addStorageAndWait(InMemoryStore(configuration: "Two"))
        let ids = try stack.perform(synchronous: { transaction in
            ["One", "Two", "Two"].map { name in
                let memo = transaction.create(Into<Memo>(name))
                memo.text = "stored"
                return memo.objectID()
            }
        })
        let commits = HeldCommits(stack)
        form.create(Into<Memo>("One")).text = "committed"
        commits.begin(form)
        let new = form.create(Into<Memo>("Two"))
        new.text = "new"
        let changed: Memo = try #require(form.fetchExisting(ids[1]))
        changed.text = "changed"
        form.delete(objectIDs: [ids[2]])
        #expect(commits.end(1) == [false])
        #expect(form.hasChanges && form.insertedObjectIDs() == [new.objectID()])
        #expect(form.updatedObjectIDs() == [ids[1]] && form.deletedObjectIDs() == [ids[2]])
        new.text = "newer"
        try form.commitAndWait()
        #expect(!form.hasChanges)
        let texts = try stack.read { view in
            try view.fetchAll(From<Memo>().orderBy(.ascending(\.$text))).map(\.text)
        }
        #expect(texts == ["changed", "committed", "newer", "stored"])
    }

    @Test func `an undone assignment of a new object won in a conflict`() throws {
        let (stack, _) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.email, person.name, person.balance) = ("a", "Quinn", 7)
        })
        let form = stack.beginUnsafe(supportsUndo: true)
        let person = form.create(Into<Person>())
        person.email = "a"
        form.flush()
        (person.name, person.balance) = ("Bob", 1)
        form.flush()
        form.undo()
        form.redo()
        form.undo()
        person.balance = 9
        try form.commitAndWait()
        let left = try stack.perform(synchronous: { transaction in
            try transaction.fetchAll(From<Person>()).map { "\($0.name) \($0.balance)" }
        })
        #expect(left == ["Quinn 9.0"])
    }

    /// A bug: the stored object was deleted for an older one that took its key.
    @Test(arguments: [false, true])
    func `an undone assignment of a stored object lost in a conflict`(isRollback: Bool) throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let (older, younger) = (try person(0, form), try person(1, form))
        younger.email = "z@zoo"
        form.flush()
        if isRollback { form.rollback() } else { form.undo() }
        younger.name = "younger"
        older.email = "1@zoo"
        try form.commitAndWait()
        #expect(try names() == ["name 2", "younger"])
        try stack.read { view in
            let left: Person? = view.fetchExisting(ids[1])
            #expect(left?.email == "1@zoo")
            #expect(view.fetchExisting(ids[0]) as Person? == nil)
        }
    }

    @Test func `an undo made after a commit began stays pending after it`() throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let commits = HeldCommits(stack)
        try person(0, form).name = "first"
        form.flush()
        try person(0, form).name = "second"
        commits.begin(form)
        form.undo()
        #expect(commits.end(1) == [false])
        #expect(try person(0, form).name == "first" && form.hasChanges && !form.canUndo)
        #expect(try names() == ["name 1", "name 2", "second"])
        try form.commitAndWait()
        #expect(try names() == ["first", "name 1", "name 2"])
    }

    /// A bug: they were told once more where the transaction took over the commit.
    @Test func `observers are told once of what changes during a commit`() throws {
        let form = stack.beginUnsafe()
        let (first, second) = (try person(0, form), try person(1, form))
        let commits = HeldCommits(stack)
        first.name = "first"
        commits.begin(form)
        var calls: [String] = []
        let tokens = [
            first.observe(\.$name, options: .prior) { person, change in
                calls.append((change.isPrior ? "prior " : "") + person.name)
            },
            first.observe(\.$spouse, options: .prior) { person, change in
                calls.append((change.isPrior ? "prior " : "") + (person.spouse?.name ?? "-"))
            },
            second.observe(\.$spouseOf) { person, _ in
                calls.append("of \(person.spouseOf?.name ?? "-")")
            },
        ]
        first.name = "second"
        first.spouse = second
        let told = ["prior first", "second", "prior -", "name 1", "of second"]
        #expect(calls == told)
        #expect(commits.end(1) == [false])
        #expect(form.hasChanges && first.name == "second" && first.spouse === second)
        #expect(calls == told)
        first.name = "third"
        #expect(calls == told + ["prior second", "third"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `the changes of a failed commit stay pending`() throws {
        let form = stack.beginUnsafe()
        let ids = ids
        let commits = HeldCommits(stack) { transaction in
            transaction.create(Into<Debt>()).debtor = transaction.fetchExisting(ids[2]) as Person?
        }
        try person(0, form).name = "first"
        commits.begin(form)
        form.delete(try person(2, form))
        commits.begin(form)
        #expect(commits.end(2) == [false, true])
        #expect(form.hasChanges && form.deletedObjectIDs() == [ids[2]])
        #expect(try names() == ["first", "name 1", "name 2"])
        // The debt is still there. A bug dropped it when the first commit was completed.
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        form.rollback()
        #expect(try person(2, form).name == "name 2" && !form.hasChanges)
    }

    @Test func `a deletion that a rule denies is denied after a commit has ended`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Debt>()).debtor = try person(2, transaction)
        })
        let form = stack.beginUnsafe()
        let commits = HeldCommits(stack)
        try person(0, form).name = "first"
        commits.begin(form)
        form.delete(try person(2, form))
        #expect(commits.end(1) == [false])
        #expect(form.hasChanges)
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        #expect(try names() == ["first", "name 1", "name 2"])
    }

    /// A bug: the object that had the key since the commit before was deleted for an older one.
    @Test func `an assignment that was committed is none of the next commit`() throws {
        let form = stack.beginUnsafe()
        let (older, younger) = (try person(0, form), try person(1, form))
        let commits = HeldCommits(stack)
        younger.email = "z@zoo"
        commits.begin(form)
        younger.name = "younger"
        #expect(commits.end(1) == [false])
        older.email = "z@zoo"
        try form.commitAndWait()
        #expect(try names() == ["name 2", "younger"])
        try stack.read { view in
            let left: Person? = view.fetchExisting(ids[1])
            #expect(left?.email == "z@zoo")
        }
    }

    @Test func `a link that is cleared during a commit is cleared in a conflict`() throws {
        let form = stack.beginUnsafe()
        let (older, younger, target) = (
            try person(0, form), try person(1, form), try person(2, form)
        )
        (older.spouse, younger.spouse) = (nil, target)
        try form.commitAndWait()
        let other = form.create(Into<Person>())
        other.email = "other@zoo"
        older.spouse = other
        younger.name = "younger"
        let commits = HeldCommits(stack)
        commits.begin(form)
        younger.spouse = nil
        #expect(commits.end(1) == [false])
        younger.email = older.email
        try form.commitAndWait()
        try stack.read { view in
            let left: Person? = view.fetchExisting(ids[0])
            // The name was assigned before the commit that holds it.
            #expect(left?.name == "name 0" && left?.spouse == nil)
        }
    }

    @Test func `a denied deletion during a commit is denied after it`() throws {
        let debtID = try stack.perform(synchronous: { $0.create(Into<Debt>()).objectID() })
        let form = stack.beginUnsafe()
        let commits = HeldCommits(stack)
        let debtor = form.create(Into<Person>())
        commits.begin(form)
        let debt = try #require(form.fetchExisting(debtID) as Debt?)
        debt.debtor = debtor
        form.delete(debtor)
        #expect(commits.end(1) == [false])
        let error = #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        #expect(error?.violations.map(\.kind) == [.denied])
    }

    /// The second one decided by the store as it was before the first.
    @Test func `a deletion of what an earlier commit was saving was not denied`() throws {
        let debtID = try stack.perform(synchronous: { $0.create(Into<Debt>()).objectID() })
        let form = stack.beginUnsafe()
        let debt = try #require(form.fetchExisting(debtID) as Debt?)
        let debtor = form.create(Into<Person>())
        debt.debtor = debtor
        let commits = HeldCommits(stack)
        commits.begin(form)
        form.delete(debtor)
        commits.begin(form)
        #expect(commits.end(2).count { $0 } == 1)
        try stack.read { view in
            let left: Debt? = view.fetchExisting(debtID)
            #expect(left?.debtor != nil)
        }
    }

    /// A bug: a commit was refused for an object that was not there any more.
    @Test func `a deletion that was committed is not denied later`() throws {
        let debtID = try stack.perform(synchronous: { transaction in
            let debt = transaction.create(Into<Debt>())
            debt.debtor = try person(2, transaction)
            return debt.objectID()
        })
        let form = stack.beginUnsafe()
        let debt = try #require(form.fetchExisting(debtID) as Debt?)
        let commits = HeldCommits(stack)
        form.delete(try person(2, form))
        debt.debtor = try person(0, form)
        commits.begin(form)
        debt.amount = 2
        #expect(commits.end(1) == [false])
        debt.debtor = nil
        try form.commitAndWait()
        #expect(try names() == ["name 0", "name 1"])
    }

    // MARK: Undoing

    @Test func `a denied deletion that is done again is denied again`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Debt>()).debtor = try person(2, transaction)
        })
        let form = stack.beginUnsafe(supportsUndo: true)
        try person(0, form).name = "first"
        form.flush()
        form.delete(try person(2, form))
        form.flush()
        form.undo()
        form.redo()
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        form.undo()
        // Without the debt the deletion is not denied.
        for debt in try person(2, form).debts { debt.debtor = nil }
        form.delete(try person(2, form))
        try form.commitAndWait()
        #expect(try names() == ["first", "name 1"])
    }

    @Test func `an object whose creation is undone and redone keeps its values`() throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let toy = form.create(Into<Toy>())
        toy.label = "toy"
        form.flush()
        for _ in 0..<2 {
            form.undo()
            form.redo()
        }
        // Its values have not been read since.
        form.undo()
        #expect(toy.isDeleted && toy.label == "toy")
    }

    @Test func `an object that another transaction deleted still has its unread values`() throws {
        let form = stack.beginUnsafe()
        let first = try person(0, form)
        first.name = "kept"
        try form.commitAndWait()
        try stack.perform(synchronous: { transaction in
            transaction.delete(try person(0, transaction))
        })
        try person(1, form).name = "other"
        try form.commitAndWait()
        #expect(first.isDeleted && first.name == "kept")
        #expect(try names() == ["name 2", "other"])
    }

    // MARK: Nesting

    @Test func `a nested commit reports the changes of the outer transaction`() throws {
        let form = stack.beginUnsafe()
        let nested = form.beginUnsafe()
        try person(0, nested).name = "inner"
        let outer = try person(0, form)
        (outer.name, outer.level) = ("outer", 3)
        try nested.commitAndWait()
        #expect(nested.conflicts == [CommitConflict(objectID: ids[0], kind: .property("name"))])
        #expect(outer.name == "inner" && outer.level == 3)
        try nested.commitAndWait()
        #expect(nested.conflicts == [])
    }

    /// A bug: the states before a commit were kept until the next one, and with them the pages of
    /// the commit that they lie over.
    @Test(arguments: [false, true])
    func `a commit kept its former base`(isChangedMeanwhile: Bool) throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let first = try person(0, form)
        first.name = "new"
        form.flush()
        let context = try #require(form.context as? UnsafeContext)
        weak let base = try #require(context.changedAccesses.first).base
        #expect(base != nil)
        if isChangedMeanwhile {
            let done = DispatchSemaphore(value: 0)
            form.commit { _ in done.signal() }
            first.name = "newer"
            done.wait()
        } else {
            try form.commitAndWait()
        }
        #expect(form.hasChanges == isChangedMeanwhile)
        // The queue of the commit may hold it for a moment more.
        for _ in 0..<2000 where base != nil { Thread.sleep(forTimeInterval: 0.001) }
        #expect(base == nil)
        #expect(first.name == (isChangedMeanwhile ? "newer" : "new"))
        form.rollback()
        #expect(first.name == "new")
    }
}
