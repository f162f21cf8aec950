/// A set of numbers with long gaps: a bit each, in parts that exist once one of their numbers was
/// added. Memory grows with the content, not with the largest number.
package struct SparseBitMap {
    /// Numbers of a part.
    package static let partSize: UInt64 = 1 << 16
    /// The many parts of a large run share their bits.
    private static let fullPart = BitMap(
        words: Array(repeating: .max, count: Int(partSize / 64)))

    private var parts: [UInt64: BitMap] = [:]

    package init() {}

    package var partCount: Int { parts.count }

    package func contains(_ number: UInt64) -> Bool {
        parts[number / Self.partSize]?.contains(number % Self.partSize) ?? false
    }

    package var setCount: UInt64 { parts.values.reduce(0) { $0 + $1.setCount } }

    /// One more than the greatest number; 0 of none.
    package var end: UInt64 {
        var end: UInt64 = 0
        for (key, part) in parts where key >= end / Self.partSize {
            let last = part.end
            if last > 0 { end = max(end, key * Self.partSize + last) }
        }
        return end
    }

    /// Passes words of 64 numbers to the body, from a multiple of 64 on, each with its index among
    /// them. Those of parts that do not exist are left out: they are zero.
    package func forEachWord(
        from start: UInt64, count: Int, _ body: (_ index: Int, _ word: UInt64) -> Void
    ) {
        let wordCount = Self.partSize / 64
        var index = 0
        while index < count {
            let (key, first) = (start + UInt64(index)).quotientAndRemainder(dividingBy: wordCount)
            let length = min(count - index, Int(wordCount - first))
            if let part = parts[key] {
                for offset in 0..<length { body(index + offset, part.words[Int(first) + offset]) }
            }
            index += length
        }
    }

    // MARK: Changing

    /// Inserts numbers by words of 64, from a multiple of 64 on.
    package mutating func insert(
        wordsAt start: UInt64, count: Int, _ word: (Int) -> UInt64
    ) {
        let wordCount = Self.partSize / 64
        var index = 0
        while index < count {
            let (key, first) = (start + UInt64(index)).quotientAndRemainder(dividingBy: wordCount)
            let length = min(count - index, Int(wordCount - first))
            var words = parts.removeValue(forKey: key)?.words ?? []
            if words.isEmpty { words = Array(repeating: 0, count: Int(wordCount)) }
            for offset in 0..<length { words[Int(first) + offset] |= word(index + offset) }
            index += length
            if words.contains(where: { $0 != 0 }) {
                parts[key] = words == Self.fullPart.words ? Self.fullPart : BitMap(words: words)
            }
        }
    }

    /// Inserts a run. Returns the first number of it that was there already.
    @discardableResult
    package mutating func insert(_ start: UInt64, _ count: UInt64) -> UInt64? {
        var shared: UInt64?
        for (key, first, length) in Self.pieces(start, count) {
            if length == Self.partSize, parts[key] == nil {
                parts[key] = Self.fullPart
            } else if let found = withPart(key, { $0.insert(first, length) }), shared == nil {
                shared = key * Self.partSize + found
            }
        }
        return shared
    }

    /// Removes a run. Returns how many of its numbers were there.
    @discardableResult
    package mutating func remove(_ start: UInt64, _ count: UInt64) -> UInt64 {
        var removed: UInt64 = 0
        for (key, first, length) in Self.pieces(start, count) where parts[key] != nil {
            removed += withPart(key) { $0.remove(first, length) }
        }
        return removed
    }

    private mutating func withPart<Result>(
        _ key: UInt64, _ body: (inout BitMap) -> Result
    ) -> Result {
        body(&parts[key, default: BitMap(bitCount: Int(Self.partSize))])
    }

    /// The parts of a run: the part, the first number within it, and how many.
    private static func pieces(
        _ start: UInt64, _ count: UInt64
    ) -> UnfoldSequence<(key: UInt64, first: UInt64, length: UInt64), UInt64> {
        sequence(state: 0) { done in
            guard done < count else { return nil }
            let position = start + done
            let first = position % partSize
            let length = min(partSize - first, count - done)
            done += length
            return (position / partSize, first, length)
        }
    }

    // MARK: Searching

    /// How many numbers of a run are there.
    package func count(in start: UInt64, _ count: UInt64) -> UInt64 {
        Self.pieces(start, count).reduce(0) { sum, piece in
            sum + (parts[piece.key]?.count(in: piece.first, piece.length) ?? 0)
        }
    }

    /// The first number of a range that is there.
    package func firstSet(in range: Range<UInt64>) -> UInt64? {
        for (key, first, length) in Self.pieces(range) {
            if let found = parts[key]?.firstSet(in: Int(first)..<Int(first + length)) {
                return key * Self.partSize + UInt64(found)
            }
        }
        return nil
    }

    /// The first number of a range that is not there.
    package func firstClear(in range: Range<UInt64>) -> UInt64? {
        for (key, first, length) in Self.pieces(range) {
            guard let part = parts[key] else { return key * Self.partSize + first }
            if let found = part.firstClear(in: Int(first)..<Int(first + length)) {
                return key * Self.partSize + UInt64(found)
            }
        }
        return nil
    }

    private static func pieces(
        _ range: Range<UInt64>
    ) -> UnfoldSequence<(key: UInt64, first: UInt64, length: UInt64), UInt64> {
        pieces(range.lowerBound, range.upperBound - range.lowerBound)
    }

    // MARK: Two sets

    package func union(_ other: SparseBitMap) -> SparseBitMap {
        var both = self
        both.parts.merge(other.parts) { $0.union($1) }
        return both
    }

    /// The first runs of numbers that the other set has not; about as many as are asked for.
    package func subtracting(_ other: SparseBitMap, countMax: Int) -> [Range<UInt64>] {
        runs(countMax) { part, key in
            part.subtracting(other.parts[key] ?? BitMap())
        }
    }

    /// The first runs of numbers that both sets have; about as many as are asked for.
    package func intersection(_ other: SparseBitMap, countMax: Int) -> [Range<UInt64>] {
        runs(countMax) { part, key in
            part.intersection(other.parts[key] ?? BitMap())
        }
    }

    private func runs(
        _ countMax: Int, _ body: (BitMap, UInt64) -> [Range<UInt64>]
    ) -> [Range<UInt64>] {
        var runs: [Range<UInt64>] = []
        for key in parts.keys.sorted() where runs.count < countMax {
            guard let part = parts[key] else { continue }
            let start = key * Self.partSize
            for run in body(part, key) {
                let (lower, upper) = (start + run.lowerBound, start + run.upperBound)
                if let last = runs.last, last.upperBound == lower {
                    runs[runs.count - 1] = last.lowerBound..<upper
                } else {
                    runs.append(lower..<upper)
                }
            }
        }
        return runs
    }
}
