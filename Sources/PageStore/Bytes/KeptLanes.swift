/// What scans have read of a leaf's image, kept with it: lanes of eight bytes from each value, all
/// from one offset and side by side. The next scan reads one line of the processor's cache where
/// eight values share it, and not one or two for each value.
///
/// Only of published images, because those do not change; gone with the image. They take no more
/// than an eighth of what the page does.
struct KeptLanes {
    private static let laneCountMax = 6

    /// The lanes, one behind the other.
    private var words: [UInt64] = []
    private var offsets = InlineArray<6, Int>(repeating: -1)
    private var laneCount = 0

    /// How many lanes of a leaf may be kept. One alone would serve nobody, because every property
    /// is read with what says whether it is nil.
    static func countMax(entryCount: Int, pageSizeInBytes: Int) -> Int {
        let count = pageSizeInBytes / 8 / (max(entryCount, 1) * 8)
        return count < 2 ? 0 : min(count, laneCountMax)
    }

    /// The lane of an offset, where there is one or room for one, which `read` appends.
    private mutating func place(
        of offset: Int, entryCount: Int, laneCountMax: Int, _ read: (inout [UInt64]) -> Void
    ) -> Int? {
        for lane in 0..<laneCount where offsets[lane] == offset { return lane * entryCount }
        guard laneCount < laneCountMax else { return nil }
        if laneCount == 0 { words.reserveCapacity(2 * entryCount) }
        read(&words)
        offsets[laneCount] = offset
        laneCount += 1
        return (laneCount - 1) * entryCount
    }

    /// The lanes of two offsets; nil when there is no room for both.
    mutating func lanes(
        at first: Int, _ second: Int, entryCount: Int, laneCountMax: Int,
        _ read: (Int, inout [UInt64]) -> Void
    ) -> LanePair? {
        guard
            let firstStart = place(
                of: first, entryCount: entryCount, laneCountMax: laneCountMax,
                { read(first, &$0) }),
            let secondStart = place(
                of: second, entryCount: entryCount, laneCountMax: laneCountMax,
                { read(second, &$0) })
        else { return nil }
        return LanePair(words: words, first: firstStart, second: secondStart)
    }
}

/// Two lanes of a leaf, and where each begins.
package struct LanePair: Sendable {
    package var words: [UInt64] = []
    package var first = 0
    package var second = 0

    package init() {}

    init(words: [UInt64], first: Int, second: Int) {
        self.words = words
        self.first = first
        self.second = second
    }
}
