import Synchronization

/// What scans have read of a leaf's image, kept with it: lanes of eight bytes from each value, all
/// from one offset and side by side. The next scan reads one line of the processor's cache where
/// eight values share it, and not one or two for each value.
///
/// Only of published images, because those do not change; gone with the image. They take no more
/// than an eighth of what the page does, and the cache gives way to them.
struct KeptLanes: ~Copyable {
    private static let laneCountMax = 6

    /// The lanes, one behind the other.
    private var words: [UInt64] = []
    private var offsets = InlineArray<6, Int>(repeating: -1)
    private var laneCount = 0
    /// What counts them, once there are any.
    private var counter: KeptBytes?

    deinit { counter?.add(-words.capacity * 8) }

    /// How many lanes of a leaf may be kept. One alone would serve nobody, because every property
    /// is read with what says whether it is nil.
    static func countMax(entryCount: Int, pageSizeInBytes: Int) -> Int {
        let count = pageSizeInBytes / 8 / (max(entryCount, 1) * 8)
        return count < 2 ? 0 : min(count, laneCountMax)
    }

    /// The lanes of two offsets, which `read` appends where they are not there yet; nil when there
    /// is no room for both.
    mutating func lanes(
        at first: Int, _ second: Int, entryCount: Int, laneCountMax: Int, countedBy kept: KeptBytes,
        _ read: (Int, inout [UInt64]) -> Void
    ) -> LanePair? {
        let missesFirst = lane(of: first) == nil
        let missesSecond = second != first && lane(of: second) == nil
        let wanted = laneCount + (missesFirst ? 1 : 0) + (missesSecond ? 1 : 0)
        guard wanted <= laneCountMax else { return nil }
        if wanted > laneCount {
            let before = words.capacity
            // As much as is needed: growing by itself, it would take up to twice that.
            words.reserveCapacity(wanted * entryCount)
            kept.add((words.capacity - before) * 8)
            counter = kept
        }
        if missesFirst { add(first, read) }
        if missesSecond { add(second, read) }
        guard let firstLane = lane(of: first), let secondLane = lane(of: second) else { return nil }
        return LanePair(
            words: words, first: firstLane * entryCount, second: secondLane * entryCount)
    }

    private mutating func add(_ offset: Int, _ read: (Int, inout [UInt64]) -> Void) {
        read(offset, &words)
        offsets[laneCount] = offset
        laneCount += 1
    }

    private func lane(of offset: Int) -> Int? {
        for lane in 0..<laneCount where offsets[lane] == offset { return lane }
        return nil
    }
}

/// How many bytes all lanes of one store's pages take.
final class KeptBytes: Sendable {
    private let sum = Atomic<Int>(0)

    var count: Int { sum.load(ordering: .relaxed) }

    func add(_ bytes: Int) { sum.wrappingAdd(bytes, ordering: .relaxed) }
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
