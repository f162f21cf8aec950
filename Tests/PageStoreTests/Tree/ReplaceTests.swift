import TestSupport
import Testing

@testable import PageStore

/// Values that replace others in a node.
@Suite struct ReplaceTests {
    private func key(_ number: Int) -> [UInt8] { Array("key \(1000 + number)".utf8) }

    private func node(values: [[UInt8]]) -> NodeView {
        let page = PageBuffer(id: PageID(1), count: 4096)
        let node = NodeView.clearRoot(page, level: 0, firstChild: nil)
        for (number, value) in values.enumerated() {
            key(number).withView { key in
                value.withView { node.insert(key, $0, isOverflow: false, at: number) }
            }
        }
        return node
    }

    /// A bug: each update of a full page moved all of its cells.
    @Test func `a value that is no longer than the last one moves no cell`() throws {
        var random = SeededRandom(for: "ReplaceTests")
        var values = (0..<20).map { _ in random.bytes(150) }
        let node = node(values: values)
        let cells = (0..<20).map { node.cellOffset($0) }
        for _ in 0..<200 {
            let index = random.below(20)
            values[index] = random.bytes(values[index].count - random.below(2))
            let isReplaced = values[index].withView {
                node.replaceInPlace($0, isOverflow: false, at: index)
            }
            #expect(isReplaced)
            try PageCheck.validate(node.page)
        }
        #expect((0..<20).map { node.cellOffset($0) } == cells)
        #expect((0..<20).map { node.storedValue($0).array() } == values)
    }

    @Test func `the space freed by shorter values is reused`() throws {
        var random = SeededRandom(for: "ReplaceTests room")
        let node = node(values: (0..<20).map { _ in random.bytes(180) })
        #expect(!node.hasRoom(keySize: 8, valueSize: 180))
        var values: [[UInt8]] = []
        for index in 0..<20 {
            values.append(random.bytes(100))
            _ = values[index].withView {
                node.replaceInPlace($0, isOverflow: false, at: index)
            }
        }
        while node.hasRoom(keySize: 8, valueSize: 180) {
            values.append(random.bytes(180))
            key(values.count - 1).withView { key in
                values[values.count - 1].withView {
                    node.insert(key, $0, isOverflow: false, at: values.count - 1)
                }
            }
            try PageCheck.validate(node.page)
        }
        #expect(values.count > 26)
        #expect((0..<values.count).map { node.storedValue($0).array() } == values)
    }

    @Test func `a longer value is not replaced in place`() {
        let node = node(values: [[1, 2, 3]])
        let isReplaced = [UInt8]([1, 2, 3, 4]).withView {
            node.replaceInPlace($0, isOverflow: false, at: 0)
        }
        #expect(!isReplaced)
        #expect(node.storedValue(0).array() == [1, 2, 3])
    }
}
