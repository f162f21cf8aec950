/// A set of small numbers, a bit each, in words of 64. Numbers past the last word are not in it.
package struct BitMap {
    package private(set) var words: [UInt64]

    package init(words: [UInt64] = []) { self.words = words }

    package init(bitCount: Int) { words = Array(repeating: 0, count: (bitCount + 63) / 64) }

    /// Has words for all numbers below one.
    package mutating func grow(toBitCount bitCount: UInt64) {
        let needed = Int((bitCount + 63) / 64)
        guard needed > words.count else { return }
        words.append(contentsOf: repeatElement(0, count: needed - words.count))
    }

    package func contains(_ number: UInt64) -> Bool {
        let word = Int(number / 64)
        return word < words.count && words[word] & (1 << (number % 64)) != 0
    }

    package var setCount: UInt64 { words.reduce(0) { $0 + UInt64($1.nonzeroBitCount) } }

    /// One more than the greatest number; 0 of none.
    package var end: UInt64 {
        for index in words.indices.reversed() where words[index] != 0 {
            return UInt64(index * 64 + 64 - words[index].leadingZeroBitCount)
        }
        return 0
    }

    // MARK: Changing

    /// Inserts a run. Returns the first number of it that was there already.
    @discardableResult
    package mutating func insert(_ start: UInt64, _ count: UInt64) -> UInt64? {
        grow(toBitCount: start + count)
        var shared: UInt64?
        BitMap.forEachWord(of: start, count) { word, mask in
            if shared == nil, words[word] & mask != 0 {
                shared = UInt64(word * 64 + (words[word] & mask).trailingZeroBitCount)
            }
            words[word] |= mask
        }
        return shared
    }

    /// Removes a run. Returns how many of its numbers were there.
    @discardableResult
    package mutating func remove(_ start: UInt64, _ count: UInt64) -> UInt64 {
        var removed = 0
        BitMap.forEachWord(of: start, count) { word, mask in
            guard word < words.count else { return }
            removed += (words[word] & mask).nonzeroBitCount
            words[word] &= ~mask
        }
        return UInt64(removed)
    }

    /// How many numbers of a run are there.
    package func count(in start: UInt64, _ count: UInt64) -> UInt64 {
        var found = 0
        BitMap.forEachWord(of: start, count) { word, mask in
            if word < words.count { found += (words[word] & mask).nonzeroBitCount }
        }
        return UInt64(found)
    }

    @inline(__always)
    private static func forEachWord(
        of start: UInt64, _ count: UInt64, _ body: (_ word: Int, _ mask: UInt64) -> Void
    ) {
        let end = start + count
        var position = start
        while position < end {
            let bit = position % 64
            let part = min(64 - bit, end - position)
            let mask = (part == 64 ? UInt64.max : (1 << part) - 1) << bit
            body(Int(position / 64), mask)
            position += part
        }
    }

    // MARK: Searching

    /// The first number of a range that is there. The range lies within the words.
    package func firstSet(in range: Range<Int>) -> Int? {
        firstBit(in: range) { words[$0] }
    }

    /// The first number of a range that is not there. The range lies within the words.
    package func firstClear(in range: Range<Int>) -> Int? {
        firstBit(in: range) { ~words[$0] }
    }

    @inline(__always)
    private func firstBit(in range: Range<Int>, _ word: (Int) -> UInt64) -> Int? {
        var position = range.lowerBound
        while position < range.upperBound {
            let bits = word(position / 64) >> UInt64(position % 64)
            if bits != 0 {
                let found = position + bits.trailingZeroBitCount
                return found < range.upperBound ? found : nil
            }
            position += 64 - position % 64
        }
        return nil
    }

    // MARK: Two sets

    package func union(_ other: BitMap) -> BitMap {
        var longer = words.count >= other.words.count ? words : other.words
        let shorter = words.count >= other.words.count ? other.words : words
        for (index, word) in shorter.enumerated() { longer[index] |= word }
        return BitMap(words: longer)
    }

    /// The runs of numbers that the other set has not.
    package func subtracting(_ other: BitMap) -> [Range<UInt64>] {
        runs { $0 < other.words.count ? words[$0] & ~other.words[$0] : words[$0] }
    }

    /// The runs of numbers that both sets have.
    package func intersection(_ other: BitMap) -> [Range<UInt64>] {
        runs { $0 < other.words.count ? words[$0] & other.words[$0] : 0 }
    }

    /// The runs of ones in words that are made up from this set's.
    private func runs(_ word: (Int) -> UInt64) -> [Range<UInt64>] {
        var runs: [Range<UInt64>] = []
        for index in words.indices {
            var bits = word(index)
            while bits != 0 {
                let low = UInt64(bits.trailingZeroBitCount)
                let length = UInt64((~(bits >> low)).trailingZeroBitCount)
                let start = UInt64(index) * 64 + low
                if let last = runs.last, last.upperBound == start {
                    runs[runs.count - 1] = last.lowerBound..<(start + length)
                } else {
                    runs.append(start..<(start + length))
                }
                bits &= length == 64 ? 0 : ~(((1 << length) - 1) << low)
            }
        }
        return runs
    }
}
