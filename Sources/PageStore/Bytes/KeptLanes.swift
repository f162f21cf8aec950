import Synchronization

/// What scans have read of a leaf's image, kept with it: lanes of eight bytes from each value, all
/// from one offset and side by side. The next scan reads one line of the processor's cache where
/// eight values share it, and not one or two for each value.
///
/// Only of published images, because those do not change; gone with the image. They take no more
/// than an eighth of what the page does, and the cache gives way to them, as to the image's
/// ``KeyTable``, which this counts too.
struct KeptLanes: ~Copyable {
    private static let laneCountMax = 6

    private struct Kept {
        var byteOffset = 0
        var isBitmaps = false
        var lane = Lane()
    }

    private var lanes = InlineArray<6, Kept>(repeating: Kept())
    private var laneCount = 0
    /// What counts them, once there are any.
    private var counter: KeptBytes?
    /// Bytes of the image's ``KeyTable``.
    private var tableSize = 0

    deinit {
        guard let counter else { return }
        counter.add(-tableSize)
        for index in 0..<laneCount { counter.add(-lanes[index].lane.words.capacity * 8) }
    }

    /// How many lanes of a leaf may be kept. One alone would serve nobody, because every property
    /// is read with what says whether it is nil.
    static func countMax(entryCount: Int, pageSizeInBytes: Int) -> Int {
        let count = pageSizeInBytes / 8 / (max(entryCount, 1) * 8)
        return count < 2 ? 0 : min(count, laneCountMax)
    }

    /// A property's slots and the bitmaps that say where it is nil, which `read` gives where they
    /// are not there yet; nil when there is no room for both.
    mutating func lanes(
        at slots: Int, bitmapsAt bitmaps: Int, laneCountMax: Int, countedBy kept: KeptBytes,
        _ read: (Int) -> [UInt64]
    ) -> LanePair? {
        let (keptSlots, keptBitmaps) = (lane(at: slots, false), lane(at: bitmaps, true))
        let missing = (keptSlots == nil ? 1 : 0) + (keptBitmaps == nil ? 1 : 0)
        guard laneCount + missing <= laneCountMax else { return nil }
        return LanePair(
            slots: keptSlots ?? add(Lane(words: read(slots)), slots, false, kept),
            bitmaps: keptBitmaps ?? add(Lane(bitmaps: read(bitmaps)), bitmaps, true, kept))
    }

    /// Counts the image's ``KeyTable``, which goes with the image as well.
    mutating func countTable(_ bytes: Int, by kept: KeptBytes) {
        tableSize = bytes
        counter = kept
        kept.add(bytes)
    }

    private mutating func add(
        _ lane: Lane, _ byteOffset: Int, _ isBitmaps: Bool, _ kept: KeptBytes
    ) -> Lane {
        lanes[laneCount] = Kept(byteOffset: byteOffset, isBitmaps: isBitmaps, lane: lane)
        laneCount += 1
        kept.add(lane.words.capacity * 8)
        counter = kept
        return lane
    }

    private func lane(at byteOffset: Int, _ isBitmaps: Bool) -> Lane? {
        for index in 0..<laneCount
        where lanes[index].byteOffset == byteOffset && lanes[index].isBitmaps == isBitmaps {
            return lanes[index].lane
        }
        return nil
    }
}

/// How many bytes all lanes of one store's pages take.
final class KeptBytes: Sendable {
    private let sum = Atomic<Int>(0)

    var count: Int { sum.load(ordering: .relaxed) }

    func add(_ bytes: Int) { sum.wrappingAdd(bytes, ordering: .relaxed) }
}

/// Eight bytes of each value of a leaf, side by side.
@usableFromInline
package struct Lane: Sendable {
    /// Empty for bitmaps of which none has a bit set.
    package private(set) var words: [UInt64] = []
    /// Of bitmaps the bits that one of them has set.
    package private(set) var union: UInt64 = 0

    package init() {}

    init(words: [UInt64]) { self.words = words }

    init(bitmaps: [UInt64]) {
        for word in bitmaps { union |= word }
        words = union == 0 ? [] : bitmaps
    }
}

/// The slots of a property in a leaf, and the bitmaps that say where it is nil.
package struct LanePair: Sendable {
    package var slots: Lane
    package var bitmaps: Lane
}
