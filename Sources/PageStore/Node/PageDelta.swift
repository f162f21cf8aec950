import CTrellis

/// Deltas of pages whose bytes stay where they were, or move by whole slots: what insertions,
/// removals and changes in place leave of a node.
///
/// The result is an LZ4 block like any other (decisions/005), but it is found by comparing the two
/// images where edits leave them equal, without hashing either, in a fraction of the time.
struct PageDelta {
    /// Past so many new bytes the block is left to LZ4, which also finds what new bytes share.
    private static let literalsMax = 512
    private static let editsMax = 16
    /// Rules of LZ4 blocks: the last bytes are literals, and no match begins near the end.
    private static let lastLiterals = 5
    private static let matchMargin = 12
    private static let matchSizeMin = 8
    /// A match of so many bytes is taken without a search for a longer one.
    private static let matchSizeFine = 64
    private static let distanceMax = 65_535
    private static let reachMax = 4
    private static let strideSize = 256

    private let image: ByteView
    private let base: ByteView
    /// How much farther on the bytes of the last match stood in the version before.
    private var shift = 0
    /// By how many slots bytes may move at once: entries with keys that follow each other come
    /// together.
    private let reach: Int
    /// Where a node's new cells lie: none of their bytes were there before.
    private let newCells: Range<Int>

    /// Appends an image as a block whose dictionary is the version before. Appends nothing and
    /// returns false where that takes many new bytes, or more than the given size.
    static func append(
        _ image: ByteView, against base: ByteView, to buffer: ByteBuffer, sizeMax: Int
    ) -> Bool {
        guard image.count == base.count, image.count > NodeLayout.fences + matchMargin,
            isLikely(image, base)
        else { return false }
        let start = buffer.count
        var delta = PageDelta(image: image, base: base)
        guard delta.append(to: buffer), buffer.count - start <= sizeMax else {
            buffer.truncate(to: start)
            return false
        }
        return true
    }

    private init(image: ByteView, base: ByteView) {
        self.image = image
        self.base = base
        reach = min(max(abs(Self.growth(NodeLayout.slotCount, image, base)), 1), Self.reachMax)
        let oldStart = max(base.count - Int(base.uint16(at: NodeLayout.heapSize)), 0)
        let start = image.count - Int(image.uint16(at: NodeLayout.heapSize))
        newCells = min(max(start, 0), oldStart)..<oldStart
    }

    /// Whether few entries came or went, if these are nodes: with many there is no need to look.
    private static func isLikely(_ image: ByteView, _ base: ByteView) -> Bool {
        growth(NodeLayout.heapSize, image, base) <= literalsMax
            && abs(growth(NodeLayout.slotCount, image, base)) <= editsMax
    }

    private static func growth(_ field: Int, _ image: ByteView, _ base: ByteView) -> Int {
        Int(image.uint16(at: field)) - Int(base.uint16(at: field))
    }

    /// Returns false, and stops, where there are too many new bytes.
    private mutating func append(to buffer: ByteBuffer) -> Bool {
        var position = 0
        // Where the bytes begin that no match has covered yet.
        var anchor = 0
        var literalCount = 0
        while position <= image.count - Self.matchMargin {
            guard var match = match(at: position), match.distance <= Self.distanceMax else {
                position = newCells.contains(position) ? newCells.upperBound : position + 1
                if literalCount + position - anchor > Self.literalsMax { return false }
                continue
            }
            while position > anchor, let previous = byte(before: position, match.distance),
                previous == image[position - 1]
            {
                position -= 1
                match.count += 1
            }
            literalCount += position - anchor
            let literals = image.slice(from: anchor, count: position - anchor)
            Self.append(literals, match, to: buffer)
            position += match.count
            anchor = position
        }
        Self.append(image.dropFirst(anchor), nil, to: buffer)
        return true
    }

    // MARK: Matches

    /// Bytes that stand so far before as well. The decoder sees the version before and the image
    /// as one run of bytes.
    private struct Match {
        var count: Int
        let distance: Int
    }

    /// The byte that a distance leads to from the one before a position.
    private func byte(before position: Int, _ distance: Int) -> UInt8? {
        let source = base.count + position - 1 - distance
        guard source >= 0 else { return nil }
        return source < base.count ? base[source] : image[source - base.count]
    }

    /// The longest of the matches that edits of a node leave, nil where there is none.
    private mutating func match(at position: Int) -> Match? {
        let slot = NodeLayout.slotSize
        let word = image.uint64(at: position)
        let last = shift
        var best = 0
        // As before, behind some slots more, behind some less, and where nothing moves.
        for step in 0...(2 * reach + 1) {
            let slots = (step + 1) / 2 * (step % 2 == 0 ? 1 : -1)
            let candidate = step > 2 * reach ? 0 : last + slots * slot
            let source = position + candidate
            guard source >= 0, source <= base.count - Self.matchSizeMin,
                base.uint64(at: source) == word
            else { continue }
            let count = Self.equalCount(image, position, base, source)
            guard count > best else { continue }
            (best, shift) = (count, candidate)
            if best >= Self.matchSizeFine { break }
        }
        if best > 0 { return Match(count: best, distance: base.count - shift) }
        // Of what was removed nothing but zeros is left.
        guard position >= slot, image.uint64(at: position - slot) == word else { return nil }
        let count = Self.equalCount(image, position, image, position - slot)
        return Match(count: count, distance: slot)
    }

    /// How many bytes from a position of the image on are those of a source, as far as a match may
    /// go.
    private static func equalCount(
        _ image: ByteView, _ position: Int, _ other: ByteView, _ source: Int
    ) -> Int {
        let limit = min(image.count - lastLiterals - position, other.count - source)
        precondition(position >= 0 && source >= 0, "a match lies in its pages")
        var count = 0
        // Nearly all of a page is as it was: the library compares it by whole lines.
        while count &+ strideSize <= limit {
            // Safety: both views hold a stride from here on: the limit is within each.
            let order = unsafe memcmp(
                image.base + position + count, other.base + source + count, strideSize)
            guard order == 0 else { break }
            count &+= strideSize
        }
        while count &+ 8 <= limit {
            // Safety: both views hold eight bytes from here on: the limit is within each.
            let left = unsafe (image.base + position).loadUnaligned(
                fromByteOffset: count, as: UInt64.self)
            let right = unsafe (other.base + source).loadUnaligned(
                fromByteOffset: count, as: UInt64.self)
            let difference = UInt64(littleEndian: left ^ right)
            if difference != 0 { return count &+ difference.trailingZeroBitCount / 8 }
            count &+= 8
        }
        while count < limit && image[position + count] == other[source + count] { count &+= 1 }
        return count
    }

    // MARK: Sequences

    /// One sequence of the block: literals, then a match, which the last one has not.
    private static func append(_ literals: ByteView, _ match: Match?, to buffer: ByteBuffer) {
        let matchField = (match?.count ?? 4) - 4
        buffer.appendUInt8(UInt8(min(literals.count, 15) << 4 | min(matchField, 15)))
        appendRest(of: literals.count, to: buffer)
        buffer.append(literals)
        guard let match else { return }
        buffer.appendUInt16(UInt16(match.distance))
        appendRest(of: matchField, to: buffer)
    }

    /// Appends the part of a length that exceeds the four bits of its token.
    private static func appendRest(of length: Int, to buffer: ByteBuffer) {
        guard length >= 15 else { return }
        buffer.append(.max, count: (length - 15) / 255)
        buffer.appendUInt8(UInt8((length - 15) % 255))
    }
}
