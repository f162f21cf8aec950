/// Which touched entries of an ordered list keep their position, if all untouched ones do.
///
/// Untouched entries are in the same order before and after, so that they divide both lists into
/// the same gaps. An entry touched in both keeps its position if it stays in its gap and is in the
/// longest ascending run of such entries. The others move, as few as possible.
struct AnchoredMoves {
    /// Old and new positions of touched entries, each ascending.
    let old: [Int]
    let new: [Int]

    /// How many of the ascending positions precede a position.
    static func count(of positions: [Int], before position: Int) -> Int {
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The count of untouched entries before a position of the old list.
    func anchors(beforeOld position: Int) -> Int {
        position - Self.count(of: old, before: position)
    }

    /// The count of untouched entries before a position of the new list.
    func anchors(beforeNew position: Int) -> Int {
        position - Self.count(of: new, before: position)
    }

    /// The old position of an untouched entry.
    func oldPosition(ofAnchor anchor: Int) -> Int { Self.position(of: anchor, among: old) }

    /// The new position of an untouched entry.
    func newPosition(ofAnchor anchor: Int) -> Int { Self.position(of: anchor, among: new) }

    private static func position(of anchor: Int, among touched: [Int]) -> Int {
        var (low, high) = (0, touched.count)
        while low < high {
            let middle = (low + high) / 2
            if touched[middle] - middle <= anchor { low = middle + 1 } else { high = middle }
        }
        return anchor + low
    }

    /// For each pair of positions of one entry, ascending by the old one, whether it keeps its
    /// position.
    func keptPlaces(of pairs: [(old: Int, new: Int)]) -> [Bool] {
        var isKept = [Bool](repeating: false, count: pairs.count)
        var gap = -1
        var inGap: [Int] = []
        func close() {
            let run = AscendingRun.longest(in: inGap.map { pairs[$0].new })
            for position in run { isKept[inGap[position]] = true }
            inGap.removeAll(keepingCapacity: true)
        }
        for (index, pair) in pairs.enumerated() {
            let own = anchors(beforeOld: pair.old)
            guard own == anchors(beforeNew: pair.new) else { continue }
            if own != gap { close() }
            gap = own
            inGap.append(index)
        }
        close()
        return isKept
    }
}

package enum AscendingRun {
    /// The indices of a longest strictly ascending subsequence, ascending.
    package static func longest(in values: [Int]) -> [Int] {
        if zip(values, values.dropFirst()).allSatisfy({ $0 < $1 }) { return Array(values.indices) }
        // For each length, the index of the smallest value that ends a subsequence of that length.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (position, value) in values.enumerated() {
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = tails[low - 1] }
            if low < tails.count { tails[low] = position } else { tails.append(position) }
        }
        var run: [Int] = []
        var position = tails.last ?? -1
        while position >= 0 {
            run.append(position)
            position = previous[position]
        }
        return run.reversed()
    }
}
