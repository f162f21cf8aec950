import TestSupport
import Testing

@testable import PageStore

@Suite struct NodeBuilderTests {
    private static let pageSize = 4096

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// An empty leaf, or a branch with a first child.
    private func clear(
        _ lower: String, _ upper: String, level: Int = 0
    ) -> NodeView {
        bytes(lower).withView { lower in
            bytes(upper).withView { upper in
                NodeView.clear(
                    PageBuffer(id: PageID(5), count: Self.pageSize), level: level, lower: lower,
                    upper: upper, firstChild: level == 0 ? nil : PageID(9))
            }
        }
    }

    private func build(
        _ lower: String, _ upper: String, _ fill: (inout NodeBuilder) -> Void
    ) -> NodeView {
        bytes(lower).withView { lower in
            bytes(upper).withView { upper in
                var builder = NodeBuilder(
                    PageBuffer(id: PageID(5), count: Self.pageSize), level: 0, lower: lower,
                    upper: upper, firstChild: nil)
                fill(&builder)
                builder.finish()
                return builder.node
            }
        }
    }

    private func keys(_ node: NodeView) -> [[UInt8]] { node.entries().map { $0.key() } }

    private func entries(
        _ count: Int, _ random: inout SeededRandom
    ) -> [(key: [UInt8], value: [UInt8])] {
        let keys = Set((0..<count).map { _ in bytes("kab") + random.bytes(1 + random.below(9)) })
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.map {
            ($0, random.bytes(random.below(20)))
        }
    }

    @Test func `a node that is filled at once equals one filled by insertions`() throws {
        var random = SeededRandom(for: "NodeBuilderTests filled")
        for _ in 0..<20 {
            let entries = entries(60, &random)
            let inserted = clear("kab", "kac")
            let filled = build("kab", "kac") { builder in
                for (key, value) in entries {
                    key.withView { key in
                        value.withView { value in
                            builder.append(key, value, isOverflow: false)
                            inserted.insert(
                                key, value, isOverflow: false, at: inserted.slotCount)
                        }
                    }
                }
            }
            #expect(filled.page.view == inserted.page.view, "seed \(random.seed)")
            #expect(keys(filled) == entries.map(\.key), "seed \(random.seed)")
            try NodeCheck(page: filled.page, isLeaf: true, pageCount: 10).run()
        }
    }

    @Test func `a compacted node equals one that is filled anew`() throws {
        var random = SeededRandom(for: "NodeBuilderTests compact")
        for _ in 0..<20 {
            let node = clear("kab", "kac")
            var left = entries(300, &random)
            left = Array(
                left.prefix { key, value in
                    guard node.hasRoom(keySize: key.count, valueSize: value.count) else {
                        return false
                    }
                    key.withView { key in
                        value.withView {
                            node.insert(key, $0, isOverflow: false, at: node.slotCount)
                        }
                    }
                    return true
                })
            for _ in 0..<10 {
                let index = random.below(left.count - 1)
                node.remove(at: index)
                left.remove(at: index)
            }
            #expect(node.garbageSize > 0, "seed \(random.seed)")
            let last = (
                key: bytes("kab") + [UInt8](repeating: 0xFF, count: 10),
                value: random.bytes(node.freeSize - 22)
            )
            last.key.withView { key in
                last.value.withView {
                    node.insert(key, $0, isOverflow: false, at: node.slotCount)
                }
            }
            left.append(last)
            let filled = build("kab", "kac") { builder in
                for (key, value) in left {
                    key.withView { key in
                        value.withView { builder.append(key, $0, isOverflow: false) }
                    }
                }
            }
            #expect(node.page.view == filled.page.view, "seed \(random.seed)")
            try NodeCheck(page: node.page, isLeaf: true, pageCount: 10).run()
        }
    }

    @Test(arguments: [("kab", "kac"), ("k", "l"), ("", ""), ("kab\u{0}", "kab\u{7F}")])
    func `entries keep their keys in a node of another prefix`(lower: String, upper: String) {
        var random = SeededRandom(for: "NodeBuilderTests prefix")
        let inner = (0..<40).map { bytes("kab") + [UInt8(1 + $0)] + random.bytes(5) }
        let old = build("kab", "kac") { builder in
            for key in inner {
                key.withView { builder.append($0, $0, isOverflow: false) }
            }
        }
        let new = build(lower, upper) { builder in
            for entry in old.entries() { builder.append(entry) }
        }
        withExtendedLifetime(old) {}
        #expect(keys(new) == inner)
        #expect((0..<new.slotCount).map { new.storedValue($0).array() } == inner)
    }

    @Test func `an entry without room is refused`() async {
        await #expect(processExitsWith: .failure) {
            let nothing: [UInt8] = []
            nothing.withView { nothing in
                var builder = NodeBuilder(
                    PageBuffer(id: PageID(5), count: 4096), level: 0, lower: nothing,
                    upper: nothing, firstChild: nil)
                let value = [UInt8](repeating: 1, count: 3000)
                value.withView { value in
                    for key in UInt8(1)...2 {
                        [key].withView { builder.append($0, value, isOverflow: false) }
                    }
                }
            }
        }
    }

    @Test func `a split plan starts a new part at each share of the bytes`() {
        let sizes = [10, 10, 30, 10, 10, 10, 10, 10]
        var (before, starts) = (0, [Int]())
        for (index, size) in sizes.enumerated() {
            if SplitPlan.isPast(
                share: starts.count + 1, of: 4, before: before, size: size, total: 100)
            {
                starts.append(index)
            }
            before += size
        }
        // 20, 30, 30 and 20 bytes.
        #expect(starts == [2, 3, 6])
    }
}
