import Foundation
import RecordStore
import TestSupport
import Testing

@testable import ObjectGraph

/// Changes found by comparing leaves, checked against a comparison of everything.
@Suite(.timeLimit(.minutes(hangMinutes))) struct LeafDifferenceTests {
    /// Random changes of all kinds of objects in the zoo.
    private struct Keeper {
        var random: SeededRandom

        private func some<T>(_ all: [T], _ random: inout SeededRandom) -> T? {
            all.isEmpty ? nil : all[random.below(all.count)]
        }

        mutating func act(_ transaction: SynchronousDataTransaction, count: Int) throws {
            let order = OrderBy<Person>(.ascending(\.$email))
            for _ in 0..<count {
                let people = try transaction.fetchAll(From<Person>(), order)
                let dogs = try transaction.fetchAll(From<Dog>().orderBy(.ascending(\.$age)))
                let toys = try transaction.fetchAll(From<Toy>().orderBy(.ascending(\.$label)))
                let person = some(people, &random)
                switch random.below(12) {
                case 0, 1:
                    let new = transaction.create(Into<Person>())
                    new.email = "e\(random.next())"
                    // Some values move to overflow pages or blobs.
                    let size = [0, 40, 900, 30_000][random.below(4)]
                    new.photo = Data(repeating: UInt8(random.below(250)), count: size)
                case 2:
                    let new = transaction.create(Into<Dog>())
                    (new.age, new.master) = (random.below(50), person)
                case 3: transaction.create(Into<Toy>()).owner = person
                case 4: if random.below(3) == 0 { transaction.delete(person) }
                case 5: transaction.delete(some(dogs, &random))
                case 6: some(dogs, &random)?.master = random.below(4) == 0 ? nil : person
                case 7: person?.friends.append(contentsOf: some(people, &random).map { [$0] } ?? [])
                case 8: person?.friends.reverse()
                case 9: person?.spouse = some(people, &random)
                case 10: person?.toys = some(toys, &random).map { [$0] } ?? []
                default:
                    let size = person?.photo.map(\.count) ?? 0
                    person?.photo = Data(repeating: UInt8(random.below(250)), count: size)
                    some(dogs, &random)?.color = "c\(random.below(5))"
                }
            }
        }
    }

    /// Compares the whole content of two commits.
    private struct Comparison {
        let before: RecordSnapshot
        let after: RecordSnapshot
        let numberMax: UInt64

        func check(_ changes: ChangeSet) throws {
            #expect(!changes.isUnknown)
            for root in after.schema.entities where root.superentityTag == nil {
                let found = try #require(changes.records(in: root.hierarchy))
                for number in (1...numberMax).map({ ObjectNumber($0) }) {
                    try check(number, root.hierarchy, found)
                }
            }
            for relationship in after.schema.relationships {
                try check(relationship, changes)
            }
        }

        private func check(
            _ number: ObjectNumber, _ hierarchy: HierarchyID, _ found: ChangeSet.Records
        ) throws {
            let wasThere = try before.contains(number, in: hierarchy)
            let isThere = try after.contains(number, in: hierarchy)
            #expect(found.inserted.contains(number) == (!wasThere && isThere))
            #expect(found.deleted.contains(number) == (wasThere && !isThere))
            guard wasThere, isThere else { return #expect(!found.updated.contains(number)) }
            let tag = try #require(try after.withRow(number, in: hierarchy) { $0.entityTag })
            let entity = after.schema.knownEntity(tag: tag)
            let fields = Set(entity.fields.map(\.name))
            let names = try RecordDifference(before, after)
                .names(of: number, in: entity.hierarchy)
            let isSame = try after.hasSameRow(number, in: hierarchy, as: before)
            let differs = !isSame || !names.isDisjoint(with: fields)
            #expect(found.updated.contains(number) == differs)
        }

        private func check(_ relationship: RelationshipLayout, _ changes: ChangeSet) throws {
            let owners = try #require(changes.owners(of: relationship))
            let hierarchy = after.schema.knownEntity(tag: relationship.sourceTag).hierarchy
            let tags = after.schema.knownEntity(tag: relationship.sourceTag).tags
            for number in (1...numberMax).map({ ObjectNumber($0) }) {
                let tag = try before.withRow(number, in: hierarchy) { $0.entityTag }
                guard let tag, tags.contains(tag), try after.contains(number, in: hierarchy) else {
                    #expect(!owners.contains(number))
                    continue
                }
                let old = try before.linkedNumbers(relationship, of: number)
                let new = try after.linkedNumbers(relationship, of: number)
                #expect(owners.contains(number) == (old != new), "\(relationship.name)")
            }
        }
    }

    private func numberMax(_ stack: DataStack) throws -> UInt64 {
        let ids =
            try stack.fetchObjectIDs(From<Person>()) + stack.fetchObjectIDs(From<Animal>())
            + stack.fetchObjectIDs(From<Toy>())
        return ids.map(\.number.rawValue).max() ?? 1
    }

    @Test func `comparing changed leaves finds what comparing all records finds`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, queue) = try Zoo.stack(at: url)
        let store = try #require(stack.stores.first)
        var keeper = Keeper(random: SeededRandom(for: "LeafDifferenceTests"))
        var snapshots = [try store.database.snapshot()]
        var (comparisons, largest) = (0, UInt64(1))
        for round in 0..<24 {
            for _ in 0..<(keeper.random.below(3) + 1) {
                let count = [1, 4, 60][keeper.random.below(3)]
                try stack.perform(synchronous: { try keeper.act($0, count: count) })
            }
            if round == 12 {
                _ = try stack.perform(synchronous: { try $0.deleteAll(From<Dog>()) })
            }
            if keeper.random.below(3) == 0 { try stack.checkpoint() }
            largest = max(largest, try queue.sync { try numberMax(stack) })
            let newest = try store.database.snapshot()
            for earlier in snapshots {
                try Comparison(before: earlier, after: newest, numberMax: largest)
                    .check(try ChangeSet.between(earlier, newest))
                comparisons += 1
            }
            snapshots.append(newest)
            if snapshots.count > 3 { snapshots.remove(at: keeper.random.below(snapshots.count)) }
        }
        #expect(comparisons > 40)
    }

    /// The pages of the first value are free when the third one is written.
    @Test func `a long value that is replaced twice has changed`() throws {
        let (stack, _) = try Zoo.stack()
        let database = try #require(stack.stores.first).database
        func set(_ byte: UInt8) throws {
            try stack.perform(synchronous: { transaction in
                let person =
                    try transaction.fetchOne(From<Person>())
                    ?? transaction.create(Into<Person>())
                person.photo = Data(repeating: byte, count: 30_000)
            })
        }
        try set(1)
        var snapshots = [try database.snapshot()]
        let entity = try #require(snapshots[0].schema.entity(named: "Person"))
        var reusedCount = 0
        for byte in 2...9 as ClosedRange<UInt8> {
            try set(byte)
            let newest = try database.snapshot()
            for earlier in snapshots {
                let number = ObjectNumber(1)
                let bytes = try [earlier, newest].map { reader in
                    try reader.withRow(number, in: entity.hierarchy) { $0.bytes.array() }
                }
                if bytes[0] == bytes[1] { reusedCount += 1 }
                #expect(try !newest.hasSameRow(number, in: entity.hierarchy, as: earlier))
                let names = try RecordDifference(earlier, newest)
                    .names(of: number, in: entity.hierarchy)
                #expect(names == ["photo"])
            }
            snapshots.append(newest)
        }
        #expect(reusedCount > 0)
    }

    @Test func `equal snapshots have no changes, and changes to an older one are unknown`() throws {
        let (stack, _) = try Zoo.stack()
        let database = try #require(stack.stores.first).database
        let first = try database.snapshot()
        try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
        let second = try database.snapshot()
        #expect(try ChangeSet.between(second, second).isEmpty)
        #expect(try ChangeSet.between(second, first).isUnknown)
        #expect(try !ChangeSet.between(first, second).isEmpty)
    }

    @Test func `a list that follows another process compares only changed leaves`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (writer, _) = try Zoo.stack(at: url)
        try writer.perform(synchronous: { transaction in
            for age in 0..<2000 { transaction.create(Into<Dog>()).age = age }
        })
        let queue = DispatchQueue(label: "reader")
        let reader = DataStack(Zoo.schema(), viewContext: .queue(queue))
        var options = ObjectGraph.EngineOptions()
        options.isReadOnly = true
        try reader.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        let store = try #require(reader.stores.first)
        let before = try store.database.snapshot()
        let monitor = queue.sync { reader.monitorList(From<Dog>().orderBy(.ascending(\.$age))) }
        let recorder = ListRecorder<Dog> { "\($0.age)" }
        queue.sync { monitor.addObserver(recorder) }
        try writer.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Dog>().where(\.$age == 7))?.age = 5000
        })
        try writer.checkpoint()
        let end = Date(timeIntervalSinceNow: 30)
        while queue.sync(execute: { recorder.events.isEmpty }), Date() < end {
            Thread.sleep(forTimeInterval: 0.002)
        }
        #expect(queue.sync { recorder.takeEvents() } == ["will", "~5000 0.7>0.1999", "did"])
        let after = try store.database.snapshot()
        let changes = try ChangeSet.between(before, after)
        let entity = try #require(after.schema.entity(named: "Dog"))
        #expect(changes.records(in: entity.hierarchy)?.updated.count == 1)
        #expect(changes.records(in: entity.hierarchy)?.inserted.isEmpty == true)
    }
}
