import ObjectGraph
import Testing

private final class Word: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("text") var text: String = ""
    @Field.Stored("value") var value: Int = 0

    typealias ImportSource = (text: String, value: Int)
    typealias UniqueIDType = String
    static var uniqueIDKeyPath: String { "text" }
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? { source.text }
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        value = source.value
    }
}

private final class Left: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Relationship("right") var right: Right?
}

private final class Right: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Relationship("lefts", inverse: \.$right) var lefts: Set<Left>
}

/// Mistakes and rare uses of a program: each gives an error, and nothing hangs or traps.
@Suite struct CallerMistakeTests {
    private let queue = DispatchQueue(label: "view")

    private func words(indexed: Bool = true) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Word>("Word", uniqueConstraints: indexed ? [[\.$text]] : [])
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `a checkpoint or a vacuum inside a transaction throws and does not wait`() throws {
        let stack = try words()
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Word>()).text = "a"
            #expect(throws: CoreStoreError.self) { try stack.checkpoint() }
            #expect(throws: CoreStoreError.self) { try stack.vacuum() }
        })
        try stack.checkpoint()
        #expect(try queue.sync { try stack.fetchCount(From<Word>()) } == 1)
    }

    @Test(arguments: [false, true])
    func `a store in memory is backed up into a file`(isIncremental: Bool) throws {
        let stack = try words()
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        for number in 0..<10 {
            try stack.perform(synchronous: { $0.create(Into<Word>()).text = "\(number)" })
            if number == 4, isIncremental { try stack.backup(to: url, isIncremental: true) }
        }
        try stack.backup(to: url, isIncremental: isIncremental)
        let copy = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Word>("Word", uniqueConstraints: [[\.$text]])]),
            viewContext: .queue(queue))
        try copy.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try queue.sync { try copy.fetchCount(From<Word>()) } == 10)
        copy.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a backup to what is no file is refused`() throws {
        let url = try #require(URL(string: "http://a/trellis-no-file"))
        let stack = try words()
        #expect(throws: CoreStoreError.self) { try stack.backup(to: url) }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test(arguments: [0, -1, 1, 1000, 2048, 4097, 131_072, .max])
    func `a size of pages that no file can have is refused`(size: Int) throws {
        let url = Zoo.temporaryURL()
        var options = EngineOptions()
        options.pageSizeInBytes = size
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        }
        #expect(failure?.storeError?.code == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test(arguments: [Int.max, -1])
    func `a cache of any size opens a store`(size: Int) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        var options = EngineOptions()
        options.cacheSizeInBytes = size
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 3 })
        #expect(try queue.sync { try stack.fetchCount(From<Dog>()) } == 1)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test(arguments: [true, false])
    func `sources are one object when their keys have the same bytes`(indexed: Bool) throws {
        let stack = try words(indexed: indexed)
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        try stack.perform(synchronous: { $0.create(Into<Word>()).text = composed })
        let sources: [Word.ImportSource] = [
            (decomposed, 4), (composed, 5), ("x", 1), ("x", 2),
        ]
        try stack.perform(synchronous: { transaction in
            _ = try transaction.importUniqueObjects(Into<Word>(), sourceArray: sources)
        })
        let found = try queue.sync {
            try stack.fetchAll(From<Word>()).map { (Array($0.text.utf8), $0.value) }
        }
        #expect(found.count == 3)
        #expect(found.first { $0.0 == Array(composed.utf8) }?.1 == 5)
        #expect(found.first { $0.0 == Array(decomposed.utf8) }?.1 == 4)
        #expect(found.first { $0.0 == [UInt8(ascii: "x")] }?.1 == 2)
    }

    @Test func `configurations with a relationship between them open as stores of their own`()
        throws
    {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Left>("Left"): ["One"], Entity<Right>("Right"): ["Two"],
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "One"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Two"))
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Left>()).number = 1
            transaction.create(Into<Right>()).number = 2
        })
        try queue.sync { () throws in
            let left = try #require(try stack.fetchOne(From<Left>()))
            #expect(left.number == 1)
            #expect(left.right == nil)
            let right = try #require(try stack.fetchOne(From<Right>()))
            #expect(right.number == 2)
            #expect(right.lefts.isEmpty)
        }
    }

    @Test func `a typed ID finds its object in every context`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.age = 3
            return dog.typedID
        })
        try stack.perform(synchronous: { transaction in transaction.edit(id)?.age += 1 })
        #expect(queue.sync { stack.fetchExisting(id)?.age } == 4)
        #expect(ObjectID<Animal>(id.rawID, in: stack)?.rawID == id.rawID)
        #expect(ObjectID<Toy>(id.rawID, in: stack) == nil)
        try stack.perform(synchronous: { transaction in transaction.delete(id) })
        #expect(queue.sync { stack.fetchExisting(id) == nil })
    }
}
