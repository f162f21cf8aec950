import ObjectGraph
import PageStore
import TestSupport
import Testing

/// Objects of a transaction that read their rows when they are first needed.
@Suite struct LateRowTests {
    private let stack: DataStack
    private let ids: [NSManagedObjectID]

    init() throws {
        stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        var options = EngineOptions()
        options.changedBytesMax = 1
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: URL(fileURLWithPath: "/late"), files: MemoryFileSystem(),
                engineOptions: options))
        ids = try stack.perform(synchronous: { transaction in
            (0..<500).map { index in
                let person = transaction.create(Into<Person>())
                person.name = "person \(index)"
                person.email = "\(index)@example.org"
                return person.objectID()
            }
        })
    }

    @Test func `making objects editable looks up no page`() throws {
        try stack.perform(synchronous: { transaction in
            var people = [transaction.edit(Into<Person>(), ids[0])]
            let before = stack.statistics.pageLookups
            for id in ids { people.append(transaction.edit(Into<Person>(), id)) }
            #expect(people.allSatisfy { $0 != nil })
            #expect(stack.statistics.pageLookups == before)
        })
    }

    @Test func `links to unread objects are stored and their values stay`() throws {
        try stack.perform(synchronous: { transaction in
            for id in ids {
                let toy = transaction.create(Into<Toy>())
                toy.owner = transaction.edit(Into<Person>(), id)
            }
        })
        try stack.perform(synchronous: { transaction in
            for (index, id) in ids.enumerated() {
                let person = try #require(transaction.edit(Into<Person>(), id))
                #expect(person.toys.count == 1)
                #expect(person.name == "person \(index)")
                #expect(person.email == "\(index)@example.org")
            }
        })
    }

    @Test func `an object whose links alone changed is listed as changed`() throws {
        try stack.perform(synchronous: { transaction in
            let person = try #require(transaction.edit(Into<Person>(), ids[3]))
            let toy = transaction.create(Into<Toy>())
            person.toys = [toy]
            #expect(transaction.objectHasPersistentChangedValues(person))
            #expect(transaction.updatedObjectIDs() == [ids[3]])
        })
    }

    @Test func `an unread object can be read after its transaction has ended`() throws {
        let person = try stack.perform(synchronous: { transaction in
            try #require(transaction.edit(Into<Person>(), ids[7]))
        })
        #expect(person.name == "person 7")
    }

    /// A bug: the fetch gave the object its row from before the transaction, and a later change
    /// stored that row.
    @Test func `a fetch of the state before a transaction does not undo flushed changes`() throws {
        try stack.perform(synchronous: { transaction in
            var person = transaction.edit(Into<Person>(), ids[7])
            person?.name = "new"
            person = nil
            // Makes room: the change is flushed, and its object is released.
            for id in ids[100..<200] { transaction.edit(Into<Person>(), id)?.name += "!" }
            let late = try #require(transaction.edit(Into<Person>(), ids[7]))
            let before = try transaction.fetchAll(
                From<Person>(), Tweak { $0.includesPendingChanges = false })
            #expect(before.count == 500)
            late.email = "late@example.org"
        })
        try stack.perform(synchronous: { transaction in
            let person = try #require(transaction.edit(Into<Person>(), ids[7]))
            #expect(person.name == "new")
            #expect(person.email == "late@example.org")
        })
    }

    /// A bug: a limit counted objects that the transaction had deleted, which were left out then.
    @Test func `a fetch of the state before a transaction found fewer than its limit`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [ids[0], ids[2]])
            for (offset, limit, expected) in [(0, 2, [1, 3]), (1, 1, [3]), (2, 9, [4])] {
                let found = try transaction.fetchAll(
                    From<Person>().where(format: "name IN %@", (0..<5).map { "person \($0)" })
                        .orderBy(.ascending(\.$name))
                        .tweak {
                            $0.includesPendingChanges = false
                            ($0.fetchOffset, $0.fetchLimit) = (offset, limit)
                        })
                #expect(found.map(\.name) == expected.map { "person \($0)" })
            }
        })
    }

    @Test func `an unread object that a later transaction deleted has its defaults`() throws {
        let person = try stack.perform(synchronous: { transaction in
            try #require(transaction.edit(Into<Person>(), ids[7]))
        })
        try stack.perform(synchronous: { transaction in transaction.delete(objectIDs: [ids[7]]) })
        #expect(person.name.isEmpty)
    }

    @Test func `an object that the transaction deleted cannot be edited`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [ids[10]])
            for _ in 0..<3 { _ = transaction.create(Into<Toy>()) }
            #expect(transaction.edit(Into<Person>(), ids[10]) == nil)
            #expect(transaction.edit(Into<Person>(), ids[11])?.name == "person 11")
        })
    }

    @Test func `an object that an earlier transaction deleted cannot be edited`() throws {
        try stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [ids[20]])
        })
        try stack.perform(synchronous: { transaction in
            #expect(transaction.edit(Into<Person>(), ids[20]) == nil)
            #expect(transaction.edit(Into<Person>(), ids[21])?.name == "person 21")
        })
    }

    @Test func `an object created and deleted in one transaction cannot be edited later`() throws {
        let gone = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.email = "gone"
            let id = person.objectID()
            transaction.delete(person)
            let last = transaction.create(Into<Person>())
            last.email = "last"
            return id
        })
        try stack.perform(synchronous: { transaction in
            #expect(transaction.edit(Into<Person>(), gone) == nil)
            #expect(transaction.edit(Into<Person>(), ids[0]) != nil)
        })
    }

    @Test func `insertions and deletions of a transaction leave other objects editable`() throws {
        try stack.perform(synchronous: { transaction in
            // Applied at once, so that the counts have changed before the first is edited.
            for index in 0..<5 {
                let person = transaction.create(Into<Person>())
                person.email = "new \(index)"
            }
            transaction.delete(objectIDs: ids[0..<5])
            _ = try transaction.fetchCount(From<Person>())
            for id in ids[0..<5] { #expect(transaction.edit(Into<Person>(), id) == nil) }
            for id in ids[5...] { #expect(transaction.edit(Into<Person>(), id) != nil) }
        })
    }
}
