import RecordStore

/// The targets of an owner in their order, which one link more or less changes in constant time:
/// many objects are linked to one owner, one after the other.
struct LinkTargets {
    /// Nil where a target was removed.
    private var places: [ObjectNumber?]
    /// Where each target is; nil until the first change asks.
    private var positions: [ObjectNumber: Int]?

    init(_ numbers: [ObjectNumber]) { places = numbers }

    var numbers: [ObjectNumber] { places.compactMap { $0 } }

    /// Adds a target after the others, unless it is there.
    mutating func append(_ number: ObjectNumber) {
        index()
        guard positions?[number] == nil else { return }
        positions?[number] = places.count
        places.append(number)
    }

    mutating func remove(_ number: ObjectNumber) {
        index()
        guard let position = positions?.removeValue(forKey: number) else { return }
        places[position] = nil
        // Mostly gaps: as many links were removed as are moved now.
        if places.count > 32, (positions?.count ?? 0) < places.count / 2 {
            self = LinkTargets(numbers)
        }
    }

    /// Puts a target in the place of another, unless it has a place already.
    mutating func replace(_ number: ObjectNumber, by other: ObjectNumber) {
        index()
        guard positions?[other] == nil, let position = positions?.removeValue(forKey: number)
        else { return remove(number) }
        positions?[other] = position
        places[position] = other
    }

    private mutating func index() {
        guard positions == nil else { return }
        var found: [ObjectNumber: Int] = [:]
        found.reserveCapacity(places.count)
        for (position, number) in places.enumerated() {
            // Of a target that a damaged file names twice, the first place counts.
            guard let number else { continue }
            if found[number] == nil { found[number] = position } else { places[position] = nil }
        }
        positions = found
    }
}
