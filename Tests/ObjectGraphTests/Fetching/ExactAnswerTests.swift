import Foundation
import ObjectGraph
import Testing

private final class Entry: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
    @Field.Stored("price") var price: Decimal = 0
    @Field.Stored("nanos") var nanos: Int64 = 0
    @Field.Stored("size") var size: UInt64 = 0
    @Field.Stored("exact") var exact: NSDecimalNumber = 0
}

/// Conditions and sums that answered for another value than the stored one.
@Suite struct ExactAnswerTests {
    private func stack(_ fill: (Int, Entry) -> Void, count: Int) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Entry>("Entry")]))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            for number in 0..<count { fill(number, transaction.create(Into<Entry>())) }
        })
        return stack
    }

    @Test func `a text outside its record was compared by the opposite of !=`() throws {
        let texts = ["short", String(repeating: "x", count: 70_000), "", "x"]
        let stack = try stack({ $1.text = texts[$0] }, count: texts.count)
        try stack.read { view in
            for text in texts {
                for condition in ["text != %@", "NOT (text == %@)", "%@ != text"] {
                    let found = try view.fetchAll(From<Entry>(), Where<Entry>(condition, text))
                    #expect(Set(found.map(\.text)) == Set(texts).subtracting([text]))
                }
                for condition in ["text == %@", "NOT (text != %@)"] {
                    let found = try view.fetchAll(From<Entry>(), Where<Entry>(condition, text))
                    #expect(found.map(\.text) == [text])
                }
            }
        }
    }

    @Test func `a decimal of Foundation's was compared as a Double`() throws {
        let stack = try stack({ $1.price = Decimal($0) / 100 }, count: 200)
        try stack.read { view in
            for cents in 0..<200 {
                let price = NSDecimalNumber(decimal: Decimal(cents) / 100)
                for condition in [
                    Where<Entry>("price == %@", price), Where<Entry>("price IN %@", [price]),
                ] {
                    let found = try view.fetchAll(From<Entry>(), condition)
                    #expect(found.map(\.price) == [Decimal(cents) / 100])
                }
            }
        }
    }

    @Test func `a decimal of Foundation's was compared as the integer that it is near`() throws {
        let near = NSDecimalNumber(string: "5.000000000000000000001")
        let stack = try stack({ $1.exact = $0 == 0 ? 5 : near }, count: 2)
        try stack.read { view in
            for value in [near, 5] {
                let found = try view.fetchAll(From<Entry>().where(\.$exact == value))
                #expect(found.map(\.exact.decimalValue) == [value.decimalValue])
            }
        }
        try stack.perform(synchronous: { transaction in
            try transaction.update(From<Entry>(), set: .value(\.$exact, near))
        })
        try stack.read { view in
            let found = try view.fetchAll(From<Entry>())
            #expect(found.map(\.exact.decimalValue) == [near.decimalValue, near.decimalValue])
        }
    }

    @Test(arguments: [1_700_000_000_123_456_789, .max, .min, -7] as [Int64])
    func `a sum of integers was rounded to a Double`(nanos: Int64) throws {
        let size = UInt64.max - UInt64(nanos.magnitude / 4)
        let stack = try stack(
            { _, entry in (entry.nanos, entry.size) = (nanos, size) }, count: 1)
        try stack.read { view in
            let sum = try view.queryValue(From<Entry>(), Select<Entry, Int64>(.sum(\.$nanos)))
            #expect(sum == nanos)
            let total = try view.queryValue(From<Entry>(), Select<Entry, UInt64>(.sum(\.$size)))
            #expect(total == size)
        }
    }
}
