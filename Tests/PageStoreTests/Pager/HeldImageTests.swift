import Testing

@testable import PageStore

/// Pinned images while the cache needs room.
@Suite struct HeldImageTests {
    private static let pageBytes = 4096

    private static func address(_ number: Int) -> ExtentAddress {
        ExtentAddress(hash: UInt64(number) &* 77, unit: UInt64(number), unitCount: 1)
    }

    private static func page(_ number: Int) -> PageBuffer {
        PageBuffer(id: PageID(UInt64(number)), count: pageBytes)
    }

    @Test func `referenced images stay in the cache while others are evicted`() {
        var cache = PageCache(budgetInBytes: 20 * Self.pageBytes)
        var held: [PageBuffer] = []
        for number in 0..<10 {
            held.append(Self.page(number))
            cache.insert(held[number], at: Self.address(number))
        }
        for number in 10..<500 { cache.insert(Self.page(number), at: Self.address(number)) }
        #expect(cache.sizeInBytes <= 20 * Self.pageBytes)
        for number in 0..<10 {
            #expect(cache.image(at: Self.address(number))?.id == held[number].id)
        }
        // Once released they are evicted like others; the lookups above were their last references.
        held = []
        for number in 500..<1000 { cache.insert(Self.page(number), at: Self.address(number)) }
        #expect((0..<10).allSatisfy { cache.image(at: Self.address($0)) == nil })
    }

    @Test func `a cache whose images are all referenced keeps its budget`() {
        var cache = PageCache(budgetInBytes: 200 * Self.pageBytes)
        let held = (0..<600).map(Self.page)
        for (number, image) in held.enumerated() {
            cache.insert(image, at: Self.address(number))
            #expect(cache.sizeInBytes <= 200 * Self.pageBytes)
        }
        #expect(cache.image(at: Self.address(599))?.id == held[599].id)
    }
}
