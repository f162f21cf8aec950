import Dispatch
import Foundation
import ObjectGraph
import PageStore
import TestSupport
import Testing

private final class Letter: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
    @Field.Coded("tags", coder: FieldCoders.Json.self) var tags: [String] = []
    @Field.Virtual("greeting", customGetter: { object, field in "Dear \(object.$text.value)" })
    var greeting: String
    @Field.Relationship("writer") var writer: Writer?
}

private final class Writer: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("portrait") var portrait: Data = Data()
    @Field.Relationship("letters", inverse: \.$writer) var letters: Set<Letter>
}

/// The throwing forms of getters and of fetchExisting, over damaged files.
@Suite struct LoadTests {
    private static let count = 12

    private func stack(_ files: FaultyFileSystem) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Letter>("Letter"), Entity<Writer>("Writer")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("load.trellis")
        try stack.addStorageAndWait(LocalStore(fileURL: url, files: files, engineOptions: options))
        return stack
    }

    /// The bytes of a closed store, and the IDs of its letters.
    private func made(
        _ random: inout SeededRandom
    ) throws -> ([UInt8], [NSManagedObjectID]) {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        let portraits = (0..<Self.count).map { _ in random.bytes(400) }
        let texts = (0..<Self.count).map { _ in "\(random.bytes(2_000))" }
        let ids = try stack.perform(synchronous: { transaction in
            let writers = portraits.enumerated().map { number, portrait in
                let writer = transaction.create(Into<Writer>())
                (writer.name, writer.portrait) = ("writer \(number)", Data(portrait))
                return writer
            }
            return texts.enumerated().map { number, text in
                let letter = transaction.create(Into<Letter>())
                (letter.text, letter.tags) = (text, ["\(number)", "tag"])
                letter.writer = writers[(number * 7 + 3) % Self.count]
                return letter.objectID()
            }
        })
        try stack.checkpoint()
        stack.unsafeRemoveAllPersistentStoresAndWait()
        return (files.bytes, ids)
    }

    /// The value of each property of a letter, by name; nil if reading it reports that the file is
    /// damaged.
    private func loaded(
        _ id: NSManagedObjectID, _ transaction: BaseDataTransaction
    ) -> [String: String?] {
        func text(_ body: () throws(CoreStoreError) -> String) -> String? {
            do throws(CoreStoreError) {
                return try body()
            } catch {
                #expect(error.storeError?.code == .corrupt, "\(error)")
                return nil
            }
        }
        let letter: Letter? = transaction.edit(Into<Letter>(), id)
        guard let letter else { return [:] }
        return [
            "stored": text { () throws(CoreStoreError) in try letter.load(\.$text) },
            "coded": text { () throws(CoreStoreError) in "\(try letter.load(\.$tags))" },
            "virtual": text { () throws(CoreStoreError) in try letter.load(\.$greeting) },
            "to-one": text { () throws(CoreStoreError) in
                let writer = try letter.load(\.$writer)
                return try writer?.load(\.$name) ?? "nobody"
            },
        ]
    }

    private func existing(_ id: NSManagedObjectID, _ stack: DataStack) -> Bool? {
        do throws(CoreStoreError) {
            let letter: Letter? = try stack.read { view throws(CoreStoreError) in
                try view.loadExisting(id)
            }
            return letter != nil
        } catch {
            #expect(error.storeError?.code == .corrupt, "\(error)")
            return nil
        }
    }

    @Test func `load and loadExisting return the stored objects or throw`() throws {
        var random = SeededRandom(for: "LoadTests")
        let (bytes, ids) = try made(&random)
        var truth: [[String: String?]] = []
        try stack(FaultyFileSystem(bytes: bytes)).perform(synchronous: { transaction in
            truth = ids.map { loaded($0, transaction) }
        })
        #expect(truth.allSatisfy { $0.count == 4 && $0.values.allSatisfy { $0 != nil } })
        var options = StoreOptions()
        options.mode = .reading
        let places = try Engine.open(
            path: "load", options: options, files: FaultyFileSystem(bytes: bytes)
        ).snapshot().pagePlaces().compactMap(\.byteOffset)
        var (thrown, goneCount): ([String: Int], Int) = ([:], 0)
        for start in places {
            var damaged = bytes
            damaged[Int(start) + 48] ^= 1
            guard let stack = try? stack(FaultyFileSystem(bytes: damaged)) else { continue }
            for id in ids where existing(id, stack) != true { goneCount += 1 }
            // The transaction cannot be committed after damage, and need not be.
            try? stack.perform(synchronous: { transaction in
                for (id, known) in zip(ids, truth) {
                    for (kind, value) in loaded(id, transaction) {
                        if value == nil { thrown[kind, default: 0] += 1 }
                        #expect(value == nil || value == known[kind], "\(kind), page at \(start)")
                    }
                }
            })
        }
        #expect(thrown["to-one", default: 0] > 0, "\(thrown)")
        #expect(goneCount > 0)
    }
}
