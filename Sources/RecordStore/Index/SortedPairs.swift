import PageStore

/// Keys that consist of two numbers, without values, which are collected in any order and written
/// into one tree in ascending order, in memory that does not grow with their number. As
/// ``SortedRuns`` does for other keys; a pair is smaller than a key and its entry, and is sorted
/// without a comparison.
struct SortedPairs {
    private struct Pair {
        var first: UInt64
        var second: UInt64
    }

    private let editor: PageEditor
    private let isFinal: Bool
    /// How many pairs a run has at most, with the memory for sorting them.
    private let runCountMax: Int
    private var pairs: [Pair] = []
    /// Whether the pairs came in the order of their second numbers.
    private var isSecondAscending = true
    private var runs: RunTrees

    /// - Parameters:
    ///   - shareCount: how many sets of pairs are collected at the same time, which share the
    ///     memory.
    ///   - isFinal: whether the transaction will hardly change what is built: see ``TreeBuilder``.
    ///     What is merged of several runs is final.
    init(_ editor: PageEditor, shareCount: Int = 1, isFinal: Bool) {
        self.editor = editor
        self.isFinal = isFinal
        let pairSize = 2 * MemoryLayout<Pair>.stride
        runCountMax = max(1, RunTrees.runSizeInBytesMax(of: editor) / shareCount / pairSize)
        runs = RunTrees(editor)
    }

    /// No pair comes twice. Otherwise this or ``write(to:)`` throws `corrupt` if one run has both.
    mutating func insert(_ first: ObjectNumber, _ second: ObjectNumber) throws(StoreError) {
        let pair = Pair(first: first.rawValue, second: second.rawValue)
        if let last = pairs.last, last.second > pair.second { isSecondAscending = false }
        pairs.append(pair)
        guard pairs.count >= runCountMax else { return }
        try write(into: runs.addTree(), isFinal: true)
    }

    /// Writes all pairs into a tree, and forgets them. An empty tree is built in bulk: each page is
    /// written once.
    mutating func write(to tree: TreeID) throws(StoreError) {
        guard !runs.isEmpty else { return try write(into: tree, isFinal: isFinal) }
        if !pairs.isEmpty { try write(into: runs.addTree(), isFinal: true) }
        try runs.merge(into: tree)
    }

    private mutating func write(into tree: TreeID, isFinal: Bool) throws(StoreError) {
        sort()
        var sorted = try AscendingPairs(editor, tree: tree, isFinal: isFinal)
        for pair in pairs {
            try sorted.insert(ObjectNumber(pair.first), ObjectNumber(pair.second))
        }
        try sorted.finish()
        pairs.removeAll(keepingCapacity: !runs.isEmpty)
        isSecondAscending = true
    }

    // MARK: Sorting

    /// Sorts byte by byte, the least significant first: each pass keeps the order of the one
    /// before. Most bytes are the same in all numbers and need none.
    private mutating func sort() {
        guard let any = pairs.first else { return }
        var (firstBits, secondBits): (UInt64, UInt64) = (0, 0)
        for pair in pairs {
            firstBits |= pair.first ^ any.first
            secondBits |= pair.second ^ any.second
        }
        var other = pairs
        if !isSecondAscending { sort(secondBits, &other) { $0.second } }
        sort(firstBits, &other) { $0.first }
    }

    /// - Parameters:
    ///   - bits: those that differ among the numbers.
    ///   - other: as many pairs, which are overwritten.
    ///   - number: the one that is sorted by.
    @inline(__always) private mutating func sort(
        _ bits: UInt64, _ other: inout [Pair], by number: (Pair) -> UInt64
    ) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) where (bits >> shift) & 0xFF != 0 {
            var places = [Int](repeating: 0, count: 257)
            for pair in pairs { places[Int((number(pair) >> shift) & 0xFF) + 1] += 1 }
            for digit in 1...255 { places[digit] += places[digit - 1] }
            for pair in pairs {
                let digit = Int((number(pair) >> shift) & 0xFF)
                other[places[digit]] = pair
                places[digit] += 1
            }
            swap(&pairs, &other)
        }
    }
}
