import ObjectGraph
import TestSupport
import Testing

private final class Word: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("synonym") var synonym: Word?
}

private final class Note: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
}

/// A storage that is opened for reading, beside one that is written.
@Suite struct ReadOnlyStorageTests {
    private let queue = DispatchQueue(label: "view")
    private let url = Zoo.temporaryURL()

    private func stack(_ storages: any StorageInterface...) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Word>("Word"): ["words"], Entity<Note>("Note"): ["notes"],
                ]), viewContext: .queue(queue))
        for storage in storages {
            switch storage {
            case let local as LocalStore: try stack.addStorageAndWait(local)
            case let memory as InMemoryStore: try stack.addStorageAndWait(memory)
            default: Issue.record("another kind of storage")
            }
        }
        return stack
    }

    /// A stack with two words, which are open for reading, and no notes.
    private func filled() throws -> DataStack {
        let first = try stack(LocalStore(fileURL: url, configuration: "words"))
        try first.perform(synchronous: { transaction in
            let (a, b) = (transaction.create(Into<Word>()), transaction.create(Into<Word>()))
            (a.text, b.text, a.synonym) = ("a", "b", b)
        })
        try first.close()
        var options = EngineOptions()
        options.isReadOnly = true
        return try stack(
            LocalStore(fileURL: url, configuration: "words", engineOptions: options),
            InMemoryStore(configuration: "notes"))
    }

    @Test func `a transaction failed that only reads a storage open for reading`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try filled()
        let count = try stack.perform(synchronous: { transaction in
            let words = try transaction.fetchAll(From<Word>().orderBy(.ascending(\.$text)))
            #expect(transaction.edit(words[0]) === words[0])
            #expect(words[0].synonym === words[1])
            transaction.create(Into<Note>()).text = words.map(\.text).joined()
            return try transaction.fetchCount(From<Word>())
        })
        #expect(count == 2)
        #expect(try queue.sync { try stack.fetchOne(From<Note>())?.text } == "ab")
        let unsafe = stack.beginUnsafe()
        let word = try unsafe.fetchOne(From<Word>().where(\.$text == "b"))
        unsafe.create(Into<Note>()).text = word?.text ?? ""
        try unsafe.commitAndWait()
        #expect(try queue.sync { try stack.fetchCount(From<Note>()) } == 2)
    }

    @Test(arguments: 0..<5)
    func `a change to a storage open for reading fails with the rest`(number: Int) throws {
        let changes: [(SynchronousDataTransaction) throws -> Void] = [
            { try $0.fetchOne(From<Word>())?.text = "c" },
            { try $0.fetchOne(From<Word>().where(\.$text == "a"))?.synonym = nil },
            { transaction in
                let word = try transaction.fetchOne(From<Word>())
                word.map { transaction.delete($0) }
            },
            { _ = try $0.deleteAll(From<Word>()) },
            { $0.create(Into<Word>()).text = "c" },
        ]
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try filled()
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Note>()).text = "lost"
                try changes[number](transaction)
            })
        }
        #expect(error?.storeError?.code == .readOnly)
        let (texts, notes) = try queue.sync {
            try (stack.fetchAll(From<Word>()).map(\.text), stack.fetchCount(From<Note>()))
        }
        #expect(Set(texts) == ["a", "b"] && notes == 0)
    }
}
