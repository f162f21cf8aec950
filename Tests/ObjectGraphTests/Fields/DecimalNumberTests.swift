import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

private final class Ledger: CoreStoreObject {
    @Field.Stored("sum") var sum: NSDecimalNumber = NSDecimalNumber(
        string: "0.12345678901234567890")
    @Field.Stored("rest") var rest: NSDecimalNumber? = NSDecimalNumber(
        string: "0.12345678901234567890")
    @Field.Stored(
        "made", dynamicInitialValue: { NSDecimalNumber(string: "0.12345678901234567890") })
    var made: NSDecimalNumber?
    @Field.Stored("ratio") var ratio: Float = 0.1
    @Field.Stored("price") var price: Decimal = 0
}

/// Decimals that no Double holds.
@Suite struct DecimalNumberTests {
    private let number = NSDecimalNumber(string: "12345678901234567890.123456789")
    private let first = NSDecimalNumber(string: "0.12345678901234567890")

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Ledger>("Ledger")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    /// A bug: values of an optional property went through a Double in defaults, statements and
    /// conditions.
    @Test func `an optional decimal number keeps its digits`() throws {
        try stack().perform(synchronous: { transaction in
            let ledger = transaction.create(Into<Ledger>())
            #expect(ledger.sum == first && ledger.rest == first && ledger.made == first)
            #expect(try transaction.fetchCount(From<Ledger>().where(\.$rest == first)) == 1)
            try transaction.update(
                From<Ledger>(), set: .value(\.$rest, number), .value(\.$sum, number))
            #expect(ledger.rest == number && ledger.sum == number)
            for condition in [
                Where<Ledger>(\.$rest == number), Where<Ledger>(\.$sum == number),
                Where<Ledger>(\.$rest >= number), Where<Ledger>("rest IN %@", [number]),
                Where<Ledger>("rest", isEqualTo: number), Where<Ledger>("rest == %@", number),
            ] {
                #expect(try transaction.fetchCount(From<Ledger>(), condition) == 1)
            }
            #expect(try transaction.fetchCount(From<Ledger>().where(\.$rest != number)) == 0)
        })
    }

    /// A bug: calculations and casts took the shortest text of a Float for its value, and
    /// comparisons did not.
    @Test func `a float is one number in comparisons, calculations and casts`() throws {
        try stack().perform(synchronous: { transaction in
            let ledger = transaction.create(Into<Ledger>())
            ledger.price = try #require(Decimal(string: "0.1"))
            for (format, count) in [
                ("ratio == price", 0), ("ratio - price == 0", 0),
                ("CAST(ratio, 'NSDecimalNumber') == ratio", 1),
                ("ratio + CAST('0', 'NSDecimalNumber') == ratio", 1),
            ] {
                let found = try transaction.fetchCount(From<Ledger>().where(format: format))
                #expect(found == count, "\(format)")
            }
        })
    }
}
