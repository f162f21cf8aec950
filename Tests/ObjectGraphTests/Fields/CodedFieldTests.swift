import ObjectGraph
import Synchronization
import TestSupport
import Testing

struct Recipe: Codable, Equatable {
    var title = "Soup"
    var minutes: Double = 20
    var steps: [String: [Int]] = ["cut": [1, 2]]
    var source: URL?
}

/// A top-level class, which keyed archives require.
final class Stamp: NSObject, NSSecureCoding {
    let text: String
    static var supportsSecureCoding: Bool { true }
    init(_ text: String) { self.text = text }
    init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "text") else { return nil }
        self.text = text.substring(from: 0)
    }
    func encode(with coder: NSCoder) { coder.encode(text as NSString, forKey: "text") }
}

private final class Mutable {
    var number: UInt8
    init(_ number: UInt8) { self.number = number }
}

private let decodedCount = Atomic<Int>(0)

private class Page: CoreStoreObject {
    @Field.Coded("json", coder: FieldCoders.Json.self) var json: Recipe?
    @Field.Coded("plist", coder: FieldCoders.Plist.self) var plist: Recipe = Recipe(title: "None")
    @Field.Coded("number", coder: FieldCoders.Json.self) var number: Int = 7
}

private final class Card: Page, ImportableUniqueObject {
    @Field.Stored("key") var key: String = ""
    @Field.Coded("stamp", coder: FieldCoders.NSCoding.self) var stamp: Stamp?
    @Field.Coded("array", coder: FieldCoders.DefaultNSSecureCoding.self) var array: NSArray?
    @Field.Coded("words") var words: NSDictionary?
    @Field.Coded("list") var list: [String] = ["a"]
    @Field.Coded("maybe") var maybe: [Int]?
    @Field.Coded(
        "pair",
        coder: (
            encode: { Data($0.utf8) },
            decode: { data in
                decodedCount.add(1, ordering: .relaxed)
                return String(decoding: data ?? Data(), as: UTF8.self)
            }
        ))
    var pair: String = "p"
    @Field.Coded(
        "mutable",
        coder: (
            encode: { $0.map { Data([$0.number]) } }, decode: { $0.map { Mutable($0.first ?? 0) } }
        ))
    var mutable: Mutable?
    @Field.Coded("first", coder: FieldCoders.Json.self, dynamicInitialValue: { [UUID()] })
    var first: [UUID]
    @Field.Coded(
        "loud", coder: FieldCoders.Json.self,
        customGetter: { object, field in (field.primitiveValue ?? "") + object.$key.value },
        customSetter: { object, field, value in field.primitiveValue = value.uppercased() })
    var loud: String = ""

    typealias ImportSource = [String: String]
    typealias UniqueIDType = String
    static var uniqueIDKeyPath: String { "key" }
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? { source["key"] }
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        list = [source["word"] ?? ""]
    }
}

/// The entity "Card" with its coded properties declared as bytes.
private final class RawCard: CoreStoreObject {
    @Field.Coded("json", coder: (encode: { $0 }, decode: { $0 })) var json: Data?
    @Field.Coded("plist", coder: (encode: { $0 }, decode: { $0 ?? Data() })) var plist = Data()
    @Field.Coded("stamp", coder: (encode: { $0 }, decode: { $0 })) var stamp: Data?
    @Field.Coded("array", coder: (encode: { $0 }, decode: { $0 })) var array: Data?
}

/// The entity "Card" with decoded values.
private final class ReadCard: CoreStoreObject {
    @Field.Coded("json", coder: FieldCoders.Json.self) var json: Recipe?
    @Field.Coded("plist", coder: FieldCoders.Plist.self) var plist: Recipe = Recipe(title: "None")
    @Field.Coded("stamp", coder: FieldCoders.NSCoding.self) var stamp: Stamp?
    @Field.Coded("array", coder: FieldCoders.DefaultNSSecureCoding.self) var array: NSArray?
}

