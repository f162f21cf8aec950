import Testing

@testable import PageStore

/// Hints of a page's slot in the cache may be out of date, and are verified.
@Suite struct CacheHintTests {
    private static func address(_ number: Int) -> ExtentAddress {
        ExtentAddress(hash: UInt64(number) &* 77, unit: UInt64(number), unitCount: 1)
    }

    private static func page(_ number: Int) -> PageBuffer {
        PageBuffer(id: PageID(UInt64(number)), count: 4096)
    }

    @Test func `a hint finds its image until the image leaves the cache`() throws {
        var cache = PageCache(budgetInBytes: 10 * 4096)
        cache.insert(Self.page(1), at: Self.address(1))
        let hint = cache.hint(for: Self.address(1))
        #expect(cache.image(at: Self.address(1), hint)?.id == PageID(1))
        for number in 2..<40 { cache.insert(Self.page(number), at: Self.address(number)) }
        #expect(cache.image(at: Self.address(1), hint) == nil)
        #expect(cache.image(at: Self.address(1), cache.hint(for: Self.address(1))) == nil)
        // The slot holds another page now.
        let next = try #require(
            (2..<40).first { cache.image(at: Self.address($0), hint) != nil })
        #expect(cache.image(at: Self.address(next), hint)?.id == PageID(UInt64(next)))
    }

    @Test func `a missing hint and a hint of an emptied cache find nothing`() {
        var cache = PageCache(budgetInBytes: 10 * 4096)
        #expect(cache.image(at: Self.address(1), .none) == nil)
        cache.insert(Self.page(1), at: Self.address(1))
        #expect(cache.image(at: Self.address(1), .none) == nil)
        let hint = cache.hint(for: Self.address(1))
        cache.removeAll()
        #expect(cache.image(at: Self.address(1), hint) == nil)
    }

    @Test func `an extent that is rewritten is found under its new hash alone`() {
        var cache = PageCache(budgetInBytes: 10 * 4096)
        let old = ExtentAddress(hash: 1, unit: 5, unitCount: 1)
        let new = ExtentAddress(hash: 2, unit: 5, unitCount: 1)
        cache.insert(Self.page(1), at: old)
        let hint = cache.hint(for: old)
        cache.insert(Self.page(2), at: new)
        #expect(cache.image(at: old, hint) == nil)
        #expect(cache.image(at: new, cache.hint(for: new))?.id == PageID(2))
    }
}
