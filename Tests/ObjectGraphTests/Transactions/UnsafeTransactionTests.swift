import Dispatch
import Primitives
import Testing

@testable import ObjectGraph

/// Transactions that stay open: what they see, what a commit merges, and what is undone.
@Suite struct UnsafeTransactionTests {
    private let stack: DataStack
    private let queue: DispatchQueue
    private let ids: [NSManagedObjectID]

    /// Three people, of whom the first has two pets.
    init() throws {
        (stack, queue) = try Zoo.stack()
        ids = try stack.perform(synchronous: { transaction in
            let people = (0..<3).map { number in
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = ("name \(number)", "\(number)@zoo")
                return person
            }
            for age in [4, 7] {
                let dog = transaction.create(Into<Dog>())
                (dog.age, dog.master) = (age, people[0])
            }
            return people.map { $0.objectID() }
        })
    }

    private func person(_ index: Int, _ transaction: BaseDataTransaction) throws -> Person {
        try #require(transaction.fetchExisting(ids[index]) as Person?)
    }

    /// The committed names.
    private func names() throws -> [String] {
        try stack.read { view in
            try view.fetchAll(From<Person>().orderBy(.ascending(\.$name))).map(\.name)
        }
    }

    @Test func `an open transaction neither blocks others nor sees their commits`() throws {
        let form = stack.beginUnsafe()
        try person(0, form).name = "edited"
        form.create(Into<Dog>()).age = 30
        for round in 0..<20 {
            try stack.perform(synchronous: { transaction in
                try person(1, transaction).name = "round \(round)"
                transaction.create(Into<Toy>()).label = "x"
            })
        }
        #expect(try form.fetchCount(From<Toy>()) == 0)
        #expect(try person(1, form).name == "name 1")
        #expect(try form.fetchOne(From<Person>().where(\.$name == "edited"))?.pets.count == 2)
        #expect(try form.fetchOne(From<Person>().where(\.$name == "name 0")) == nil)
        #expect(try form.fetchAll(From<Dog>().where(\.$age > 5)).map(\.age).sorted() == [7, 30])
        #expect(try form.queryValue(From<Dog>(), Select<Dog, Int>(.maximum(\.$age))) == 7)
        #expect(try names() == ["name 0", "name 2", "round 19"])
        #expect(stack.statistics.pins.map(\.kind) == [.unsafeTransaction])
        try form.commitAndWait()
        #expect(try names() == ["edited", "name 2", "round 19"])
        #expect(try form.fetchCount(From<Toy>()) == 20 && person(1, form).name == "round 19")
        #expect(form.conflicts == [] && !form.hasChanges)
    }

    @Test func `everything but a commit works while another transaction has the writer lock`()
        throws
    {
        try stack.perform(synchronous: { transaction in
            let form = stack.beginUnsafe(supportsUndo: true)
            let toy = form.create(Into<Toy>())
            toy.label = "made"
            toy.owner = try person(0, form)
            form.flush()
            form.delete(try person(1, form))
            #expect(try form.fetchCount(From<Person>()) == 2)
            form.undo()
            #expect(try form.fetchCount(From<Person>()) == 3)
            #expect(try person(0, form).toys == [toy])
            form.rollback()
            #expect(try form.fetchCount(From<Toy>()) == 0 && toy.isDeleted)
            let error = #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
            #expect(error?.description.contains("inside another transaction") == true)
            _ = transaction.create(Into<Toy>())
        })
        #expect(stack.statistics.pins.isEmpty)
    }

    @Test func `a transaction commits again and again`() throws {
        let form = stack.beginUnsafe()
        let toy = form.create(Into<Toy>())
        for round in 0..<5 {
            toy.label = "round \(round)"
            toy.owner = try person(round % 3, form)
            try form.commitAndWait()
            #expect(try stack.read { try $0.fetchAll(From<Toy>()).map(\.label) } == [toy.label])
            #expect(try person(round % 3, form).toys == [toy])
        }
        form.delete(toy)
        try form.commitAndWait()
        #expect(toy.isDeleted && toy.label == "round 4")
        #expect(try stack.read { try $0.fetchCount(From<Toy>()) } == 0)
        try form.commitAndWait()
    }

