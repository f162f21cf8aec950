import TestSupport
import Testing

@testable import PageStore

/// Delta blocks of pages relative to their previous versions: an LZ4 decoder is all that a reader
/// needs.
@Suite struct PageDeltaTests {
    private func block(
        _ image: PageBuffer, _ base: PageBuffer, sizeMax: Int = .max
    ) -> [UInt8]? {
        let buffer = ByteBuffer()
        guard PageDelta.append(image.view, against: base.view, to: buffer, sizeMax: sizeMax) else {
            #expect(buffer.count == 0)
            return nil
        }
        return buffer.view.array()
    }

    private func isRebuilt(_ image: PageBuffer, _ base: PageBuffer, from block: [UInt8]) -> Bool {
        let rebuilt = PageBuffer(id: image.id, count: image.count)
        let isWhole = block.withView {
            Compression.decompress($0, against: base.view, into: rebuilt)
        }
        return isWhole && rebuilt.view == image.view
    }

    private func page(_ bytes: [UInt8]) -> PageBuffer {
        let page = PageBuffer(id: PageID(1), count: bytes.count)
        bytes.withView { page.copy($0, to: 0) }
        return page
    }

    /// Inserts, removes and replaces entries with keys of up to forty bytes.
    private func edit(_ node: NodeView, _ random: inout SeededRandom) {
        let key = (0..<(4 + random.below(36))).map { _ in UInt8(97 + random.below(26)) }
        key.withView { key in
            let (index, isEqual) = node.search(key)
            switch random.below(4) {
            case 0 where node.slotCount > 0: node.remove(at: random.below(node.slotCount))
            case 1 where node.slotCount > 0:
                let value = node.storedValue(random.below(node.slotCount)).array()
                value.reversed().withView { value in
                    _ = node.replaceInPlace(
                        value, isOverflow: false, at: random.below(node.slotCount))
                }
            default:
                guard !isEqual, node.hasRoom(keySize: key.count, valueSize: 8) else { return }
                random.bytes(8).withView {
                    node.insert(key, $0, isOverflow: false, at: index)
                }
            }
        }
    }

    @Test(arguments: [512, 4096, 16_384, 32_768])
    func `edited nodes are rebuilt from their previous version and the delta`(size: Int) {
        var random = SeededRandom(for: "PageDeltaTests")
        let page = PageBuffer(id: PageID(1), count: size)
        let node = NodeView.clearRoot(page, level: 0, firstChild: nil)
        var blockCount = 0
        for _ in 0..<300 {
            let base = PageBuffer(copying: page)
            for _ in 0..<(1 + random.below(4)) { edit(node, &random) }
            guard let block = block(page, base) else { continue }
            blockCount += 1
            #expect(isRebuilt(page, base, from: block))
        }
        #expect(blockCount > 200)
    }

    /// The slots of such keys differ little and match in wrong positions.
    @Test func `a few insertions among similar keys are stored as a delta`() {
        var random = SeededRandom(for: "PageDeltaTests")
        for _ in 0..<100 {
            let page = PageBuffer(id: PageID(1), count: 16_384)
            let node = NodeView.clearRoot(page, level: 0, firstChild: nil)
            func insert(_ group: Int, _ number: Int) {
                let key = Array("group \(group) \(1_000_000 + number)".utf8)
                key.withView { key in
                    let (index, isEqual) = node.search(key)
                    guard !isEqual else { return }
                    [].withView { node.insert(key, $0, isOverflow: false, at: index) }
                }
            }
            for number in 0..<300 { insert(number / 50, number * 1000) }
            let base = PageBuffer(copying: page)
            for _ in 0..<(2 + random.below(3)) { insert(random.below(6), random.below(300_000)) }
            let block = block(page, base)
            #expect(block != nil, "seed \(random.seed)")
            #expect(block.map { isRebuilt(page, base, from: $0) } == true, "seed \(random.seed)")
        }
    }

    @Test func `pages of arbitrary bytes are rebuilt or have no delta`() {
        var random = SeededRandom(for: "PageDeltaTests")
        for _ in 0..<300 {
            let size = 13 + random.below(400)
            let alphabet = 1 + random.below(3)
            var bytes = (0..<size).map { _ in UInt8(random.below(alphabet)) }
            let base = page(bytes)
            for _ in 0..<random.below(6) {
                let shift = 8 * random.below(4)
                let start = random.below(size)
                for index in stride(from: size - 1, through: start + shift, by: -1) {
                    bytes[index] = bytes[index - shift]
                }
                bytes[random.below(size)] = UInt8(random.below(256))
            }
            let image = page(bytes)
            if let block = block(image, base) { #expect(isRebuilt(image, base, from: block)) }
        }
    }

    @Test func `one insertion costs its entry and little more`() throws {
        let page = PageBuffer(id: PageID(1), count: 16_384)
        let node = NodeView.clearRoot(page, level: 0, firstChild: nil)
        for number in 0..<300 {
            Array("key \(1000 + number * 2)".utf8).withView { key in
                node.insert(key, key, isOverflow: false, at: number)
            }
        }
        let base = PageBuffer(copying: page)
        Array("key 1301".utf8).withView { node.insert($0, $0, isOverflow: false, at: 151) }
        let block = try #require(self.block(page, base))
        // Lengths of a page's matches alone take a byte for every 255.
        #expect(block.count < 16_384 / 255 + 80)
        #expect(isRebuilt(page, base, from: block))
        #expect(self.block(page, base, sizeMax: block.count - 1) == nil)
    }

    @Test func `pages of the largest size have no delta`() {
        let base = PageBuffer(id: PageID(1), count: 65_536)
        for index in 0..<base.count { base[index] = UInt8(truncatingIfNeeded: index * index / 7) }
        let image = PageBuffer(copying: base)
        image[30_000] ^= 1
        #expect(block(image, base) == nil)
    }
}
