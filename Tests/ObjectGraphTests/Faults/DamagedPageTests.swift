import Dispatch
import Foundation
import ObjectGraph
import PageStore
import TestSupport
import Testing

private final class Author: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Stored("portrait") var portrait: Data?
    @Field.Relationship("mentor") var mentor: Author?
    @Field.Relationship("pupils", inverse: \.$mentor) var pupils: Set<Author>
    @Field.Relationship("books", inverse: \.$author) var books: [Book]
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Author>
    @Field.Relationship("friendOf") var friendOf: Set<Author>
}

private final class Book: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Relationship("author") var author: Author?
}

/// One damaged page of a store at a time: each answer of the public API is right, or an error says
/// that something could not be read.
@Suite struct DamagedPageTests {
    private static let schema = CoreStoreSchema(
        modelVersion: "V1",
        entities: [
            Entity<Author>("Author", indexes: [[\.$name], [\.$age]]), Entity<Book>("Book"),
        ])

    private enum Place: CaseIterable {
        case view, readView, transaction, unsafeTransaction
    }

    private let queue = DispatchQueue(label: "view")

    private func stack(_ files: FaultyFileSystem) throws -> DataStack {
        let stack = DataStack(Self.schema, viewContext: .queue(queue))
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("damaged.trellis")
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, files: files, engineOptions: options))
        return stack
    }

    /// The bytes of a closed store.
    private func made(_ random: inout SeededRandom) throws -> [UInt8] {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        let portraits = (0..<60).map { _ in random.bytes(random.below(4) * 1500) }
        let ages = (0..<60).map { _ in random.below(40) }
        let mates = (0..<60).map { _ in (0..<random.below(9)).map { _ in random.below(60) } }
        try stack.perform(synchronous: { transaction in
            let authors = (0..<60).map { number in
                let author = transaction.create(Into<Author>())
                author.name = "author \(number)"
                author.age = ages[number]
                author.portrait = portraits[number].isEmpty ? nil : Data(portraits[number])
                return author
            }
            for (number, author) in authors.enumerated() {
                author.mentor = number % 3 == 0 ? nil : authors[number / 2]
                author.friends = Set(mates[number].map { authors[$0] })
                author.books = (0..<number % 5).map { index in
                    let book = transaction.create(Into<Book>())
                    book.title = "book \(index) of \(number)"
                    return book
                }
            }
        })
        try stack.checkpoint()
        stack.unsafeRemoveAllPersistentStoresAndWait()
        return files.bytes
    }

    /// Where the extents of the newest commit's pages begin.
    private func pagePlaces(_ bytes: [UInt8]) throws -> [UInt64] {
        var options = StoreOptions()
        options.mode = .reading
        let engine = try Engine.open(
            path: "damaged", options: options, files: FaultyFileSystem(bytes: bytes))
        return try engine.snapshot().pagePlaces().compactMap(\.byteOffset)
    }

    /// All answers of the store, as text.
    private func answers(
        _ source: any FetchableSource & QueryableSource
    ) throws(CoreStoreError) -> [String] {
        var lines: [String] = []
        for author in try source.fetchAll(From<Author>().orderBy(.ascending(\.$name))) {
            let friends = author.friends.map(\.name).sorted().joined(separator: ",")
            let books = author.books.map(\.title).joined(separator: ",")
            lines.append(
                "\(author.name) \(author.age) \(author.portrait?.hashValue ?? 0) "
                    + "\(author.mentor?.name ?? "-") [\(friends)] [\(books)]")
        }
        for book in try source.fetchAll(From<Book>().orderBy(.ascending(\.$title))) {
            lines.append("\(book.title) \(book.author?.name ?? "-")")
        }
        let young = try source.fetchAll(From<Author>().where(\.$age < 10)).map(\.name).sorted()
        lines.append(young.joined(separator: ","))
        let oldest = try source.queryValue(From<Author>(), Select(.maximum(\.$age))) as Int?
        lines.append("\(oldest ?? -1)")
        return lines
    }

    /// The answers, followed by a fetch that throws the errors that getters could not throw.
    private func checkedAnswers(
        _ source: any FetchableSource & QueryableSource
    ) throws(CoreStoreError) -> [String] {
        let lines = try answers(source)
        _ = try source.fetchCount(From<Book>())
        return lines
    }

    private func answers(_ stack: DataStack, _ place: Place) throws(CoreStoreError) -> [String] {
        switch place {
        case .view:
            let result: Result<[String], CoreStoreError> = queue.sync {
                Result { () throws(CoreStoreError) in try checkedAnswers(stack) }
            }
            return try result.get()
        case .readView:
            return try stack.read { try checkedAnswers($0) }
        case .transaction:
            // The change stands for a commit that depends on what was read.
            return try stack.perform(synchronous: { transaction in
                let lines = try answers(transaction)
                transaction.create(Into<Book>()).title = "new"
                return lines
            })
        case .unsafeTransaction:
            let transaction = stack.beginUnsafe()
            let lines = try answers(transaction)
            _ = transaction.create(Into<Book>())
            try transaction.commitAndWait()
            return lines
        }
    }

    @Test(arguments: [Place.view, .readView, .transaction, .unsafeTransaction])
    private func `a damaged page gives the right answer or an error`(_ place: Place) throws {
        var random = SeededRandom(for: "DamagedPageTests")
        let bytes = try made(&random)
        let places = try pagePlaces(bytes)
        #expect(places.count > 30)
        let truth = try answers(stack(FaultyFileSystem(bytes: bytes)), place)
        var (rightCount, errorCount) = (0, 0)
        for start in places {
            // The stored bytes of the extent begin after its header, which contains their length.
            var damaged = bytes
            let stored = Int(damaged[Int(start) + 32]) | Int(damaged[Int(start) + 33]) << 8
            let bit = random.below(8 * max(stored, 1))
            damaged[Int(start) + 48 + bit / 8] ^= 1 << UInt8(bit % 8)
            do {
                let stack = try stack(FaultyFileSystem(bytes: damaged))
                let found = try answers(stack, place)
                #expect(found == truth, "byte \(start), seed \(random.seed)")
                rightCount += 1
            } catch {
                let failure = error as? CoreStoreError
                #expect(failure?.storeError?.code == .corrupt, "\(error)")
                errorCount += 1
            }
        }
        // Trees that are only counted, or not read at all, give right answers.
        #expect(errorCount > places.count / 2, "\(errorCount) of \(places.count)")
        print("\(place): \(rightCount) right, \(errorCount) errors")
    }

    @Test func `a fault reaches the handler, the sequence, and load`() async throws {
        var random = SeededRandom(for: "DamagedPageTests handler")
        let bytes = try made(&random)
        let truth = try stack(FaultyFileSystem(bytes: bytes)).read { view in
            try view.fetchAll(From<Author>().orderBy(.ascending(\.$name))).map {
                $0.friends.map(\.name).sorted()
            }
        }
        var faultyCount = 0
        for start in try pagePlaces(bytes) {
            var damaged = bytes
            damaged[Int(start) + 48] ^= 1
            guard let stack = try? stack(FaultyFileSystem(bytes: damaged)) else { continue }
            let told = DispatchSemaphore(value: 0)
            stack.onStorageFault = { fault in
                if fault.error.storeError?.code == .corrupt { told.signal() }
            }
            var sequence = stack.storageFaults.makeAsyncIterator()
            let friends: [[String]?]? = try? stack.read { view in
                try view.fetchAll(From<Author>().orderBy(.ascending(\.$name))).map { author in
                    let loaded = try? author.load(\.$friends).map(\.name).sorted()
                    let got = author.friends.map(\.name).sorted()
                    #expect(loaded == nil || loaded == got)
                    return loaded
                }
            }
            guard let friends else { continue }
            #expect(zip(friends, truth).allSatisfy { $0 == nil || $0 == $1 })
            guard friends.contains(nil) else { continue }
            faultyCount += 1
            #expect(told.wait(timeout: .now() + 20) == .success)
            let fault = await sequence.next()
            #expect(fault?.error.storeError?.page != nil)
            #expect(fault?.message.contains("links") == true)
        }
        #expect(faultyCount > 0)
    }
}
