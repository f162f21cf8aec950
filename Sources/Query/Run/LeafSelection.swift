/// The selected records of a leaf, in order. A scan reuses it for all leaves.
struct LeafSelection {
    /// The indices of the records in the leaf, unless all are selected. Longer than `count`.
    private var places: [Int32] = []
    private(set) var isAll = true
    private(set) var count = 0

    /// Selects all records of a leaf.
    mutating func takeAll(_ count: Int) {
        self.count = count
        isAll = true
    }

    @inline(__always)
    subscript(position: Int) -> Int { isAll ? position : Int(places[position]) }

    /// Keeps the records that pass. Free of branches, because the outcome is unpredictable.
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
