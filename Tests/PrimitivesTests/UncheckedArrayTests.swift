import Primitives
import Testing

@Suite struct UncheckedArrayTests {
    private final class Thing {}

    @Test func `a copy of the value is the same list, and a copied list is another`() {
        let list = UncheckedArray(repeating: 0, count: 3)
        let same = list
        let other = UncheckedArray(copying: list)
        list[1] = 7
        #expect(same[1] == 7 && other[1] == 0 && list.indices == 0..<3)
    }

    @Test func `elements end with their list`() {
        weak var ended: Thing?
        do {
            let list = UncheckedArray<Thing?>(repeating: nil, count: 2)
            let thing = Thing()
            ended = thing
            list[1] = thing
            #expect(list.withObject(at: 0) { _ in true } == nil)
            #expect(list.withObject(at: 1) { $0 === thing } == true)
            #expect(list.compacted().count == 1)
        }
        #expect(ended == nil)
    }

    @Test func `an index outside is refused`() async {
        await #expect(processExitsWith: .failure) {
            _ = UncheckedArray(repeating: 0, count: 3)[3]
        }
    }
}
