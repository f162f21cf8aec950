import Primitives
import RecordStore

/// The evicted changes of one store, by hierarchy.
final class EvictedTable {
    let store: AttachedStore
    private let byRoot: UncheckedArray<EvictedChanges?>

    init(_ store: AttachedStore) {
        self.store = store
        byRoot = UncheckedArray(repeating: nil, count: store.database.schema.tagMax)
    }

    func changes(in hierarchy: HierarchyID) -> EvictedChanges {
        let index = Int(hierarchy.rootTag) - 1
        if let known = byRoot[index] { return known }
        let changes = EvictedChanges()
        byRoot[index] = changes
        return changes
    }

    var all: [EvictedChanges] { byRoot.compacted() }
    var isEmpty: Bool { byRoot.compacted().allSatisfy(\.isEmpty) }
}

/// The changes of one hierarchy whose objects a transaction has evicted, because it changed more
/// than memory should hold: the record transaction has the values, and this the rest that an object
/// knows of itself.
///
/// A transaction assigns numbers in ascending order, so that four bytes in a row of them are enough
/// for an object that was created.
final class EvictedChanges {
    /// The state of an object that is not in its record.
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
    /// The place of each updated object's entry and 1, in sixteen bits: those of four objects whose
    /// numbers follow each other in one word, because most numbers are dense.
    private var updatedPlaces = IntegerMap<UInt64>()
    private(set) var updatedCount = 0
    /// The places that do not fit in sixteen bits.
    private var updatedFarPlaces: [ObjectNumber: UInt32] = [:]

    /// The tags of stored objects that were deleted by their records alone, by number.
    private var deletedTags = IntegerMap<UInt16>()

    var isEmpty: Bool { createdCount == 0 && updatedCount == 0 && deletedTags.isEmpty }

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
        setUpdatedPlace(of: number, UInt16(min(place, Self.farPlace)))
        if place >= Self.farPlace {
            updatedFarPlaces[number] = place
        } else if !updatedFarPlaces.isEmpty {
            updatedFarPlaces[number] = nil
        }
    }

    /// Of an object that was deleted, or is as it was stored again.
    func forget(_ number: ObjectNumber) {
        setUpdatedPlace(of: number, 0)
        updatedFarPlaces[number] = nil
        guard let index = createdIndex(number) else { return }
        createdPlaces[index] = 0
        createdCount -= 1
    }

    // MARK: Records that are changed without an object

    /// Notes a record that was deleted. One that the transaction created is only forgotten.
    func noteDeletedRecord(_ number: ObjectNumber, tag: UInt16) {
        let isNew = created(number) != nil
        forget(number)
        if !isNew { deletedTags[number.rawValue] = tag }
    }

    /// Notes a record that was changed, with the bits of what the program assigned.
    func noteUpdatedRecord(_ number: ObjectNumber, tag: UInt16, assigned: UInt64 = 0) {
        if let known = created(number) {
            noteCreated(number, Entry(tag: tag, assigned: known.assigned | assigned))
        } else {
            let known = updated(number)?.assigned ?? 0
            noteUpdated(number, Entry(tag: tag, assigned: known | assigned))
        }
    }

    func isDeletedRecord(_ number: ObjectNumber) -> Bool { deletedTags[number.rawValue] != nil }

    func forEachDeletedRecord(_ body: (ObjectNumber, UInt16) -> Void) {
        for slot in deletedTags.slots {
            if let tag = slot.value { body(ObjectNumber(slot.number), tag) }
        }
    }

    // MARK: Entries

    func created(_ number: ObjectNumber) -> Entry? {
        createdIndex(number).map { entries[Int(createdPlaces[$0]) - 1] }
    }

    func updated(_ number: ObjectNumber) -> Entry? {
        let place = updatedPlace(of: number)
        return place == 0 ? nil : entries[Int(farPlace(number, place)) - 1]
    }

    /// The word of a number, by a number that is never zero, and where in it the number's bits are.
    private static func word(of number: ObjectNumber) -> (number: UInt64, shift: UInt64) {
        (number.rawValue >> 2 + 1, (number.rawValue & 3) * 16)
    }

    private func updatedPlace(of number: ObjectNumber) -> UInt16 {
        let word = Self.word(of: number)
        return UInt16(truncatingIfNeeded: (updatedPlaces[word.number] ?? 0) >> word.shift)
    }

    private func setUpdatedPlace(of number: ObjectNumber, _ place: UInt16) {
        let word = Self.word(of: number)
        let places = updatedPlaces[word.number] ?? 0
        let old = UInt16(truncatingIfNeeded: places >> word.shift)
        guard old != place else { return }
        let changed = places ^ UInt64(old ^ place) << word.shift
        updatedPlaces[word.number] = changed == 0 ? nil : changed
        updatedCount += (place == 0 ? 0 : 1) - (old == 0 ? 0 : 1)
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

    // MARK: Objects that go and come back

    /// Notes what an object knows that its record does not, so that it may be released. False when
    /// it must be asked again before the commit: a value that breaks a rule may be mended until
    /// then, by a program that holds the object.
    static func evict(_ object: CoreStoreObject) -> Bool {
        guard object.change != .deleted, let raw = object.raw else { return true }
        if object.change.isPending || object.isRowLoaded && hasInvalidValues(object, raw) {
            return false
        }
        object.isListed = false
        let entry = Entry(tag: raw.entity.tag, assigned: object.assigned)
        switch object.change.kind {
        case .inserted: raw.kind.evicted?.noteCreated(raw.number, entry)
        case .updated: raw.kind.evicted?.noteUpdated(raw.number, entry)
        case .stored, .deleted: break
        }
        return true
    }

    private static func hasInvalidValues(_ object: CoreStoreObject, _ raw: RawObject) -> Bool {
        let row = object.row.buffer.view
        if raw.entity.requiredOffsets.contains(where: { row.isNull(at: $0) }) { return true }
        return raw.kind.model.rules.isBroken(by: object.row)
    }

    /// Gives an object that was read again what it knew before it was evicted.
    func restore(_ object: CoreStoreObject, _ number: ObjectNumber) {
        if let entry = created(number) {
            object.apply(.restoreInserted)
            object.assigned = entry.assigned
        } else if let entry = updated(number) {
            object.apply(.restoreUpdated)
            object.assigned = entry.assigned
        }
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
        for slot in updatedPlaces.slots {
            guard let places = slot.value else { continue }
            for offset in UInt64(0)..<4 {
                let place = UInt16(truncatingIfNeeded: places >> (offset * 16))
                guard place != 0 else { continue }
                let number = ObjectNumber((slot.number - 1) << 2 + offset)
                try body(number, entries[Int(farPlace(number, place)) - 1].tag)
            }
        }
    }
}
