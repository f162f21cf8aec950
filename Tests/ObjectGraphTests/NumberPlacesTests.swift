import RecordStore
import TestSupport
import Testing

@testable import ObjectGraph

@Suite struct NumberPlacesTests {
    /// Dense numbers, numbers that lie anywhere, and the greatest that a file may name.
    @Test(arguments: [40, 5000, UInt64.max])
    func `places are what a dictionary says they are`(limit: UInt64) {
        var random = SeededRandom(for: "NumberPlacesTests \(limit)")
        var places = NumberPlaces()
        var model: [UInt64: UInt16] = [:]
        #expect(places[ObjectNumber(7)] == 0)
        for _ in 0..<4000 {
            let number = limit == .max ? random.next() : random.next() % limit
            let place: UInt16 = [0, 1, 2, .max][random.below(4)]
            places[ObjectNumber(number)] = place
            model[number] = place == 0 ? nil : place
        }
        #expect(places.count == model.count, "seed \(random.seed)")
        for (number, place) in model {
            #expect(places[ObjectNumber(number)] == place, "seed \(random.seed)")
        }
        var found: [UInt64: UInt16] = [:]
        places.forEachNumber { number, place in found[number.rawValue] = place }
        #expect(found == model, "seed \(random.seed)")
    }

    @Test func `what was let go is known however many ways there are of having changed`() {
        let changes = ReleasedChanges()
        func entry(_ number: UInt64) -> ReleasedChanges.Entry {
            ReleasedChanges.Entry(tag: UInt16(1 + number % 3), assigned: number)
        }
        let count: UInt64 = 70_000
        for number in 1...count { changes.noteUpdated(ObjectNumber(number), entry(number)) }
        // One goes from the many to the few, and one is forgotten.
        changes.noteUpdated(ObjectNumber(count), entry(1))
        changes.forget(ObjectNumber(count - 1))
        #expect(changes.updated(ObjectNumber(count)) == entry(1))
        #expect(changes.updated(ObjectNumber(count - 1)) == nil)
        for number in 1...(count - 2) where number % 7 == 0 || number > 65_000 {
            #expect(changes.updated(ObjectNumber(number)) == entry(number))
        }
        var tags: [ObjectNumber: UInt16] = [:]
        changes.forEachUpdated { tags[$0] = $1 }
        #expect(tags.count == Int(count) - 1)
        #expect(tags[ObjectNumber(count - 2)] == entry(count - 2).tag)
    }
}
