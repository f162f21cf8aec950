import PageStore
import TestSupport
import Testing

@Suite struct PageTableTests {
    @Test func `a table holds what a dictionary holds`() {
        var random = SeededRandom(for: "PageTableTests")
        var table = PageTable()
        var model: [PageID: PageBuffer] = [:]
        for step in 0..<20_000 {
            // Dense ids crowd; a few far ones meet them in the same slots.
            let number = random.below(8) == 0 ? random.next() | 1 : UInt64(1 + random.below(600))
            let id = PageID(number)
            if random.below(step < 10_000 ? 3 : 2) == 0 {
                table[id] = nil
                model[id] = nil
            } else {
                let page = PageBuffer(id: id, count: 16)
                page.setUInt64(UInt64(step), at: 0)
                table[id] = page
                model[id] = page
            }
            #expect(table.count == model.count && table.isEmpty == model.isEmpty)
            let other = PageID(UInt64(1 + random.below(600)))
            #expect(table[other]?.uint64(at: 0) == model[other]?.uint64(at: 0))
        }
        #expect(Set(table.values.map(\.id)) == Set(model.keys))
        for (id, page) in model {
            #expect(table[id]?.uint64(at: 0) == page.uint64(at: 0))
        }
        #expect(table[PageID(0)] == nil)
    }
}
