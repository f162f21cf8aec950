import RecordStore
import TestSupport
import Testing

@testable import ObjectGraph

@Suite struct EvictedChangesTests {
    /// Dense numbers, scattered numbers, and the largest that a file may contain.
    @Test(arguments: [40, 5000, UInt64.max])
    func `evicted updates equal those in a dictionary`(limit: UInt64) {
        var random = SeededRandom(for: "EvictedChangesTests \(limit)")
        let changes = EvictedChanges()
        var model: [ObjectNumber: EvictedChanges.Entry] = [:]
        #expect(changes.updated(ObjectNumber(7)) == nil && changes.isEmpty)
        for _ in 0..<4000 {
            let number = ObjectNumber(limit == .max ? random.next() : random.next() % limit)
            if random.below(4) == 0 {
                changes.forget(number)
                model[number] = nil
            } else {
                let entry = EvictedChanges.Entry(
                    tag: UInt16(1 + random.below(3)), assigned: UInt64(random.below(3)))
                changes.noteUpdated(number, entry)
                model[number] = entry
            }
            #expect(changes.updatedCount == model.count, "seed \(random.seed)")
        }
        for (number, entry) in model {
            #expect(changes.updated(number) == entry, "seed \(random.seed)")
        }
        var found: [ObjectNumber: UInt16] = [:]
        changes.forEachUpdated { found[$0] = $1 }
        #expect(found == model.mapValues(\.tag), "seed \(random.seed)")
    }

    @Test func `an evicted change is found among tens of thousands of distinct ones`() {
        let changes = EvictedChanges()
        func entry(_ number: UInt64) -> EvictedChanges.Entry {
            EvictedChanges.Entry(tag: UInt16(1 + number % 3), assigned: number)
        }
        let count: UInt64 = 70_000
        for number in 1...count { changes.noteUpdated(ObjectNumber(number), entry(number)) }
        // One number changes to a frequent entry, and one is forgotten.
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
