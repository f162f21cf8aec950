import PageStore

/// Searches texts for ASCII letters, at eight positions at a time.
package struct LetterSearch: Sendable {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    private let letters: [UInt8]
    private let lowers: Bool
    /// The first two letters, each repeated in every byte of a word.
    private let first: UInt64
    private let second: UInt64

    /// `lowers` converts a text's capitals to small letters; the letters sought must be small then.
    /// Nil for less than two letters, and for letters outside ASCII.
    package init?(_ letters: [UInt8], lowers: Bool) {
        guard letters.count >= 2, letters.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.letters = letters
        self.lowers = lowers
        first = Self.ones &* UInt64(letters[0])
        second = Self.ones &* UInt64(letters[1])
    }

    /// Whether a text contains the letters; nil if it is not ASCII.
    package func isFound(in text: ByteView) -> Bool? {
        let last = text.count &- 9
        guard last >= 0 else { return isFound(inShort: text) }
        var isFound = false
        var all: UInt64 = 0
        var position = 0
        while true {
            let word = text.uint64(at: position)
            let next = text.uint64(at: position &+ 1)
            all |= word | next
            var places =
                Self.zeros(lowered(word) ^ first) & Self.zeros(lowered(next) ^ second)
            while places != 0 && !isFound {
                let place = position &+ places.trailingZeroBitCount / 8
                isFound = letters.count == 2 || hasRest(text, at: place)
                places &= places &- 1
            }
            guard position < last else { break }
            // The last step ends with the text, so it may repeat some positions.
            position = min(position &+ 8, last)
        }
        // The comparisons above are valid only for ASCII, and a combining mark may follow the
        // match.
        return all & Self.tops == 0 ? isFound : nil
    }

    /// Searches a text of at most eight bytes, letter by letter.
    private func isFound(inShort text: ByteView) -> Bool? {
        var all: UInt8 = 0
        for index in 0..<text.count { all |= text[index] }
        guard all < 0x80 else { return nil }
        guard text.count >= letters.count else { return false }
        for place in 0...(text.count - letters.count)
        where lowered(text[place]) == letters[0] && lowered(text[place + 1]) == letters[1] {
            if hasRest(text, at: place) { return true }
        }
        return false
    }

    @inline(__always)
    private func lowered(_ byte: UInt8) -> UInt8 {
        lowers && byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Converts capitals to small letters in a word of ASCII, if `lowers` is set.
    @inline(__always)
    private func lowered(_ word: UInt64) -> UInt64 {
        guard lowers else { return word }
        let fromA = word &+ Self.ones &* (0x80 - 0x41)
        let behindZ = word &+ Self.ones &* (0x80 - 0x5B)
        return word | (fromA & ~behindZ & Self.tops) >> 2
    }

    /// The top bit of each zero byte; all bytes must be below 0x80.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { ~(word &+ ones &* 0x7F) & tops }

    private func hasRest(_ text: ByteView, at place: Int) -> Bool {
        guard place <= text.count - letters.count else { return false }
        for index in 2..<letters.count {
            if lowered(text[place + index]) != letters[index] { return false }
        }
        return true
    }
}

extension RowView {
    /// Whether the text of a heap slot, which must not be a blob, contains the letters; nil if it
    /// is not ASCII.
    package func isFound(_ search: LetterSearch, at byteOffset: Int) -> Bool? {
        search.isFound(in: heapBytes(at: byteOffset))
    }
}
