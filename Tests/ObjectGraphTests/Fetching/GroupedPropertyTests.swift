import ObjectGraph
import Testing

/// Groups by properties that are not plain attributes.
@Suite struct GroupedPropertyTests {
    private final class Parcel: CoreStoreObject {
        @Field.Stored("weight") var weight: Int = 0
        @Field.Coded("tag", coder: FieldCoders.Json.self) var tag: String = ""
        @Field.Virtual("isHeavy", customGetter: { object, _ in object.$weight.value > 9 })
        var isHeavy: Bool
    }

    @Test func `a query groups by a coded property and refuses a virtual one`() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Parcel>("Parcel")]))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            for (weight, tag) in [(1, "a"), (2, "b"), (3, "a")] {
                let parcel = transaction.create(Into<Parcel>())
                (parcel.weight, parcel.tag) = (weight, tag)
            }
        })
        try stack.perform(synchronous: { transaction in
            let from = From<Parcel>().select(NSDictionary.self, .sum(\.$weight, as: "sum"))
            let rows = try transaction.queryAttributes(from.groupBy(\.$tag))
            #expect(Set(rows.map { $0["sum"] as? Decimal }) == [4, 2])
            #expect(
                try transaction.queryAttributes(
                    From<Parcel>(), Select<Parcel, NSDictionary>(.sum(\.$weight, as: "sum")),
                    GroupBy<Parcel>(\.$tag)
                ).count == 2)
            let refused = #expect(throws: CoreStoreError.self) {
                try transaction.queryAttributes(from.groupBy(\.$isHeavy))
            }
            guard case .internalError? = refused else {
                Issue.record("a query grouped by a virtual property")
                return
            }
        })
    }
}
