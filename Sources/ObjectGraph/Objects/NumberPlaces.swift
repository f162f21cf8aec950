import RecordStore

/// Small numbers above zero by the numbers of objects, four neighbours to an entry: where numbers
/// are dense, as those of a store that lost few objects, four bytes are enough for one.
///
/// Open addressing with linear probing. An entry stays when its numbers go.
struct NumberPlaces {
    private struct Group {
        /// A quarter of the objects' numbers and 1; 0 where nothing is.
        var name: UInt64 = 0
        /// Sixteen bits for each of the four, 0 for none.
        var places: UInt64 = 0
    }

    private var groups: [Group] = []
    private var groupCount = 0
    private(set) var count = 0

    /// What a number has; 0 for nothing.
    subscript(number: ObjectNumber) -> UInt16 {
        get {
            guard count > 0 else { return 0 }
            let group = groups[index(of: Self.name(number))]
            return UInt16(truncatingIfNeeded: group.places >> Self.shift(number))
        }
        set {
            if groupCount * 4 >= groups.count * 3 {
                guard newValue != 0 else { return remove(number) }
                grow()
            }
            set(number, newValue)
        }
    }

    private mutating func remove(_ number: ObjectNumber) {
        if self[number] != 0 { set(number, 0) }
    }

    private mutating func set(_ number: ObjectNumber, _ place: UInt16) {
        let name = Self.name(number)
        let index = index(of: name)
        if groups[index].name == 0 {
            guard place != 0 else { return }
            groups[index].name = name
            groupCount += 1
        }
        let shift = Self.shift(number)
        let old = UInt16(truncatingIfNeeded: groups[index].places >> shift)
        groups[index].places ^= UInt64(old ^ place) << shift
        count += (place == 0 ? 0 : 1) - (old == 0 ? 0 : 1)
    }

    private static func name(_ number: ObjectNumber) -> UInt64 { number.rawValue >> 2 + 1 }
    private static func shift(_ number: ObjectNumber) -> UInt64 { (number.rawValue & 3) * 16 }

    /// Where a group is, or the free entry where it belongs. A quarter of them is always free.
    private func index(of name: UInt64) -> Int {
        let mask = groups.count - 1
        // Numbers often come in strides; the factor spreads them.
        var index = Int(truncatingIfNeeded: (name &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while groups[index].name != name && groups[index].name != 0 { index = (index + 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = groups
        groups = Array(repeating: Group(), count: max(16, old.count * 2))
        for group in old where group.name != 0 { groups[index(of: group.name)] = group }
    }

    func forEachNumber<Failure>(
        _ body: (ObjectNumber, UInt16) throws(Failure) -> Void
    ) throws(Failure) {
        for group in groups where group.places != 0 {
            for offset in UInt64(0)..<4 {
                let place = UInt16(truncatingIfNeeded: group.places >> (offset * 16))
                guard place != 0 else { continue }
                try body(ObjectNumber((group.name - 1) << 2 + offset), place)
            }
        }
    }
}
