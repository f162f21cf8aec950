/// Which records of a leaf take part, in their order. One is used for all leaves of a scan.
struct LeafSelection {
    /// The records' places in the leaf, as long as not all take part. Longer than `count`.
    private var places: [Int32] = []
    private(set) var isAll = true
    private(set) var count = 0

    /// Begins a leaf with all of its records.
    mutating func takeAll(_ count: Int) {
        self.count = count
        isAll = true
    }

    @inline(__always)
    subscript(position: Int) -> Int { isAll ? position : Int(places[position]) }

    /// Keeps the records that pass. Which do cannot be predicted, so that no branch asks it.
    @inline(__always)
    mutating func keep<Failure: Error>(
        _ passes: (Int) throws(Failure) -> Bool
    ) throws(Failure) {
        if places.count < count {
            places.append(contentsOf: repeatElement(0, count: count - places.count))
        }
        var kept = 0
        let (count, isAll) = (count, isAll)
        var places = places.mutableSpan
        if isAll {
            for index in 0..<count {
                let isKept = try passes(index)
                places[kept] = Int32(truncatingIfNeeded: index)
                kept &+= isKept ? 1 : 0
            }
        } else {
            for position in 0..<count {
                let place = places[position]
                let isKept = try passes(Int(place))
                places[kept] = place
                kept &+= isKept ? 1 : 0
            }
        }
        self.isAll = false
        self.count = kept
    }
}
