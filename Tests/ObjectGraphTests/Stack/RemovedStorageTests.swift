import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// One storage of several that is taken out of a stack.
@Suite(.timeLimit(.minutes(hangMinutes))) struct RemovedStorageTests {
    final class Note: CoreStoreObject {
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("next") var next: Note?
    }

    private let queue = DispatchQueue(label: "view")

    private func stack() throws -> (DataStack, InMemoryStore, InMemoryStore) {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [Entity<Note>("Note"): Set(["One", "Two"])]),
            viewContext: .queue(queue))
        let one = try stack.addStorageAndWait(InMemoryStore(configuration: "One"))
        let two = try stack.addStorageAndWait(InMemoryStore(configuration: "Two"))
        try stack.perform(synchronous: { transaction in
            for name in ["One", "Two"] {
                let note = transaction.create(Into<Note>(name))
                note.text = name
                note.next = note
            }
        })
        return (stack, one, two)
    }

    @Test func `objects of the remaining storages keep their values`() throws {
        let (stack, one, _) = try stack()
        try queue.sync { () throws in
            let notes = try stack.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
            stack.unsafeRemovePersistentStoreAndWait(one)
            #expect(notes.map(\.text) == ["One", "Two"])
            #expect(notes[0].next == nil)
            #expect(notes[1].next === notes[1])
            #expect(try stack.fetchAll(From<Note>()).map(\.text) == ["Two"])
            #expect(try stack.fetchOne(From<Note>()) === notes[1])
            let gone: Note? = stack.fetchExisting(notes[0].objectID())
            #expect(gone == nil)
            try stack.perform(synchronous: { try $0.fetchOne(From<Note>())?.text = "Later" })
            #expect(notes.map(\.text) == ["One", "Later"])
            #expect(throws: CoreStoreError.self) { try stack.fetchAll(From<Note>("One")) }
        }
    }

    @Test func `an object of a storage that was removed keeps its values when it is refreshed`()
        throws
    {
        let (stack, one, _) = try stack()
        try queue.sync { () throws in
            let notes = try stack.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
            #expect(notes.map(\.text) == ["One", "Two"])
            stack.unsafeRemovePersistentStoreAndWait(one)
            for note in notes { note.refreshAsFault() }
            #expect(notes.map(\.text) == ["One", "Two"])
            for note in notes { note.refreshAndMerge() }
            #expect(notes.map(\.text) == ["One", "Two"])
        }
    }

    /// A bug: those that had not been read since the view had moved were empty.
    @Test func `objects keep their values when all storages are closed`() throws {
        let (stack, _, _) = try stack()
        let notes = try queue.sync { () throws in
            let notes = try stack.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
            #expect(notes.map(\.text) == ["One", "Two"])
            return notes
        }
        try stack.perform(synchronous: { transaction in
            for note in try transaction.fetchAll(From<Note>()) { note.text += " later" }
        })
        try queue.sync { () throws in
            stack.refreshAndMergeAllObjects()
            try stack.close()
            #expect(notes.map(\.text) == ["One later", "Two later"])
        }
    }

    /// A bug: the background ended the view while it was used.
    @Test func `the view forgets all storages where it lives`() throws {
        let (stack, _, _) = try stack()
        let done = DispatchSemaphore(value: 0)
        try queue.sync { () throws in
            let notes = try stack.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
            stack.unsafeRemoveAllPersistentStores { done.signal() }
            while !stack.stores.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
            Thread.sleep(forTimeInterval: 0.05)
            #expect(stack.withViewIfMade { _ in true } == true)
            #expect(notes.map(\.text) == ["One", "Two"])
        }
        done.wait()
        queue.sync { #expect(stack.withViewIfMade { _ in true } == nil) }
    }

    @Test func `values of an object that was only linked are kept`() throws {
        let (stack, one, _) = try stack()
        queue.sync {
            // Nothing of the view was read before a transaction moved it.
            let notes = try? stack.fetchAll(From<Note>("One"))
            stack.refreshAndMergeAllObjects()
            stack.unsafeRemovePersistentStoreAndWait(one)
            #expect(notes?.first?.text == "One")
        }
    }

    @Test func `an observed list continues without the removed storage`() throws {
        let (stack, _, two) = try stack()
        let done = DispatchSemaphore(value: 0)
        let monitor = queue.sync {
            let monitor = stack.monitorList(From<Note>().orderBy(.ascending(\.$text)))
            #expect(monitor.objectsInAllSections().map(\.text) == ["One", "Two"])
            return monitor
        }
        stack.unsafeRemovePersistentStore(two) { done.signal() }
        done.wait()
        for _ in 0..<2000 where queue.sync(execute: { monitor.numberOfObjects() }) != 1 {
            Thread.sleep(forTimeInterval: 0.005)
        }
        queue.sync { #expect(monitor.objectsInAllSections().map(\.text) == ["One"]) }
        try stack.perform(synchronous: { $0.create(Into<Note>("One")).text = "More" })
        queue.sync {
            stack.deliver()
            #expect(monitor.objectsInAllSections().map(\.text) == ["More", "One"])
        }
    }

    @Test func `the storage can be added again`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let storage = try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "a" })
        try queue.sync { () throws in #expect(try stack.fetchCount(From<Toy>()) == 1) }
        stack.unsafeRemovePersistentStoreAndWait(storage)
        try stack.addStorageAndWait(storage)
        try queue.sync { () throws in
            #expect(try stack.fetchAll(From<Toy>()).map(\.label) == ["a"])
        }
    }

    /// A bug: it went on with the storage that had been removed.
    @Test func `an unsafe transaction changes a storage that was added again`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let storage = try stack.addStorageAndWait(LocalStore(fileURL: url))
        let form = stack.beginUnsafe()
        let toy = form.create(Into<Toy>())
        toy.label = "a"
        try form.commitAndWait()
        stack.unsafeRemovePersistentStoreAndWait(storage)
        try stack.addStorageAndWait(storage)
        let edited = try #require(form.edit(toy))
        #expect(edited !== toy && edited.label == "a")
        edited.label = "b"
        form.create(Into<Toy>()).label = "c"
        try form.commitAndWait()
        #expect(!form.hasChanges)
        let labels = try stack.read { view in
            try view.fetchAll(From<Toy>().orderBy(.ascending(\.$label))).map(\.label)
        }
        #expect(labels == ["b", "c"])
    }

    /// A bug: it could not read the objects of the storage again, and failed from then on.
    @Test(arguments: [false, true], [false, true])
    func `an unsafe transaction could not roll back without a storage of its objects`(
        isFlushed: Bool, isObserved: Bool
    ) throws {
        let (stack, one, _) = try stack()
        let form = stack.beginUnsafe()
        let notes = try form.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
        let monitor = isObserved ? form.monitorObject(notes[0]) : nil
        for note in notes { note.text += " changed" }
        let new = ["One", "Two"].map { form.create(Into<Note>($0)) }
        if isFlushed { form.flush() }
        stack.unsafeRemovePersistentStoreAndWait(one)
        #expect(form.hasChanges)
        form.rollback()
        #expect(!form.hasChanges)
        #expect(new.map(\.isDeleted) == [true, true])
        #expect(notes.map(\.text) == ["One changed", "Two"])
        notes[1].text = "Later"
        try form.commitAndWait()
        let texts = try stack.read { try $0.fetchAll(From<Note>()).map(\.text) }
        #expect(texts == ["Later"])
        withExtendedLifetime(monitor) {}
    }

    /// A bug, as above.
    @Test func `an unsafe transaction could not undo without a storage of its objects`() throws {
        let (stack, one, _) = try stack()
        let form = stack.beginUnsafe(supportsUndo: true)
        let notes = try form.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
        for note in notes { note.text += " changed" }
        form.flush()
        stack.unsafeRemovePersistentStoreAndWait(one)
        form.undo()
        #expect(notes.map(\.text) == ["One changed", "Two"])
        form.redo()
        #expect(notes.map(\.text) == ["One changed", "Two changed"])
        // Nothing of the removed storage is lost in silence.
        #expect(throws: CoreStoreError.self) { try form.commitAndWait() }
        form.rollback()
        notes[1].text = "Later"
        try form.commitAndWait()
        #expect(try stack.read { try $0.fetchAll(From<Note>()).map(\.text) } == ["Later"])
    }

    /// A bug: those that had not been read were empty.
    @Test func `objects keep their values when their stack is released`() throws {
        try queue.sync { () throws in
            var held: DataStack? = try stack().0
            let notes = try held?.fetchAll(From<Note>().orderBy(.ascending(\.$text)))
            held?.refreshAndMergeAllObjects()
            held = nil
            #expect(notes?.map(\.text) == ["One", "Two"])
        }
    }

    @Test func `limits and orders count over all stores`() throws {
        let (stack, _, _) = try stack()
        try stack.perform(synchronous: { transaction in
            for number in 0..<10 {
                transaction.create(Into<Note>(number % 2 == 0 ? "One" : "Two")).text = "\(number)"
            }
        })
        try queue.sync { () throws in
            let texts = try stack.fetchAll(
                From<Note>().orderBy(.descending(\.$text)).tweak {
                    ($0.fetchLimit, $0.fetchOffset) = (4, 1)
                }
            ).map(\.text)
            #expect(texts == ["One", "9", "8", "7"])
            let last = try stack.queryValue(
                From<Note>().select(String.self, .maximum(\.$text)))
            #expect(last == "Two")
        }
    }
}