    @Test func `a commit merges by property and reports each property that both changed`() throws {
        let form = stack.beginUnsafe()
        let mine = try person(0, form)
        (mine.name, mine.balance) = ("mine", 5)
        try stack.perform(synchronous: { transaction in
            let theirs = try person(0, transaction)
            (theirs.name, theirs.level) = ("theirs", 9)
        })
        try form.commitAndWait()
        #expect(form.conflicts == [CommitConflict(objectID: ids[0], kind: .property("name"))])
        #expect(mine.name == "mine" && mine.balance == 5 && mine.level == 9)
        // An equal value on both sides is no conflict.
        mine.name = "agreed"
        try stack.perform(synchronous: { try person(0, $0).name = "agreed" })
        try form.commitAndWait()
        #expect(form.conflicts == [])
    }

    @Test func `links are merged one by one`() throws {
        try stack.perform(synchronous: { transaction in
            try person(0, transaction).friends = [person(1, transaction), person(2, transaction)]
        })
        let form = stack.beginUnsafe()
        try person(0, form).friends.removeFirst()
        let dog = form.create(Into<Dog>())
        dog.master = try person(2, form)
        try stack.perform(synchronous: { transaction in
            let fourth = transaction.create(Into<Person>())
            (fourth.name, fourth.email) = ("fourth", "4@zoo")
            try person(0, transaction).friends.append(fourth)
            for pet in try person(0, transaction).pets { pet.master = try person(2, transaction) }
        })
        try form.commitAndWait()
        #expect(try person(0, form).friends.map(\.name) == ["name 2", "fourth"])
        #expect(form.conflicts == [CommitConflict(objectID: ids[0], kind: .property("friends"))])
        #expect(try person(2, form).pets.count == 3)
        #expect(try person(1, form).friendOf.isEmpty)
    }

    @Test func `another commit's list took back an object whose own move had won`() throws {
        let toyID = try stack.perform(synchronous: { transaction in
            let toy = transaction.create(Into<Toy>())
            toy.owner = try person(0, transaction)
            return toy.objectID()
        })
        let form = stack.beginUnsafe()
        let toy = try #require(form.fetchExisting(toyID) as Toy?)
        toy.owner = try person(1, form)
        let other = form.create(Into<Toy>())
        other.owner = try person(2, form)
        try stack.perform(synchronous: { transaction in
            (transaction.fetchExisting(toyID) as Toy?)?.owner = try person(2, transaction)
        })
        try form.commitAndWait()
        #expect(toy.owner?.name == "name 1")
        #expect(try person(1, form).toys == [toy] && person(2, form).toys == [other])
        #expect(form.conflicts.contains(CommitConflict(objectID: toyID, kind: .property("owner"))))
    }

