import ObjectGraph
import Testing

private enum Mood: String, ImportableAttributeType, FieldStorableType {
    case calm, cross
}

private final class Everything: CoreStoreObject {
    @Field.Stored("bool") var bool: Bool?
    @Field.Stored("int") var int: Int?
    @Field.Stored("int8") var int8: Int8?
    @Field.Stored("int16") var int16: Int16?
    @Field.Stored("int32") var int32: Int32?
    @Field.Stored("int64") var int64: Int64?
    @Field.Stored("uint") var uint: UInt?
    @Field.Stored("uint8") var uint8: UInt8?
    @Field.Stored("uint16") var uint16: UInt16?
    @Field.Stored("uint32") var uint32: UInt32?
    @Field.Stored("uint64") var uint64: UInt64?
    @Field.Stored("float") var float: Float?
    @Field.Stored("double") var double: Double?
    @Field.Stored("decimal") var decimal: Decimal?
    @Field.Stored("string") var string: String?
    @Field.Stored("data") var data: Data?
    @Field.Stored("date") var date: Date?
    @Field.Stored("uuid") var uuid: UUID?
    @Field.Stored("url") var url: URL?
    @Field.Stored("mood") var mood: Mood?

    func isNil() -> Bool {
        bool == nil && int == nil && int8 == nil && int16 == nil && int32 == nil && int64 == nil
            && uint == nil && uint8 == nil && uint16 == nil && uint32 == nil && uint64 == nil
            && float == nil && double == nil && decimal == nil && string == nil && data == nil
            && date == nil && uuid == nil && url == nil && mood == nil
    }

    func fill() {
        (bool, int, int8, int16) = (false, .min, -128, .max)
        (int32, int64, uint, uint8) = (.min, .max, .max, 255)
        (uint16, uint32, uint64) = (.max, .max, .max)
        (float, double, decimal) = (-0.5, 1e300, Decimal(string: "0.1"))
        (string, data, date) = ("", Data(), Date(timeIntervalSinceReferenceDate: 0.25))
        (uuid, url, mood) = (UUID(uuid: allOnes), URL(string: "a://b"), .cross)
    }

    func isFilled() -> Bool {
        let integers =
            bool == false && int == .min && int8 == -128 && int16 == .max && int32 == .min
            && int64 == .max
        let unsigned =
            uint == .max && uint8 == 255 && uint16 == .max && uint32 == .max && uint64 == .max
        let fractions = float == -0.5 && double == 1e300 && decimal == Decimal(string: "0.1")
        let texts = string == "" && data == Data() && mood == .cross
        return integers && unsigned && fractions && texts
            && date == Date(timeIntervalSinceReferenceDate: 0.25)
            && uuid == UUID(uuid: allOnes) && url == URL(string: "a://b")
    }
}

private let allOnes: uuid_t = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)

private class Base: CoreStoreObject {
    @Field.Stored("hidden") var hidden: Int = 4
}

private class Middle: Base {
    @Field.Stored("mood", dynamicInitialValue: { Mood.cross }) var mood: Mood
    @Field.Stored("token", dynamicInitialValue: { UUID() }) var token: UUID
}

private final class Leaf: Middle {
    @Field.Stored("size") var size: Int = 3
}

@Suite struct ModelTests {
    private func stack(_ entities: [DynamicEntity]) throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: entities), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return (stack, queue)
    }

    @Test func `every type keeps nil and its outermost values`() throws {
        let (stack, queue) = try stack([Entity<Everything>("Everything")])
        let id = try stack.perform(synchronous: { transaction in
            let object = transaction.create(Into<Everything>())
            #expect(object.isNil())
            return object.objectID()
        })
        queue.sync { #expect((stack.fetchExisting(id) as Everything?)?.isNil() == true) }
        try stack.perform(synchronous: { transaction in
            let object: Everything = try #require(transaction.fetchExisting(id))
            object.fill()
            #expect(object.isFilled())
        })
        queue.sync { #expect((stack.fetchExisting(id) as Everything?)?.isFilled() == true) }
    }

    @Test func `a subclass runs the initial values of its superclasses`() throws {
        let (stack, queue) = try stack([Entity<Middle>("Middle"), Entity<Leaf>("Leaf")])
        let tokens = try stack.perform(synchronous: { transaction in
            (0..<2).map { _ in
                let leaf = transaction.create(Into<Leaf>())
                #expect(leaf.mood == .cross)
                #expect(leaf.size == 3)
                return leaf.token
            }
        })
        #expect(tokens[0] != tokens[1])
        try queue.sync {
            let stored = try stack.fetchAll(From<Middle>())
            #expect(Set(stored.map(\.token)) == Set(tokens))
            #expect(stored.allSatisfy { $0 is Leaf })
        }
    }
}