private func makeStack(_ storage: LocalStore? = nil) throws -> (DataStack, DispatchQueue) {
    let queue = DispatchQueue(label: "view")
    let stack = DataStack(
        CoreStoreSchema(
            modelVersion: "V1", entities: [Entity<Card>("Card", uniqueConstraints: [[\.$key]])]),
        viewContext: .queue(queue))
    if let storage {
        try stack.addStorageAndWait(storage)
    } else {
        try stack.addStorageAndWait(InMemoryStore())
    }
    return (stack, queue)
}

/// Properties whose bytes are made by a coder.
@Suite struct CodedFieldTests {
    private static func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("coded-\(UUID().uuidString).trellis")
    }

    private func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
    }

    @Test func `values of every coder are read back from the file`() throws {
        let url = Self.temporaryURL()
        defer { remove(url) }
        let recipe = Recipe(title: "Stew", steps: ["boil": []], source: URL(string: "a:b"))
        let array = NSArray(array: [NSNumber(value: 1), NSString(string: "é"), NSNull()])
        let (writer, _) = try makeStack(LocalStore(fileURL: url))
        try writer.perform(synchronous: { transaction in
            let card = transaction.create(Into<Card>())
            (card.json, card.plist, card.number) = (recipe, recipe, -1)
            (card.stamp, card.array) = (Stamp("red"), array)
            card.words = NSDictionary(dictionary: ["k": NSData(data: Data([1]))])
            (card.list, card.maybe, card.pair) = (["x", "y"], [3], "pair")
            card.mutable = Mutable(9)
            (card.key, card.loud) = ("k", "shout")
            #expect(card.loud == "SHOUTk")
            #expect(card.json == recipe)
        })
        writer.unsafeRemoveAllPersistentStoresAndWait()

        let (stack, queue) = try makeStack(LocalStore(fileURL: url))
        try queue.sync {
            let card = try #require(try stack.fetchOne(From<Card>()))
            #expect((card.json, card.plist, card.number) == (recipe, recipe, -1))
            #expect(card.stamp?.text == "red")
            #expect(card.array == array)
            #expect((card.words?["k"] as? NSData)?.count == 1)
            #expect((card.list, card.maybe, card.pair) == (["x", "y"], [3], "pair"))
            #expect(card.mutable?.number == 9)
            #expect(card.first.count == 1)
            #expect(card.loud == "SHOUTk")
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a new object has its defaults and values of its own`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { transaction in
            for key in ["a", "b"] { transaction.create(Into<Card>()).key = key }
        })
        try queue.sync {
            let cards = try stack.fetchAll(From<Card>())
            #expect(cards.map(\.json) == [nil, nil])
            #expect(cards.map(\.plist.title) == ["None", "None"])
            #expect(cards.map(\.number) == [7, 7])
            #expect(cards.map(\.list) == [["a"], ["a"]])
            #expect(cards.map(\.maybe) == [nil, nil])
            #expect(cards.map(\.pair) == ["p", "p"])
            #expect(cards.map(\.mutable?.number) == [nil, nil])
            #expect(Set(cards.flatMap(\.first)).count == 2)
            #expect(try stack.fetchCount(From<Card>().where(format: "json == nil")) == 2)
            #expect(try stack.fetchCount(From<Card>().where(format: "number != nil")) == 2)
        }
    }

    @Test func `a value is decoded once for each time that its bytes change`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { $0.create(Into<Card>()).pair = "one" })
        let card = try queue.sync { try #require(try stack.fetchOne(From<Card>())) }
        let before = decodedCount.load(ordering: .relaxed)
        queue.sync { for _ in 0..<3 { #expect(card.pair == "one") } }
        #expect(decodedCount.load(ordering: .relaxed) == before + 1)
        try stack.perform(synchronous: { $0.edit(card)?.pair = "two" })
        try queue.sync {
            _ = try stack.fetchCount(From<Card>())
            for _ in 0..<3 { #expect(card.pair == "two") }
        }
        #expect(decodedCount.load(ordering: .relaxed) == before + 2)
    }

    @Test func `snapshots of other bytes were equal where values cannot be compared`() throws {
        let (stack, queue) = try makeStack()
        let id = try stack.perform(synchronous: { transaction in
            let card = transaction.create(Into<Card>())
            card.mutable = Mutable(1)
            return card.objectID()
        })
        try queue.sync {
            let publisher: ObjectPublisher<Card> = stack.publishObject(id)
            func change(_ number: UInt8, _ key: String) throws -> ObjectSnapshot<Card> {
                try stack.perform(synchronous: { transaction in
                    let card = try #require(transaction.fetchExisting(id) as Card?)
                    (card.mutable, card.key) = (Mutable(number), key)
                })
                return try #require(publisher.snapshot)
            }
            let first = try change(1, "a")
            let second = try change(2, "a")
            #expect(first != second)
            _ = try change(2, "b")
            let third = try change(2, "a")
            #expect(third == second)
        }
    }

    @Test func `a decoded instance that is changed in place is stored when assigned`() throws {
        let (stack, _) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let card = transaction.create(Into<Card>())
            card.mutable = Mutable(1)
            card.mutable?.number = 2
            #expect(card.mutable?.number == 1)
            let changed = try #require(card.mutable)
            changed.number = 3
            card.mutable = changed
            #expect(card.mutable?.number == 3)
        })
    }

    @Test func `cancelling or refreshing drops a change of a coded value`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let card = transaction.create(Into<Card>())
            (card.list, card.json) = (["kept"], Recipe())
        })
        #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let card = try #require(try transaction.fetchOne(From<Card>()))
                card.list = ["lost"]
                #expect(card.list == ["lost"])
                try transaction.cancel()
            })
        }
        try stack.perform(synchronous: { transaction in
            let card = try #require(try transaction.fetchOne(From<Card>()))
            card.list = ["first"]
            #expect(try transaction.fetchCount(From<Card>()) == 1)
            card.list = ["second"]
            #expect(card.list == ["second"])
            card.refreshAsFault()
            #expect(card.list == ["kept"])
            card.json = Recipe(title: "Merged")
            card.refreshAndMerge()
            #expect(card.json?.title == "Merged")
        })
        try queue.sync {
            let card = try #require(try stack.fetchOne(From<Card>()))
            #expect((card.list, card.json?.title) == (["kept"], "Merged"))
        }
    }

    @Test func `a large coded value is stored outside its record and read back`() throws {
        let url = Self.temporaryURL()
        defer { remove(url) }
        let words = (0..<200_000).map { "word \($0)" }
        let (writer, _) = try makeStack(LocalStore(fileURL: url))
        try writer.perform(synchronous: { $0.create(Into<Card>()).list = words })
        writer.unsafeRemoveAllPersistentStoresAndWait()
        let (stack, queue) = try makeStack(LocalStore(fileURL: url))
        #expect(try queue.sync { try stack.fetchOne(From<Card>())?.list } == words)
        try stack.perform(synchronous: { try $0.fetchOne(From<Card>())?.list = [] })
        #expect(try queue.sync { try stack.fetchOne(From<Card>())?.list } == [])
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `an import of a known key changes its coded values`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let card = transaction.create(Into<Card>())
            (card.key, card.json) = ("k", Recipe())
        })
        try stack.perform(synchronous: { transaction in
            _ = try transaction.importUniqueObject(
                Into<Card>(), source: ["key": "k", "word": "imported"])
        })
        // The values change also through a conflict at the commit.
        try stack.perform(synchronous: { transaction in
            let other = transaction.create(Into<Card>())
            (other.key, other.maybe) = ("k", [5])
        })
        try queue.sync {
            #expect(try stack.fetchCount(From<Card>()) == 1)
            let card = try #require(try stack.fetchOne(From<Card>()))
            #expect((card.list, card.json, card.maybe) == (["imported"], Recipe(), [5]))
        }
    }

    @Test func `a value that cannot be encoded makes the transaction fail`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { $0.create(Into<Card>()).json = Recipe(minutes: 1) })
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let card = try #require(try transaction.fetchOne(From<Card>()))
                card.key = "changed"
                card.json = Recipe(minutes: .nan)
            })
        }
        #expect(error?.storeError?.code == .invalidArgument)
        #expect(error?.storeError?.message.contains("Card.json could not be encoded") == true)
        try queue.sync {
            let card = try #require(try stack.fetchOne(From<Card>()))
            #expect((card.key, card.json?.minutes) == ("", 1))
        }
    }

    @Test func `the printed schema marks coded attributes`() throws {
        let (stack, _) = try makeStack()
        let text = stack.modelSchema.printCoreStoreSchema()
        #expect(
            text.contains("@Field.Coded(\"json\", coder: (encode: { $0 }, decode: { $0 }))"))
        #expect(text.contains("var json: Data?"))
        #expect(text.contains("var plist: Data = Data()"))
    }

    private func damaged(_ data: Data, _ random: inout SeededRandom) -> Data {
        var bytes = [UInt8](data)
        if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count + 1)) }
        guard !bytes.isEmpty else { return Data() }
        for _ in 0...random.below(3) {
            bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
        }
        return Data(bytes)
    }

    private func stack<O: CoreStoreObject>(_ type: O.Type, _ url: URL) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<O>("Card")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    @Test func `a second throwing getter was silent about damaged bytes`() throws {
        let url = Self.temporaryURL()
        defer { remove(url) }
        let raw = try stack(RawCard.self, url)
        try raw.perform(synchronous: { transaction in
            transaction.create(Into<RawCard>()).json = Data("no JSON".utf8)
        })
        raw.unsafeRemoveAllPersistentStoresAndWait()
        let stack = try stack(ReadCard.self, url)
        try stack.perform(synchronous: { transaction in
            let card = try #require(try transaction.fetchOne(From<ReadCard>()))
            #expect(card.json == nil)
            for _ in 0..<3 { #expect(throws: CoreStoreError.self) { try card.load(\.$json) } }
            #expect(card.json == nil)
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `damaged bytes read as nil or as the default, and end no program`() throws {
        let url = Self.temporaryURL()
        defer { remove(url) }
        let good = try stack(ReadCard.self, url)
        try good.perform(synchronous: { transaction in
            let card = transaction.create(Into<ReadCard>())
            (card.json, card.plist) = (Recipe(), Recipe())
            (card.stamp, card.array) = (Stamp("s"), NSArray(array: [NSNumber(value: 1)]))
        })
        good.unsafeRemoveAllPersistentStoresAndWait()
        var random = SeededRandom(for: "CodedFieldTests damaged")
        let raw = try stack(RawCard.self, url)
        try raw.perform(synchronous: { transaction in
            let card = try #require(try transaction.fetchOne(From<RawCard>()))
            for _ in 0..<500 {
                let copy = transaction.create(Into<RawCard>())
                copy.json = card.json.map { damaged($0, &random) }
                copy.plist = damaged(card.plist, &random)
                copy.stamp = card.stamp.map { damaged($0, &random) }
                copy.array = card.array.map { damaged($0, &random) }
            }
        })
        raw.unsafeRemoveAllPersistentStoresAndWait()
        let stack = try stack(ReadCard.self, url)
        try stack.perform(synchronous: { transaction in
            let cards = try transaction.fetchAll(From<ReadCard>())
            #expect(cards.count == 501)
            let whole = cards.filter { $0.stamp != nil || $0.array != nil }
            // Random damage may restore the original byte.
            #expect(whole.count < 20, "seed \(random.seed)")
            #expect(cards.count { $0.plist.title == "None" } > 480, "seed \(random.seed)")
            #expect(cards.count { $0.json == nil } > 100, "seed \(random.seed)")
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