    @Test func `a commit reports its objects that others deleted meanwhile`() throws {
        let form = stack.beginUnsafe()
        let first = try person(0, form)
        first.name = "changed"
        first.toys = [form.create(Into<Toy>())]
        let debt = form.create(Into<Debt>())
        debt.debtor = first
        form.delete(try person(1, form))
        try stack.perform(synchronous: { transaction in
            transaction.delete(try person(0, transaction))
            try person(1, transaction).name = "kept"
        })
        try form.commitAndWait()
        let toys = try form.fetchAll(From<Toy>())
        #expect(
            Set(form.conflicts) == [
                CommitConflict(objectID: ids[0], kind: .changedAfterDeletion),
                CommitConflict(objectID: ids[1], kind: .deletedAfterChange),
                CommitConflict(objectID: debt.objectID(), kind: .linkToDeleted("debtor")),
                CommitConflict(objectID: toys[0].objectID(), kind: .linkToDeleted("owner")),
            ])
        #expect(first.isDeleted && first.name == "changed" && debt.debtor == nil)
        #expect(try names() == ["name 2"] && toys.map(\.owner) == [nil])
    }

    @Test func `groups of changes are undone and done again`() throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        #expect(!form.canUndo && !form.canRedo)
        let first = try person(0, form)
        let pets = first.pets
        first.name = "one"
        form.flush()
        let toy = form.create(Into<Toy>())
        (toy.label, toy.owner) = ("toy", first)
        first.name = "two"
        form.flush()
        form.delete(first)
        #expect(toy.isDeleted && form.canUndo)
        form.undo()
        #expect(!first.isDeleted && first.name == "two" && first.pets == pets)
        #expect(!toy.isDeleted && toy.owner === first && first.toys == [toy])
        #expect(form.deletedObjectIDs().isEmpty)
        form.undo()
        #expect(first.name == "one" && toy.isDeleted && first.toys.isEmpty)
        #expect(try form.fetchCount(From<Toy>()) == 0 && form.insertedObjectIDs().isEmpty)
        form.undo()
        #expect(first.name == "name 0" && !form.hasChanges && !form.canUndo && form.canRedo)
        form.undo()
        for _ in 0..<2 { form.redo() }
        #expect(first.name == "two" && toy.label == "toy" && first.toys == [toy])
        #expect(try form.fetchAll(From<Toy>()) == [toy])
        form.redo()
        #expect(first.isDeleted && toy.isDeleted && !form.canRedo)
        #expect(form.deletedObjectIDs() == [ids[0]])
        form.undo()
        first.name = "three"
        #expect(!form.canRedo)
        form.redo()
        #expect(first.name == "three")
        try form.commitAndWait()
        #expect(try names() == ["name 1", "name 2", "three"])
        #expect(try stack.read { try $0.fetchOne(From<Toy>())?.owner?.pets.count } == 2)
        #expect(!form.canUndo)
    }

    @Test func `a flush whose closure throws does not end the undo group`() throws {
        struct Refusal: Error {}
        let form = stack.beginUnsafe(supportsUndo: true)
        let first = try person(0, form)
        form.flush { first.name = "one" }
        #expect(throws: Refusal.self) {
            try form.flush(closure: {
                first.name = "two"
                throw Refusal()
            })
        }
        first.name = "three"
        form.undo()
        #expect(first.name == "one")
    }

    @Test func `a rollback discards everything since the last commit`() throws {
        let form = stack.beginUnsafe()
        let first = try person(0, form)
        first.name = "committed"
        try form.commitAndWait()
        first.name = "gone"
        first.pets = []
        let dog = form.create(Into<Dog>())
        form.delete(try person(1, form))
        #expect(try form.fetchCount(From<Dog>()) == 3)
        dog.age = 9
        form.rollback()
        #expect(first.name == "committed" && first.pets.count == 2)
        #expect(dog.isDeleted && dog.age == 9 && !form.hasChanges)
        #expect(try form.fetchCount(From<Dog>()) == 2)
        #expect(try person(1, form).name == "name 1")
        try form.commitAndWait()
        #expect(try names() == ["committed", "name 1", "name 2"])
    }

    @Test func `a nested transaction commits into the one around it alone`() throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let first = try person(0, form)
        first.name = "outer"
        form.flush()
        let nested = form.beginUnsafe(supportsUndo: true)
        let inner = try person(0, nested)
        #expect(inner.name == "outer" && inner !== first)
        (inner.name, inner.level) = ("inner", 3)
        let toy = nested.create(Into<Toy>())
        (toy.label, toy.owner) = ("toy", inner)
        nested.flush()
        nested.delete(try person(1, nested))
        nested.undo()
        first.balance = 8
        try nested.commitAndWait()
        #expect(first.name == "inner" && first.level == 3 && first.balance == 8)
        #expect(first.toys.map(\.label) == ["toy"] && inner.balance == 8)
        #expect(try names() == ["name 0", "name 1", "name 2"])
        do {
            let dropped = form.beginUnsafe()
            try person(1, dropped).name = "dropped"
        }
        #expect(try person(1, form).name == "name 1")
        form.undo()
        #expect(first.name == "outer" && first.toys.isEmpty && first.balance == 0)
        form.redo()
        try form.commitAndWait()
        #expect(try names() == ["inner", "name 1", "name 2"])
        #expect(try stack.read { try $0.fetchOne(From<Toy>())?.owner?.balance } == 8)
    }

    @Test func `changes that are made while a commit waits are kept`() throws {
        let form = stack.beginUnsafe()
        let first = try person(0, form)
        let isHeld = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let stack = stack
        let ids = ids
        DispatchQueue.global().async {
            try? stack.perform(synchronous: { transaction in
                isHeld.signal()
                mayEnd.wait()
                (transaction.fetchExisting(ids[1]) as Person?)?.name = "theirs"
                (transaction.fetchExisting(ids[0]) as Person?)?.level = 99
            })
        }
        isHeld.wait()
        (first.name, first.balance) = ("first", 1)
        let toy = form.create(Into<Toy>())
        toy.owner = first
        let done = DispatchSemaphore(value: 0)
        let errors = Mutex<[CoreStoreError?]>([])
        form.commit { error in
            errors.withLock { $0.append(error) }
            done.signal()
        }
        first.name = "second"
        toy.label = "late"
        form.delete(try person(2, form))
        #expect(first.level == 7 && form.hasChanges)
        form.commit { error in
            errors.withLock { $0.append(error) }
            done.signal()
        }
        let other = form.create(Into<Toy>())
        other.label = "kept"
        first.balance += 1
        mayEnd.signal()
        done.wait()
        done.wait()
        #expect(errors.withLock { $0 } == [nil, nil])
        #expect(try names() == ["second", "theirs"])
        // The next call completes the commits and keeps the changes made after them.
        #expect(form.hasChanges)
        #expect(first.name == "second" && first.level == 99 && first.balance == 2)
        #expect(other.label == "kept" && first.toys == [toy])
        #expect(form.updatedObjectIDs() == [ids[0]])
        #expect(form.insertedObjectIDs() == [other.objectID()])
        #expect(try person(1, form).name == "theirs")
        try form.commitAndWait()
        let labels = try stack.read { try $0.fetchAll(From<Toy>()).map(\.label) }
        #expect(Set(labels) == ["late", "kept"])
        #expect(try stack.read { ($0.fetchExisting(ids[0]) as Person?)?.balance } == 2)
    }

    /// Whether the commit ends before the rollback or after it.
    @Test(arguments: [false, true])
    func `a rollback during a commit undid what that stored`(isLate: Bool) throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let (first, second) = (try person(0, form), try person(1, form))
        (first.name, first.balance) = ("committed", 1)
        form.delete(second)
        let done = DispatchSemaphore(value: 0)
        let mayBegin = DispatchSemaphore(value: 0)
        let (stack, isHeld) = (stack, DispatchSemaphore(value: 0))
        DispatchQueue.global().async {
            try? stack.perform(synchronous: { _ in
                isHeld.signal()
                mayBegin.wait()
            })
        }
        isHeld.wait()
        form.commit { _ in done.signal() }
        first.name = "dropped"
        if !isLate {
            mayBegin.signal()
            done.wait()
        }
        form.rollback()
        #expect(first.name == "committed" && first.balance == 1)
        first.level = 5
        if isLate {
            mayBegin.signal()
            done.wait()
        }
        #expect(form.updatedObjectIDs() == [ids[0]] && form.insertedObjectIDs() == [])
        try form.commitAndWait()
        #expect(form.conflicts.isEmpty)
        #expect(try names() == ["committed", "name 2"])
        let level = try stack.read { ($0.fetchExisting(ids[0]) as Person?)?.level }
        #expect(level == 5)
    }

    @Test func `a transaction that has denied a deletion is released after its commit`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Debt>()).debtor = try person(0, transaction)
        })
        weak var context: EditingContext?
        do {
            let form = stack.beginUnsafe()
            context = form.context
            form.delete(try person(0, form))
            form.delete(try form.fetchAll(From<Debt>()))
            try form.commitAndWait()
            #expect(context != nil)
        }
        #expect(context == nil && stack.statistics.pins.isEmpty)
    }

    @Test func `a commit that fails leaves the changes to be mended`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Debt>()).debtor = try person(0, transaction)
        })
        let form = stack.beginUnsafe(supportsUndo: true)
        try person(1, form).name = "kept"
        form.flush()
        form.delete(try person(0, form))
        let error = #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        #expect(error?.description.contains("denies it") == true)
        #expect(form.hasChanges && form.deletedObjectIDs() == [ids[0]])
        form.undo()
        try form.commitAndWait()
        #expect(try names() == ["kept", "name 0", "name 2"])
        // Links committed by others count too, although the transaction does not see them.
        form.delete(try person(2, form))
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Debt>()).debtor = try person(2, transaction)
        })
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        #expect(form.hasChanges)
        form.rollback()
        try form.commitAndWait()
        #expect(try names().count == 3)
    }

    @Test func `a unique conflict with a later commit is resolved at the commit`() throws {
        let form = stack.beginUnsafe()
        let mine = form.create(Into<Person>())
        (mine.name, mine.email, mine.level) = ("mine", "new@zoo", 50)
        let dog = form.create(Into<Dog>())
        dog.master = mine
        let id = try stack.perform(synchronous: { transaction in
            let theirs = transaction.create(Into<Person>())
            (theirs.name, theirs.email, theirs.balance) = ("theirs", "new@zoo", 3)
            return theirs.objectID()
        })
        try form.commitAndWait()
        #expect(mine.isDeleted)
        #expect(
            form.conflicts == [
                CommitConflict(
                    objectID: mine.objectID(), kind: .replaced(by: id, unique: ["email"]))
            ])
        let survivor = try #require(form.fetchExisting(id) as Person?)
        #expect(survivor.name == "mine" && survivor.level == 50 && survivor.balance == 3)
        #expect(survivor.pets == [dog])
    }

    @Test func `large values and many objects are merged`() throws {
        let form = stack.beginUnsafe(supportsUndo: true)
        let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let first = try person(0, form)
        first.photo = photo
        form.flush()
        for number in 0..<3000 {
            let toy = form.create(Into<Toy>())
            (toy.label, toy.owner) = ("\(number)", first)
        }
        form.flush()
        first.photo = Data(photo.reversed())
        form.undo()
        #expect(first.photo == photo && first.toys.count == 3000)
        try stack.perform(synchronous: { transaction in
            try person(0, transaction).name = "other"
        })
        try form.commitAndWait()
        #expect(
            try stack.read { view in
                let person: Person? = view.fetchExisting(ids[0])
                return person?.photo == photo && person?.toys.count == 3000
            })
        #expect(form.conflicts.isEmpty && first.name == "other")
    }

    @Test func `the view shows the commit of an unsafe transaction`() throws {
        let view: Person = try queue.sync { try #require(stack.fetchExisting(ids[0])) }
        #expect(queue.sync { view.name } == "name 0")
        let form = stack.beginUnsafe()
        try person(0, form).name = "seen"
        let done = DispatchSemaphore(value: 0)
        form.commit { _ in done.signal() }
        done.wait()
        #expect(queue.sync { view.name } == "seen")
    }

    // Release builds check no assertions.
    #if DEBUG
        @Test func `undoing without support for it is asserted`() async {
            let result = await #expect(processExitsWith: .failure) {
                let (stack, _) = try Zoo.stack()
                stack.beginUnsafe().undo()
            }
            #expect(result != nil)
        }
    #endif
}
