import TestSupport
import Testing

@testable import PageStore

@Suite struct FreePageIDsTests {
    /// A bug: they came back one by one, in no order, and the next pages lay anywhere.
    @Test func `the IDs of a transaction that is rolled back stay runs`() throws {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        for _ in 0..<1000 { _ = try transaction.allocatePage(.overflow) }
        transaction.rollback()
        let next = try engine.beginWrite()
        let ids = try (0..<500).map { _ in try next.allocatePage(.overflow).id.rawValue }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 + 1 == $1 })
        next.rollback()
    }

    @Test func `page IDs that are freed again are allocated in order`() {
        var names = FreePageIDs(ascending: [.init(start: 3, count: 2), .init(start: 9, count: 1)])
        #expect(names.take() == PageID(3))
        names.insert(PageID(3))
        #expect(names.runs == [.init(start: 3, count: 2), .init(start: 9, count: 1)])
        #expect((0..<4).map { _ in names.take()?.rawValue } == [3, 4, 9, nil])
        #expect(names.isEmpty)
    }

    @Test func `subtracting and inserting agree with a set`() {
        var random = SeededRandom(for: "FreePageIDsTests")
        for _ in 0..<300 {
            var names = FreePageIDs()
            var model = Set<UInt64>()
            for _ in 0..<random.below(30) {
                let id = UInt64(1 + random.below(40))
                names.insert(PageID(id))
                model.insert(id)
            }
            let taken = Set((0..<random.below(20)).map { _ in UInt64(1 + random.below(40)) })
            let rest = names.subtracting(taken.sorted().map { PageID($0) })
            let found = rest.runs.flatMap { Array($0.start..<$0.end) }
            #expect(found == model.subtracting(taken).sorted())
        }
    }

    @Test func `a run of the largest length is stored as one entry`() {
        var names = FreePageIDs(ascending: [.init(start: 1, count: 1 << 47)])
        names = names.subtracting([PageID(1), PageID(1 << 40)])
        #expect(names.take() == PageID(2))
        #expect(names.runs.count == 2)
    }
}
