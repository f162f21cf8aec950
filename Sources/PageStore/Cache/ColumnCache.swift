import Synchronization

/// Columns of a leaf's image that scans have read: eight bytes of each value, all from one offset
/// and adjacent, so that eight values share a cache line in the next scan. The room above says what
/// a column means and which two are read together (``ColumnPair``).
///
/// Only published images have them, because those do not change; they are freed with the image.
/// They take at most an eighth of the page's size, and the page cache evicts pages for them.
struct ColumnCache: ~Copyable {
    private static let columnCountMax = 6

    private struct Kept {
        var byteOffset = 0
        var isSparse = false
        var vector = ColumnVector()
    }

    private var columns = InlineArray<6, Kept>(repeating: Kept())
    private var columnCount = 0
    /// The budget that counts the columns, once there are any.
    private var counter: ColumnCacheBudget?

    deinit {
        guard let counter else { return }
        for index in 0..<columnCount { counter.add(-columns[index].vector.words.capacity * 8) }
    }

    /// How many columns of a leaf may be kept. One alone would serve no scan, because two are read
    /// together.
    static func countMax(entryCount: Int, pageSizeInBytes: Int) -> Int {
        let count = pageSizeInBytes / 8 / (max(entryCount, 1) * 8)
        return count < 2 ? 0 : min(count, columnCountMax)
    }

    /// Both columns of a pair, which `read` gives where they are not there yet; nil when there is
    /// no room for both.
    mutating func vectors(
        of pair: ColumnPair, columnCountMax: Int, countedBy kept: ColumnCacheBudget,
        _ read: (Int) -> [UInt64]
    ) -> ColumnVectors? {
        let (dense, sparse) = (vector(at: pair.dense, false), vector(at: pair.sparse, true))
        let missing = (dense == nil ? 1 : 0) + (sparse == nil ? 1 : 0)
        guard columnCount + missing <= columnCountMax else { return nil }
        return ColumnVectors(
            dense: dense ?? add(ColumnVector(words: read(pair.dense)), pair.dense, false, kept),
            sparse: sparse
                ?? add(ColumnVector(sparse: read(pair.sparse)), pair.sparse, true, kept))
    }

    private mutating func add(
        _ vector: ColumnVector, _ byteOffset: Int, _ isSparse: Bool, _ kept: ColumnCacheBudget
    ) -> ColumnVector {
        columns[columnCount] = Kept(byteOffset: byteOffset, isSparse: isSparse, vector: vector)
        columnCount += 1
        kept.add(vector.words.capacity * 8)
        counter = kept
        return vector
    }

    private func vector(at byteOffset: Int, _ isSparse: Bool) -> ColumnVector? {
        for index in 0..<columnCount
        where columns[index].byteOffset == byteOffset && columns[index].isSparse == isSparse {
            return columns[index].vector
        }
        return nil
    }
}

/// Two columns that are read together: where in each value their eight bytes are.
package struct ColumnPair: Sendable {
    package let dense: Int
    /// Of a column that is mostly zero, no words are kept where all are.
    package let sparse: Int

    package init(dense: Int, sparse: Int) {
        precondition(dense >= 0 && sparse >= 0, "an offset is before its value")
        self.dense = dense
        self.sparse = sparse
    }
}

/// How many bytes all columns of one store's pages take.
final class ColumnCacheBudget: Sendable {
    private let sum = Atomic<Int>(0)

    var count: Int { sum.load(ordering: .relaxed) }

    func add(_ bytes: Int) { sum.wrappingAdd(bytes, ordering: .relaxed) }
}

/// Eight bytes of each value of a leaf, side by side.
@usableFromInline
package struct ColumnVector: Sendable {
    /// Empty for a sparse column of zeros alone.
    package private(set) var words: [UInt64] = []
    /// Of a sparse column the bits that any of its words has set.
    package private(set) var union: UInt64 = 0

    package init() {}

    init(words: [UInt64]) { self.words = words }

    init(sparse words: [UInt64]) {
        for word in words { union |= word }
        self.words = union == 0 ? [] : words
    }
}

/// The values of a ``ColumnPair`` in one leaf.
package struct ColumnVectors: Sendable {
    package var dense: ColumnVector
    package var sparse: ColumnVector
}
