// The names of the protocols begin in small letters.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import Testing

@testable import ObjectGraph

/// Stored values that a program's type does not accept, because a newer version of the program
/// wrote them or the file is damaged. Bytes from disk never end the program.
@Suite struct UnknownValueTests {
    /// The model that wrote the file: the same columns with plain types.
    enum Written {
        class Item: CoreStoreObject {
            @Field.Stored("code") var code: Int64 = 1
            @Field.Stored("spare") var spare: Int64?
            @Field.Stored("grade") var grade: String = "a"
            @Field.Stored("note") var note: String?
            @Field.Stored("made") var made: Int64 = 1
            @Field.Stored("old") var old: Int64 = 1
            @Field.Stored("random") var random: Int64 = 1
        }
    }

    /// An even number; odd ones are refused.
    struct Even: FieldStorableType, ImportableAttributeType, Comparable {
        var number: Int64

        typealias FieldStoredNativeType = NSNumber
        typealias QueryableNativeType = NSNumber
        static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }
        static func cs_fromQueryableNativeType(_ value: NSNumber) -> Even? {
            value.int64Value % 2 == 0 && value.int64Value != 0
                ? Even(number: value.int64Value) : nil
        }
        func cs_toQueryableNativeType() -> NSNumber { NSNumber(value: number) }
        static func < (left: Even, right: Even) -> Bool { left.number < right.number }
    }

    enum Grade: String, FieldStorableType, ImportableAttributeType {
        case low, high
    }

    enum Read {
        class Item: CoreStoreObject, ImportableUniqueObject {
            @Field.Stored("code") var code: Even = Even(number: 8)
            @Field.Stored("spare") var spare: Even?
            @Field.Stored("grade") var grade: Grade = .high
            @Field.Stored("note") var note: Grade?
            @Field.Stored("made", dynamicInitialValue: { Even(number: 6) }) var made: Even
            @Field.Stored(
                "random", dynamicInitialValue: { Even(number: .random(in: 1...1 << 60) * 2) })
            var random: Even
            let old = ValueContainer<Item>.Required<Even>("old", initial: Even(number: 4))

            typealias ImportSource = [String: Any]
            typealias UniqueIDType = Even
            static var uniqueIDKeyPath: String { "code" }
            static func uniqueID(
                from source: [String: Any], in transaction: BaseDataTransaction
            ) throws -> Even? { nil }
            func update(from source: [String: Any], in transaction: BaseDataTransaction) throws {}
        }
    }

    private let queue = DispatchQueue(label: "view")

    private func stack<O: CoreStoreObject>(
        _ type: O.Type, _ url: URL, validations: [Validation<O>] = []
    ) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<O>("Item", validations: validations)]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    /// A file with one object, whose values are all unknown to their types.
    private func withFile(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString, isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("unknown.trellis")
        do {
            let stack = try stack(Written.Item.self, url)
            try stack.perform(synchronous: { transaction in
                let item = transaction.create(Into<Written.Item>())
                (item.code, item.spare, item.made, item.old) = (3, 5, 7, 9)
                (item.grade, item.note) = ("middle", "middle")
            })
        }
        try body(url)
    }

    private func expectFirstValues(_ item: Read.Item) {
        #expect(item.code == Even(number: 8))
        #expect(item.uniqueIDValue == Even(number: 8))
        #expect(item.spare == nil)
        #expect(item.grade == .high)
        #expect(item.note == nil)
        #expect(item.made == Even(number: 6))
        #expect(item.old.value == Even(number: 4))
    }

    @Test func `a stored value that its type refuses reads as the property's first value`() throws {
        try withFile { url in
            let stack = try stack(Read.Item.self, url)
            try queue.sync { () throws in
                let item = try #require(try stack.fetchOne(From<Read.Item>()))
                expectFirstValues(item)
                let snapshot = try #require(item.asSnapshot(in: stack))
                #expect(snapshot.$code == Even(number: 8))
                #expect(snapshot.$spare == nil)
                #expect(snapshot.$grade == .high)
                #expect(snapshot.$made == Even(number: 6))
                let codes = try stack.queryAttributes(
                    From<Read.Item>(), Select<Read.Item, NSDictionary>("code"))
                #expect(codes.first?["code"] as? Int == 3)
                #expect(
                    try stack.queryValue(From<Read.Item>().select(Even.self, .maximum(\.$code)))
                        == nil)
            }
            try stack.read { view in
                expectFirstValues(try #require(try view.fetchOne(From<Read.Item>())))
            }
        }
    }

    @Test func `a throwing getter stopped the program for an unknown value`() throws {
        try withFile { url in
            let stack = try stack(Read.Item.self, url)
            try queue.sync { () throws in
                let item = try #require(try stack.fetchOne(From<Read.Item>()))
                #expect(try item.load(\.$code) == Even(number: 8))
                #expect(try item.load(\.$spare) == nil)
                #expect(try item.load(\.$grade) == .high)
                #expect(try item.load(\.$note) == nil)
                #expect(try item.load(\.$made) == Even(number: 6))
            }
        }
    }

    @Test func `an initial value made by a closure changed with each read`() throws {
        try withFile { url in
            let stack = try stack(Read.Item.self, url)
            try queue.sync { () throws in
                let item = try #require(try stack.fetchOne(From<Read.Item>()))
                let first = item.random
                #expect(item.random == first)
                #expect(item.asSnapshot(in: stack)?.$random == first)
            }
        }
    }

    @Test func `an object with a refused value is changed, and keeps what is not assigned`() throws
    {
        try withFile { url in
            do {
                let rules: [Validation<Read.Item>] = [
                    .range(\.$code, Even(number: 2)...Even(number: 20))
                ]
                let stack = try stack(Read.Item.self, url, validations: rules)
                try stack.perform(synchronous: { transaction in
                    let item = try #require(try transaction.fetchOne(From<Read.Item>()))
                    expectFirstValues(item)
                    item.grade = .low
                    item.spare = Even(number: 2)
                })
            }
            let stack = try stack(Written.Item.self, url)
            try queue.sync { () throws in
                let item = try #require(try stack.fetchOne(From<Written.Item>()))
                #expect((item.code, item.spare, item.made) == (3, 2, 7))
                #expect((item.grade, item.note) == ("low", "middle"))
            }
        }
    }
}
