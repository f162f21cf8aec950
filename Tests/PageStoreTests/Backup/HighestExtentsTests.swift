import TestSupport
import Testing

@testable import PageStore

/// The order in which a vacuum moves pages.
@Suite struct HighestExtentsTests {
    @Test func `extents come from the highest down, however far they lie apart`() {
        var random = SeededRandom(for: "HighestExtentsTests")
        for _ in 0..<200 {
            let width: UInt64 = 1 << UInt64(random.below(41))
            var units: Set<UInt64> = []
            for _ in 0..<random.below(300) {
                // Some lie close together, and others anywhere.
                let isNear = random.below(2) == 0
                units.insert(random.next() % (isNear ? min(width, 5000) : width))
            }
            var extents = HighestExtents(
                units.shuffled(using: &random).map {
                    StoreContent.Place(unit: $0, unitCount: 1, holder: .page(PageID($0 + 1)))
                })
            var found: [UInt64] = []
            while let extent = extents.next() {
                #expect(extent.page == PageID(extent.unit + 1))
                found.append(extent.unit)
            }
            #expect(found == units.sorted(by: >))
        }
    }
}
