import TestSupport
import Testing

@testable import PageStore

/// The decoder of long matches makes the bytes that LZ4's library makes, of all blocks that keep
/// the format's rules.
@Suite struct LongMatchDecoderTests {
    /// A block of random sequences, and how many bytes it makes.
    private struct Draft {
        private(set) var block: [UInt8] = []
        private(set) var count = 0
        private let dictionaryCount: Int

        init(dictionaryCount: Int, _ random: inout SeededRandom) {
            self.dictionaryCount = dictionaryCount
            for _ in 0..<random.below(6) { appendSequence(&random) }
            if random.below(8) > 0 {
                let literals = random.bytes(random.below(8) == 0 ? 3 : 12 + random.below(20))
                appendToken(literals, matchCount: nil)
                count += literals.count
            }
        }

        private mutating func appendSequence(_ random: inout SeededRandom) {
            let literals = random.bytes([0, 1, 4, 11, 13, 14, 15, 270, 300][random.below(9)])
            let before = count + literals.count + dictionaryCount
            guard before > 0 else { return }
            let near = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33][random.below(14)]
            let far = 1 + random.below(min(before, 65_535))
            let distance = random.below(3) == 0 ? far : min(near, before)
            let matchCount = [4, 5, 9, 18, 19, 20, 273, 274, 275, 1000, 9000][random.below(11)]
            appendToken(literals, matchCount: matchCount)
            block += [UInt8(distance & 255), UInt8(distance >> 8)]
            if matchCount >= 19 { appendLength(matchCount - 19) }
            count += literals.count + matchCount
        }

        private mutating func appendToken(_ literals: [UInt8], matchCount: Int?) {
            let match = matchCount.map { min($0 - 4, 15) } ?? 0
            block.append(UInt8(min(literals.count, 15) << 4 | match))
            if literals.count >= 15 { appendLength(literals.count - 15) }
            block += literals
        }

        private mutating func appendLength(_ rest: Int) {
            block += [UInt8](repeating: 255, count: rest / 255) + [UInt8(rest % 255)]
        }
    }

    /// Whether a block that the library accepts keeps the format's rules: no match has distance
    /// zero, begins in the last 12 bytes or ends in the last 5. The library does not look for all
    /// of that.
    private func isRegular(_ block: [UInt8], _ count: Int) -> Bool {
        var (position, written) = (0, 0)
        func length(_ part: UInt8) -> Int {
            guard part == 15 else { return Int(part) }
            var length = 15
            while position < block.count {
                position += 1
                length += Int(block[position - 1])
                if block[position - 1] < 255 { break }
            }
            return length
        }
        while position < block.count {
            let token = block[position]
            position += 1
            let literalCount = length(token >> 4)
            position += literalCount
            written += literalCount
            guard position + 2 <= block.count else { return true }
            let isAway = block[position] > 0 || block[position + 1] > 0
            position += 2
            let matchCount = length(token & 15) + 4
            guard isAway, written <= count - 12, written + matchCount <= count - 5 else {
                return false
            }
            written += matchCount
        }
        return true
    }

    /// Returns whether the decoder accepted the block.
    private func compare(
        _ block: [UInt8], _ count: Int, against dictionary: [UInt8]?
    ) -> Bool {
        let pages = [0, 1].map { PageBuffer(id: PageID($0), count: count) }
        func decode(_ dictionary: ByteView?) -> (library: Bool, own: Bool) {
            block.withView {
                (
                    Compression.decompressByLibrary($0, against: dictionary, into: pages[0]),
                    LongMatchDecoder.decompress($0, against: dictionary, into: pages[1])
                )
            }
        }
        let accepted = dictionary?.withView { decode($0) } ?? decode(nil)
        let isExpected = accepted.library && isRegular(block, count)
        #expect(accepted.own == isExpected, "\(block) of \(count)")
        if accepted.own, accepted.library {
            #expect(pages[0].view == pages[1].view, "\(block) of \(count)")
        }
        return accepted.own
    }

    @Test(arguments: [nil, 0, 1, 300, 65_536, 70_000])
    func `random blocks, whole and damaged, are decoded as the library does`(
        dictionaryCount: Int?
    ) {
        var random = SeededRandom(for: "LongMatchDecoderTests \(dictionaryCount ?? -1)")
        let dictionary = dictionaryCount.map { random.bytes($0) }
        var (accepted, refused) = (0, 0)
        for _ in 0..<6000 {
            let draft = Draft(dictionaryCount: min(dictionaryCount ?? 0, 40_000), &random)
            var (block, count) = (draft.block, draft.count)
            switch random.below(4) {
            case 0 where !block.isEmpty:
                block[random.below(block.count)] = random.bytes(1)[0]
            case 1: block.removeLast(min(block.count, 1 + random.below(9)))
            case 2: count = max(count + random.below(25) - 12, 0)
            default: break
            }
            if compare(block, count, against: dictionary) { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 900 && refused > 900, "\(accepted) accepted, \(refused) refused")
    }

    /// The library accepts a short match that ends where the block does.
    @Test func `a block without last literals is refused`() {
        let page = PageBuffer(id: PageID(1), count: 1024)
        var block: [UInt8] = [0x1F, 7, 1, 0, 255, 255, 255, 0xCF, 0xEE]
        block += [UInt8](0..<14) + [0x10, 0, 0]
        block.withView { block in
            #expect(Compression.decompressByLibrary(block, against: nil, into: page))
            #expect(LongMatchDecoder.suits(block, page))
            #expect(!Compression.decompress(block, into: page))
        }
    }

    @Test func `a block of distance zero is refused`() {
        let page = PageBuffer(id: PageID(1), count: 4096)
        var block: [UInt8] = [0x1F, 7, 0, 0] + [UInt8](repeating: 255, count: 15) + [237]
        block += [0x50, 1, 2, 3, 4, 5]
        func isWhole() -> Bool { block.withView { Compression.decompress($0, into: page) } }
        let rest = 4096 - 1 - 19 - 5 - 15 * 255
        block[19] = UInt8(rest)
        #expect(!isWhole())
        block[2] = 1
        #expect(isWhole() && page[4000] == 7)
    }
}
