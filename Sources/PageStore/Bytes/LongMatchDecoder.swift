/// Decompresses LZ4 blocks that are much shorter than what they hold: those of a few long matches.
///
/// The library copies a match a few bytes at a time where it repeats that few, so that a small file
/// can claim more than a minute's work: see decisions/044. Here each copy takes all that the match
/// has repeated so far, so that lengths double.
struct LongMatchDecoder {
    private let source: ByteView
    /// What the block was compressed against.
    private let dictionary: ByteView?
    private let destination: PageBuffer
    private var readCount = 0
    private var writtenCount = 0

    /// The rules of LZ4's block format for the end of a block: how many bytes follow the last
    /// match, and its beginning. The library does not look for all of what they forbid.
    private static let lastLiteralCountMin = 5
    private static let lastMatchBytesMin = 12
    /// A distance, a token and the last literals.
    private static let bytesAfterLiteralsMin = 8

    private init(_ source: ByteView, against dictionary: ByteView?, into destination: PageBuffer) {
        self.source = source
        self.dictionary = dictionary
        self.destination = destination
    }

    /// Whether a block is one for this decoder: it takes at most a sixteenth of what it should
    /// hold.
    static func suits(_ source: ByteView, _ destination: PageBuffer) -> Bool {
        source.count <= destination.count / 16
    }

    /// False when the source is not an LZ4 block, by all rules of the format, of exactly as many
    /// bytes as the destination has.
    static func decompress(
        _ source: ByteView, against dictionary: ByteView? = nil, into destination: PageBuffer
    ) -> Bool {
        var decoder = LongMatchDecoder(source, against: dictionary, into: destination)
        return decoder.run()
    }

    private mutating func run() -> Bool {
        while readCount < source.count {
            let token = Int(source[readCount])
            readCount += 1
            guard copyLiterals(token >> 4) else { return false }
            if readCount == source.count { return writtenCount == destination.count }
            guard copyMatch(token & 15) else { return false }
        }
        return false
    }

    private mutating func copyLiterals(_ tokenPart: Int) -> Bool {
        guard let count = length(tokenPart), count <= source.count - readCount,
            count <= destination.count - writtenCount
        else { return false }
        destination.copy(source.slice(from: readCount, count: count), to: writtenCount)
        readCount += count
        writtenCount += count
        return true
    }

    private mutating func copyMatch(_ tokenPart: Int) -> Bool {
        guard writtenCount <= destination.count - Self.lastMatchBytesMin,
            readCount <= source.count - Self.bytesAfterLiteralsMin
        else { return false }
        let distance = Int(source.uint16(at: readCount))
        readCount += 2
        guard let more = length(tokenPart) else { return false }
        var left = more + 4
        let before = distance - writtenCount
        guard distance > 0, before <= dictionary?.count ?? 0,
            left <= destination.count - Self.lastLiteralCountMin - writtenCount
        else { return false }
        if before > 0, let dictionary {
            let count = min(before, left)
            destination.copy(
                dictionary.slice(from: dictionary.count - before, count: count), to: writtenCount)
            writtenCount += count
            left -= count
        }
        let start = max(writtenCount - distance, 0)
        while left > 0 {
            // All from the start on repeats with the distance, also what was just copied.
            let count = min(writtenCount - start, left)
            destination.copy(
                destination.view.slice(from: start, count: count), to: writtenCount)
            writtenCount += count
            left -= count
        }
        return true
    }

    /// A length that begins with four bits of a token; nil where the block ends in it.
    private mutating func length(_ tokenPart: Int) -> Int? {
        guard tokenPart == 15 else { return tokenPart }
        var length = tokenPart
        while readCount < source.count {
            let byte = Int(source[readCount])
            readCount += 1
            length += byte
            if byte < 255 { return length }
        }
        return nil
    }
}
