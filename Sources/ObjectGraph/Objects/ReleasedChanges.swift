import RecordStore

/// What a transaction changed in one hierarchy and holds no objects of any more: the record
/// transaction has the values, and this the rest that an object knows of itself.
///
/// A transaction gives out numbers one after the other, so that four bytes in a row of them are
/// enough for an object that was created.
final class ReleasedChanges {
    /// What an object knows that is not in its record.
    struct Entry: Hashable {
        /// Of the object's entity.
        var tag: UInt16
        /// The properties that the transaction assigned, as in the object.
        var assigned: UInt64
    }

    /// The entries that there are: few, for programs assign the same properties again and again.
    private var entries: [Entry] = []
    private var places: [Entry: UInt32] = [:]
    /// The place that was asked for last: most often it is asked for again.
    private var lastPlace: UInt32 = 0
    /// The number of the first object of `createdPlaces`.
    private var firstNumber: UInt64 = 0
    /// The place of each created object's entry and 1; 0 for an object that is not here.
    private var createdPlaces: [UInt32] = []
    private var createdCount = 0
    /// The place of each updated object's entry and 1.
    private var updatedPlaces = NumberPlaces()
    /// The same of entries that are too many for it.
    private var updatedFarPlaces: [ObjectNumber: UInt32] = [:]

    var isEmpty: Bool { createdCount == 0 && updatedPlaces.count == 0 }

    var updatedCount: Int { updatedPlaces.count }

    private func place(of entry: Entry) -> UInt32 {
        if Int(lastPlace) < entries.count, entries[Int(lastPlace)] == entry { return lastPlace }
        if let known = places[entry] {
            lastPlace = known
            return known
        }
        lastPlace = UInt32(entries.count)
        entries.append(entry)
        places[entry] = lastPlace
        return lastPlace
    }

    // MARK: One object

    func noteCreated(_ number: ObjectNumber, _ entry: Entry) {
        if createdPlaces.isEmpty { firstNumber = number.rawValue }
        if number.rawValue < firstNumber {
            let missing = Int(firstNumber - number.rawValue)
            createdPlaces.insert(contentsOf: repeatElement(0, count: missing), at: 0)
            firstNumber = number.rawValue
        }
        let index = Int(number.rawValue - firstNumber)
        while createdPlaces.count <= index { createdPlaces.append(0) }
        if createdPlaces[index] == 0 { createdCount += 1 }
        createdPlaces[index] = place(of: entry) + 1
    }

    func noteUpdated(_ number: ObjectNumber, _ entry: Entry) {
        let place = place(of: entry) + 1
        updatedPlaces[number] = UInt16(min(place, Self.farPlace))
        if place >= Self.farPlace {
            updatedFarPlaces[number] = place
        } else if !updatedFarPlaces.isEmpty {
            updatedFarPlaces[number] = nil
        }
    }

    /// Of an object that was deleted, or is as it was stored again.
    func forget(_ number: ObjectNumber) {
        updatedPlaces[number] = 0
        updatedFarPlaces[number] = nil
        guard let index = createdIndex(number) else { return }
        createdPlaces[index] = 0
        createdCount -= 1
    }

    func created(_ number: ObjectNumber) -> Entry? {
        createdIndex(number).map { entries[Int(createdPlaces[$0]) - 1] }
    }

    func updated(_ number: ObjectNumber) -> Entry? {
        let place = updatedPlaces[number]
        return place == 0 ? nil : entries[Int(farPlace(number, place)) - 1]
    }

    /// Stands in `updatedPlaces` for this place and all behind it.
    private static let farPlace = UInt32(UInt16.max)

    private func farPlace(_ number: ObjectNumber, _ place: UInt16) -> UInt32 {
        UInt32(place) < Self.farPlace ? UInt32(place) : updatedFarPlaces[number] ?? 1
    }

    private func createdIndex(_ number: ObjectNumber) -> Int? {
        guard number.rawValue >= firstNumber else { return nil }
        // A number that a file says may be any.
        let place = number.rawValue - firstNumber
        guard place < UInt64(createdPlaces.count) else { return nil }
        return createdPlaces[Int(place)] != 0 ? Int(place) : nil
    }

    // MARK: All objects

    /// The numbers and the tags of what was created and not deleted again.
    func forEachCreated<Failure>(
        _ body: (ObjectNumber, UInt16) throws(Failure) -> Void
    ) throws(Failure) {
        for (index, place) in createdPlaces.enumerated() where place != 0 {
            try body(ObjectNumber(firstNumber + UInt64(index)), entries[Int(place) - 1].tag)
        }
    }

    func forEachUpdated<Failure>(
        _ body: (ObjectNumber, UInt16) throws(Failure) -> Void
    ) throws(Failure) {
        try updatedPlaces.forEachNumber { number, place throws(Failure) in
            try body(number, entries[Int(farPlace(number, place)) - 1].tag)
        }
    }
}
