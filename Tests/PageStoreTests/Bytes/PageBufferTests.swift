import TestSupport
import Testing

@testable import PageStore

/// The fields before and after a page's bytes, in one block with them.
@Suite struct PageBufferTests {
    private static let counts = [0, 1, 7, 8, 9, 16, 511, 4096, 16_384, 1 << 20, (1 << 20) + 3]

    @Test(arguments: counts)
    func `a new page is zeros, and has its name and size`(count: Int) {
        let page = PageBuffer(id: PageID(.max), count: count)
        #expect(page.id == PageID(.max) && page.count == count && page.proof == 0)
        #expect(page.view.array() == [UInt8](repeating: 0, count: count))
    }

    @Test(arguments: counts)
    func `a page's fields around its bytes do not change with the bytes`(count: Int) {
        let page = PageBuffer(id: PageID(77), count: count)
        page.proof = 1 << 40 | 5
        let kept = ColumnCacheBudget()
        #expect(column(of: page, countedBy: kept, whichReads: 6) == [6, 6])
        page.fill(0xFF, from: 0, count: count)
        #expect(page.id == PageID(77) && page.count == count && page.proof == 1 << 40 | 5)
        #expect(page.view.array() == [UInt8](repeating: 0xFF, count: count))
        #expect(column(of: page, countedBy: kept, whichReads: 7) == [6, 6])
    }

    /// The column that a page caches; it is read if it is not cached yet.
    private func column(
        of page: PageBuffer, countedBy kept: ColumnCacheBudget, whichReads word: UInt64
    ) -> [UInt64]? {
        page.withColumns { columns in
            columns.vectors(
                of: ColumnPair(dense: 0, sparse: 0), columnCountMax: 2, countedBy: kept
            ) { _ in
                [word, word]
            }?.dense.words
        }
    }

    @Test(arguments: counts)
    func `a copied page has the bytes and no validation mark`(count: Int) {
        var random = SeededRandom(for: "PageBufferTests")
        let bytes = random.bytes(count)
        let page = PageBuffer(id: PageID(3), count: count)
        bytes.span.withView { page.copy($0, to: 0) }
        page.proof = 9
        let copy = PageBuffer(copying: page)
        #expect(copy.id == PageID(3) && copy.count == count && copy.proof == 0)
        copy.proof = 8
        copy.fill(0, from: 0, count: count)
        #expect(page.view.array() == bytes && page.proof == 9)
        #expect(copy.view.array() == [UInt8](repeating: 0, count: count))
    }

    @Test func `two references to a page buffer share its bytes`() {
        let page = PageBuffer(id: PageID(3), count: 64)
        let other = page
        other[63] = 5
        other.proof = 2
        #expect(page[63] == 5 && page.proof == 2)
    }
}
