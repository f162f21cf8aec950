import ObjectGraph
import Testing

private final class Wide: CoreStoreObject {
    @Field.Stored("key") var key: String = ""
    @Field.Stored("f00") var f00: Int = 0
    @Field.Stored("f01") var f01: String = "1"
    @Field.Stored("f02") var f02: Int = 2
    @Field.Stored("f03") var f03: String = "3"
    @Field.Stored("f04") var f04: Int = 4
    @Field.Stored("f05") var f05: String = "5"
    @Field.Stored("f06") var f06: Int = 6
    @Field.Stored("f07") var f07: String = "7"
    @Field.Stored("f08") var f08: Int = 8
    @Field.Stored("f09") var f09: String = "9"
    @Field.Stored("f10") var f10: Int = 10
    @Field.Stored("f11") var f11: String = "11"
    @Field.Stored("f12") var f12: Int = 12
    @Field.Stored("f13") var f13: String = "13"
    @Field.Stored("f14") var f14: Int = 14
    @Field.Stored("f15") var f15: String = "15"
    @Field.Stored("f16") var f16: Int = 16
    @Field.Stored("f17") var f17: String = "17"
    @Field.Stored("f18") var f18: Int = 18
    @Field.Stored("f19") var f19: String = "19"
    @Field.Stored("f20") var f20: Int = 20
    @Field.Stored("f21") var f21: String = "21"
    @Field.Stored("f22") var f22: Int = 22
    @Field.Stored("f23") var f23: String = "23"
    @Field.Stored("f24") var f24: Int = 24
    @Field.Stored("f25") var f25: String = "25"
    @Field.Stored("f26") var f26: Int = 26
    @Field.Stored("f27") var f27: String = "27"
    @Field.Stored("f28") var f28: Int = 28
    @Field.Stored("f29") var f29: String = "29"
    @Field.Stored("f30") var f30: Int = 30
    @Field.Stored("f31") var f31: String = "31"
    @Field.Stored("f32") var f32: Int = 32
    @Field.Stored("f33") var f33: String = "33"
    @Field.Stored("f34") var f34: Int = 34
    @Field.Stored("f35") var f35: String = "35"
    @Field.Stored("f36") var f36: Int = 36
    @Field.Stored("f37") var f37: String = "37"
    @Field.Stored("f38") var f38: Int = 38
    @Field.Stored("f39") var f39: String = "39"
    @Field.Stored("f40") var f40: Int = 40
    @Field.Stored("f41") var f41: String = "41"
    @Field.Stored("f42") var f42: Int = 42
    @Field.Stored("f43") var f43: String = "43"
    @Field.Stored("f44") var f44: Int = 44
    @Field.Stored("f45") var f45: String = "45"
    @Field.Stored("f46") var f46: Int = 46
    @Field.Stored("f47") var f47: String = "47"
    @Field.Stored("f48") var f48: Int = 48
    @Field.Stored("f49") var f49: String = "49"
    @Field.Stored("f50") var f50: Int = 50
    @Field.Stored("f51") var f51: String = "51"
    @Field.Stored("f52") var f52: Int = 52
    @Field.Stored("f53") var f53: String = "53"
    @Field.Stored("f54") var f54: Int = 54
    @Field.Stored("f55") var f55: String = "55"
    @Field.Stored("f56") var f56: Int = 56
    @Field.Stored("f57") var f57: String = "57"
    @Field.Stored("f58") var f58: Int = 58
    @Field.Stored("f59") var f59: String = "59"
    @Field.Stored("f60") var f60: Int = 60
    @Field.Stored("f61") var f61: String = "61"
    @Field.Stored("f62") var f62: Int = 62
    @Field.Stored("f63") var f63: String = "63"
    @Field.Stored("f64") var f64: Int = 64
    @Field.Stored("f65") var f65: String = "65"
    @Field.Stored("f66") var f66: Int = 66
    @Field.Stored("f67") var f67: String = "67"
    @Field.Stored("f68") var f68: Int = 68
    @Field.Stored("f69") var f69: String = "69"
    @Field.Relationship("other") var other: Wide?
}

/// A class with more fields than a word has bits.
@Suite struct WideClassTests {
    private func stack() throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Wide>("Wide", indexes: [[\.$f68]], uniqueConstraints: [[\.$key]])
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return (stack, queue)
    }

    @Test func `the last of seventy fields is stored, changed and found`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let wide = transaction.create(Into<Wide>())
            (wide.f00, wide.f63, wide.f68, wide.f69) = (-1, "x", -68, "last")
            wide.other = wide
        })
        try stack.perform(synchronous: { transaction in
            let wide = try #require(try transaction.fetchOne(From<Wide>().where(\.$f68 == -68)))
            wide.f66 = -66
            _ = try transaction.fetchCount(From<Wide>())
            wide.f67 = "late"
        })
        try queue.sync { () throws in
            let wide = try #require(try stack.fetchOne(From<Wide>().where(\.$f69 == "last")))
            #expect((wide.f00, wide.f62, wide.f63, wide.f64) == (-1, 62, "x", 64))
            #expect((wide.f65, wide.f66, wide.f67, wide.f68) == ("65", -66, "late", -68))
            #expect(wide.other === wide)
        }
    }

    @Test func `a unique conflict keeps unassigned fields past the sixty-fourth`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let wide = transaction.create(Into<Wide>())
            (wide.key, wide.f64, wide.f65, wide.f69) = ("k", 1, "stored", "stored")
        })
        try stack.perform(synchronous: { transaction in
            let wide = transaction.create(Into<Wide>())
            (wide.key, wide.f65) = ("k", "newer")
        })
        try queue.sync { () throws in
            let all = try stack.fetchAll(From<Wide>())
            #expect(all.count == 1)
            #expect((all.first?.f64, all.first?.f65, all.first?.f69) == (1, "newer", "stored"))
        }
    }
}
