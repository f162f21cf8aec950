import Dispatch
import ObjectGraph
import Testing

/// Has more properties than there are bits for those that were assigned.
private final class Wide: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Stored("f0") var f0: Int = 0
    @Field.Stored("f1") var f1: Int = 0
    @Field.Stored("f2") var f2: Int = 0
    @Field.Stored("f3") var f3: Int = 0
    @Field.Stored("f4") var f4: Int = 0
    @Field.Stored("f5") var f5: Int = 0
    @Field.Stored("f6") var f6: Int = 0
    @Field.Stored("f7") var f7: Int = 0
    @Field.Stored("f8") var f8: Int = 0
    @Field.Stored("f9") var f9: Int = 0
    @Field.Stored("f10") var f10: Int = 0
    @Field.Stored("f11") var f11: Int = 0
    @Field.Stored("f12") var f12: Int = 0
    @Field.Stored("f13") var f13: Int = 0
    @Field.Stored("f14") var f14: Int = 0
    @Field.Stored("f15") var f15: Int = 0
    @Field.Stored("f16") var f16: Int = 0
    @Field.Stored("f17") var f17: Int = 0
    @Field.Stored("f18") var f18: Int = 0
    @Field.Stored("f19") var f19: Int = 0
    @Field.Stored("f20") var f20: Int = 0
    @Field.Stored("f21") var f21: Int = 0
    @Field.Stored("f22") var f22: Int = 0
    @Field.Stored("f23") var f23: Int = 0
    @Field.Stored("f24") var f24: Int = 0
    @Field.Stored("f25") var f25: Int = 0
    @Field.Stored("f26") var f26: Int = 0
    @Field.Stored("f27") var f27: Int = 0
    @Field.Stored("f28") var f28: Int = 0
    @Field.Stored("f29") var f29: Int = 0
    @Field.Stored("f30") var f30: Int = 0
    @Field.Stored("f31") var f31: Int = 0
    @Field.Stored("f32") var f32: Int = 0
    @Field.Stored("f33") var f33: Int = 0
    @Field.Stored("f34") var f34: Int = 0
    @Field.Stored("f35") var f35: Int = 0
    @Field.Stored("f36") var f36: Int = 0
    @Field.Stored("f37") var f37: Int = 0
    @Field.Stored("f38") var f38: Int = 0
    @Field.Stored("f39") var f39: Int = 0
    @Field.Stored("f40") var f40: Int = 0
    @Field.Stored("f41") var f41: Int = 0
    @Field.Stored("f42") var f42: Int = 0
    @Field.Stored("f43") var f43: Int = 0
    @Field.Stored("f44") var f44: Int = 0
    @Field.Stored("f45") var f45: Int = 0
    @Field.Stored("f46") var f46: Int = 0
    @Field.Stored("f47") var f47: Int = 0
    @Field.Stored("f48") var f48: Int = 0
    @Field.Stored("f49") var f49: Int = 0
    @Field.Stored("f50") var f50: Int = 0
    @Field.Stored("f51") var f51: Int = 0
    @Field.Stored("f52") var f52: Int = 0
    @Field.Stored("f53") var f53: Int = 0
    @Field.Stored("f54") var f54: Int = 0
    @Field.Stored("f55") var f55: Int = 0
    @Field.Stored("f56") var f56: Int = 0
    @Field.Stored("f57") var f57: Int = 0
    @Field.Stored("f58") var f58: Int = 0
    @Field.Stored("f59") var f59: Int = 0
    @Field.Stored("f60") var f60: Int = 0
    @Field.Stored("f61") var f61: Int = 0
    @Field.Stored("f62") var f62: Int = 0
    @Field.Stored("f63") var f63: Int = 0
    @Field.Stored("code") var code: String = ""
    @Field.Stored("note") var note: String = ""
}

/// Conflicts by columns that share one bit.
@Suite struct FarColumnTests {
    /// A bug: an assignment to another far column counted as one to the unique column, and the
    /// older object survived in the place of the stored one.
    @Test(arguments: [UniqueConflictPolicy.transactionWins, .storeWins])
    func `another far column decides no conflict`(policy: UniqueConflictPolicy) throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Wide>(
                        "Wide", uniqueConstraints: [[\.$code]], conflictPolicies: [policy])
                ]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        let ids = try stack.perform(synchronous: { transaction in
            [("u", "older"), ("s", "stored")].map { code, title in
                let wide = transaction.create(Into<Wide>())
                (wide.code, wide.title) = (code, title)
                return wide.objectID()
            }
        })
        try stack.perform(synchronous: { transaction in
            let older: Wide? = transaction.fetchExisting(ids[0])
            let stored: Wide? = transaction.fetchExisting(ids[1])
            stored?.note = "x"
            older?.code = "s"
        })
        try stack.perform(synchronous: { transaction in
            let left = try transaction.fetchAll(From<Wide>())
            #expect(left.map { $0.objectID() } == [ids[1]])
            #expect(left.map(\.title) == ["stored"] && left.map(\.note) == ["x"])
        })
    }
}
