import Foundation
import RecordStore
import SampleSchemas
import TestSupport
import Testing

@testable import Query

/// Lists that follow random commits, compared with a fetch after each.
@Suite struct LiveListTests {
    /// A list and its expected content.
    private struct Followed {
        let request: ListRequest
        var list: LiveList
        let schema: Schema
        let storeID: UUID

        init(_ request: ListRequest, _ reader: RecordReader, storeID: UUID) throws {
            self.request = request
            self.storeID = storeID
            schema = reader.schema
            list = try LiveList(request, in: [(StoreIdentity(storeID), reader)])
            try expect(reader)
        }

        private var entity: EntityLayout {
            get throws { try #require(schema.entity(named: request.entityName)) }
        }

        private func sectionName(_ number: ObjectNumber, _ reader: RecordReader) throws -> String {
            switch request.section {
            case .none: return ""
            case .computed(let name, _): return try name(reader, number)
            case .path(let path, let name): return name(try value(path, number, reader))
            }
        }

        private func value(
            _ names: [String], _ number: ObjectNumber, _ reader: RecordReader
        ) throws -> Value {
            let evaluator = ReferenceEvaluator(reader)
            let path = try PathResolver(schema: schema).resolve(names, from: entity)
            var value = Value.null
            _ = try reader.lendRow(number, in: entity.hierarchy) { row in
                value = try evaluator.evaluate(path, row, number).values.first ?? .null
            }
            return value
        }

        /// Expects the content of a fetch.
        private func expect(_ reader: RecordReader) throws {
            var fetch = request.fetch
            if fetch.sortKeys.isEmpty { (fetch.limit, fetch.offset) = (nil, 0) }
            let query = try PreparedQuery.prepare(
                fetch, of: entity, in: reader, store: StoreIdentity(storeID))
            var numbers = try query.numbers()
            if fetch.sortKeys.isEmpty {
                numbers.sort()
                let rest = numbers.dropFirst(request.fetch.offset)
                numbers = Array(request.fetch.limit.map { rest.prefix($0) } ?? rest)
            }
            let content = list.content
            try #require(content.tree.fault == nil)
            try #require(content.items().map(\.number) == numbers)
            guard request.hasSections else {
                try #require(content.sectionCount == 1)
                return
            }
            var sections: [(name: String, count: Int)] = []
            for number in numbers {
                let name = try sectionName(number, reader)
                if sections.last?.name != name { sections.append((name, 0)) }
                sections[sections.count - 1].count += 1
            }
            try #require(content.sectionCount == sections.count)
            for (index, section) in sections.enumerated() {
                try #require(content.sectionName(index) == section.name)
                try #require(content.indices(ofSection: index).count == section.count)
            }
        }

        mutating func take(_ step: StoreStep) throws {
            let before = list.content
            let difference = try list.take([step]) ?? ListDifference()
            try expect(step.after)
            let after = list.content
            let (oldListed, newListed) = (before.listed, after.listed)
            for found in [difference, TreeDifference.between(before, after)] {
                let fault = BatchUpdateChecker.fault(
                    from: oldListed, to: newListed, BatchUpdate(found))
                try #require(fault == nil)
            }
            try expectStamps(before, after, difference, step)
        }

        /// Entries that count as updated differ, and the others are equal in everything that
        /// counts.
        private func expectStamps(
            _ before: ListContent, _ after: ListContent, _ difference: ListDifference,
            _ step: StoreStep
        ) throws {
            var stamps: [ListItem: UInt32] = [:]
            before.tree.forEach(in: before.ranks) { item, stamp, _ in stamps[item] = stamp }
            var common: [(number: ObjectNumber, isStamped: Bool)] = []
            after.tree.forEach(in: after.ranks) { item, stamp, _ in
                if let old = stamps[item] { common.append((item.number, old != stamp)) }
            }
            for (number, isStamped) in common {
                let differs = try differs(number, step)
                if differs.isUpdate { try #require(isStamped) }
                // Where keys are not kept, an entry that others passed may count as moved.
                if isStamped, list.refusal == nil { try #require(differs.isAtAll) }
            }
        }

        private func differs(
            _ number: ObjectNumber, _ step: StoreStep
        ) throws -> (isUpdate: Bool, isAtAll: Bool) {
            let hierarchy = try entity.hierarchy
            let isSame = try step.before.withRow(number, in: hierarchy) { old throws(StoreError) in
                try step.after.withRow(number, in: hierarchy) {
                    $0.bytes.array() == old.bytes.array()
                }
            }
            var isUpdate = isSame != .some(.some(true))
            let friends = try #require(try entity.relationship(named: "friends"))
            isUpdate =
                try isUpdate
                || step.before.linkedNumbers(friends, of: number)
                    != step.after.linkedNumbers(friends, of: number)
            for path in request.watchedPaths {
                isUpdate =
                    try isUpdate
                    || value(path, number, step.before) != value(path, number, step.after)
            }
            var isAtAll =
                try isUpdate
                || sectionName(number, step.before)
                    != sectionName(number, step.after)
            for key in request.fetch.sortKeys {
                isAtAll =
                    try isAtAll
                    || value(key.path, number, step.before) != value(key.path, number, step.after)
            }
            return (isUpdate, isAtAll)
        }
    }

    @Test(arguments: [true, false])
    func `a list that follows commits equals a fetch after each commit`(
        isKept: Bool
    ) throws {
        var seeds = SeededRandom(for: "LiveListTests kept \(isKept)")
        for _ in FuzzRounds(isKept ? 6 : 2) {
            let zoo = try Zoo(SeededRandom(seed: seeds.next()))
            var before = try zoo.commit(changeCount: 20 + zoo.random.below(300)).after
            var lists: [Followed] = []
            for _ in 0..<8 {
                lists.append(
                    try Followed(
                        zoo.request(isKept: isKept), before, storeID: zoo.database.storeID))
            }
            for _ in 0..<12 {
                let size = [1, 1, 3, 10][zoo.random.below(4)]
                var (changes, after) = try zoo.commit(changeCount: size)
                // Several commits that are delivered at once.
                if zoo.random.below(3) == 0 {
                    for _ in 0..<zoo.random.below(20) {
                        let next = try zoo.commit(changeCount: size)
                        changes.join(next.changes)
                        after = next.after
                    }
                }
                let isNoted = zoo.random.below(15) > 0
                let step = StoreStep(
                    before: before, after: after, changes: isNoted ? changes : .unknown)
                for index in lists.indices { try lists[index].take(step) }
                before = after
            }
        }
    }

    // MARK: Single cases

    private static let schema = SchemaDescription([
        EntityDescription("Note", required: ["rank": .int64])
    ])

    /// Notes with ranks, changed one batch after the other.
    private final class Notes {
        let database: RecordDatabase
        var before: RecordReader
        private var entity: EntityLayout

        init(_ ranks: [Int64]) throws {
            database = try RecordDatabase.open(.memory, schema: LiveListTests.schema)
            entity = try #require(database.schema.entity(named: "Note"))
            before = try database.snapshot()
            _ = try change { batch, transaction in
                for rank in ranks { try insert(rank, &batch, transaction) }
            }
        }

        private func row(_ rank: Int64) throws -> RowBuffer {
            var row = entity.emptyRow()
            row.setValue(.int(rank), try #require(entity.field(named: "rank")))
            return row
        }

        func insert(
            _ rank: Int64, _ batch: inout RecordBatch, _ transaction: RecordTransaction
        ) throws {
            let row = try row(rank)
            defer { row.deallocate() }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }

        func update(_ number: UInt64, _ rank: Int64, _ batch: inout RecordBatch) throws {
            let row = try row(rank)
            defer { row.deallocate() }
            batch.update(entity, ObjectNumber(number), row: row)
        }

        func delete(_ number: UInt64, _ batch: inout RecordBatch) {
            batch.delete(ObjectNumber(number), in: entity.hierarchy)
        }

        func change(
            _ body: (inout RecordBatch, RecordTransaction) throws -> Void
        ) throws -> StoreStep {
            try database.step(from: &before, body)
        }

        func list(limit: Int? = nil, offset: Int = 0) throws -> LiveList {
            let fetch = FetchRequest(
                sortKeys: [SortKey(path: ["rank"])], limit: limit, offset: offset)
            return try LiveList(
                ListRequest("Note", fetch), in: [(StoreIdentity(database.storeID), before)])
        }
    }

    @Test func `a window equals a fetch while deletions use up its reserve`() throws {
        let notes = try Notes((0..<400).map { $0 })
        var list = try notes.list(limit: 5, offset: 2)
        #expect(list.isCutOff)
        for round in 0..<150 {
            let step = try notes.change { batch, _ in notes.delete(UInt64(round + 1), &batch) }
            let before = list.content
            let difference = try #require(try list.take([step]))
            let fault = BatchUpdateChecker.fault(
                from: before.listed, to: list.content.listed, BatchUpdate(difference))
            #expect(fault == nil)
            #expect(difference.deletions.count == 1 && difference.insertions.count == 1)
            let fetched = try notes.list(limit: 5, offset: 2)
            #expect(list.content.items() == fetched.content.items())
            #expect(list.content.tree.count <= 2 + 5 + 64)
        }
    }

    @Test func `an object that a refill brings back is not reported as deleted`() throws {
        let notes = try Notes((0..<70).map { $0 })
        var list = try notes.list(limit: 3)
        let first = try notes.change { batch, _ in
            for number in 4...40 { notes.delete(UInt64(number), &batch) }
        }
        #expect(try list.take([first]) == nil)
        // All held entries but the last are deleted, and the first moves past it.
        let second = try notes.change { batch, _ in
            try notes.update(1, 1000, &batch)
            for number in Array(2...3) + Array(41...66) + Array(68...70) {
                notes.delete(UInt64(number), &batch)
            }
        }
        let before = list.content
        let difference = try #require(try list.take([second]))
        #expect(list.content.items().map(\.number.rawValue) == [67, 1])
        #expect(difference.deletions.count == 2 && difference.insertions.count == 1)
        let fault = BatchUpdateChecker.fault(
            from: before.listed, to: list.content.listed, BatchUpdate(difference))
        #expect(fault == nil)
    }

    @Test func `an insertion after the last held entry is ignored`() throws {
        let notes = try Notes((0..<300).map { $0 })
        var list = try notes.list(limit: 5)
        let step = try notes.change { batch, transaction in
            try notes.insert(290, &batch, transaction)
        }
        #expect(try list.take([step]) == nil)
        #expect(list.content.tree.count == 5 + 64)
    }

    /// The objects beyond the held ones may have any number of links, and blobs.
    @Test func `links of objects beyond a limit were read by each step`() throws {
        let schema = SchemaDescription([
            EntityDescription(
                "Hub", required: ["rank": .int64],
                relationships: [.toManyUnordered("hubs", to: "Hub", inverse: "hubs")])
        ])
        let database = try RecordDatabase.open(.memory, schema: schema)
        let entity = try #require(database.schema.entity(named: "Hub"))
        let hubs = try #require(entity.relationship(named: "hubs"))
        let rank = try #require(entity.field(named: "rank"))
        var before: RecordReader = try database.snapshot()
        let linkCount = 20_000
        var last = ObjectNumber(0)
        _ = try database.step(from: &before) { batch, transaction in
            for number in 0..<linkCount {
                var row = entity.emptyRow()
                defer { row.deallocate() }
                row.setValue(.int(Int64(number)), rank)
                last = try transaction.allocateNumber(in: entity.hierarchy)
                batch.insert(entity, last, row: row)
            }
        }
        _ = try database.step(from: &before) { batch, _ in
            for number in 1..<UInt64(linkCount) where number != 9 {
                batch.addLink(hubs, owner: last, target: ObjectNumber(number))
            }
        }
        let fetch = FetchRequest(sortKeys: [SortKey(path: ["rank"])], limit: 20)
        var list = try LiveList(
            ListRequest("Hub", fetch), in: [(StoreIdentity(database.storeID), before)])
        let step = try database.step(from: &before) { batch, _ in
            batch.addLink(hubs, owner: last, target: ObjectNumber(9))
        }
        let lookups = database.statistics.pageLookups
        let difference = try #require(try list.take([step]))
        #expect(difference.updates == [ListPath(section: 0, item: 8)])
        #expect(database.statistics.pageLookups - lookups < 40)
    }

    @Test func `stamps start again after the largest number`() throws {
        let notes = try Notes([1, 2, 3])
        var list = try notes.list()
        list.step = .max - 2
        var last = list.content
        for rank in [5, 6, 7, 8] as [Int64] {
            let step = try notes.change { batch, _ in try notes.update(1, rank, &batch) }
            _ = try list.take([step])
            #expect(list.content.items().map(\.number.rawValue) == [2, 3, 1])
            #expect(list.content.tree.stamp(at: 2) != last.tree.stamp(at: 2) || rank == 5)
            last = list.content
        }
        #expect(list.step < 10)
    }

    @Test func `the step after a failed one delivers the changes of both`() throws {
        let notes = try Notes([1, 2, 3])
        struct Failure: Error {}
        var fails = false
        let fetch = FetchRequest(sortKeys: [SortKey(path: ["rank"])])
        let request = ListRequest(
            "Note", fetch,
            section: .computed { _, _ in
                if fails { throw Failure() }
                return "all"
            })
        var list = try LiveList(
            request, in: [(StoreIdentity(notes.database.storeID), notes.before)])
        fails = true
        let first = try notes.change { batch, _ in try notes.update(1, 9, &batch) }
        #expect(throws: Failure.self) { _ = try list.take([first]) }
        #expect(list.content.items().map(\.number.rawValue) == [1, 2, 3])
        fails = false
        let second = try notes.change { batch, _ in notes.delete(2, &batch) }
        let difference = try #require(try list.take([second]))
        #expect(list.content.items().map(\.number.rawValue) == [3, 1])
        #expect(difference.deletions.count == 1 && difference.moves.count == 1)
    }

    /// Animals 1 to 3, the first with person 1 as its owner, changed one batch after the other.
    private final class Animals {
        let database: RecordDatabase
        var before: RecordReader

        init() throws {
            database = try RecordDatabase.open(.memory, schema: Zoo.schema(isIndexed: false))
            before = try database.snapshot()
            let (animal, person) = (try entity("Animal"), try entity("Person"))
            let owner = try #require(animal.field(named: "owner"))
            _ = try change { batch in
                for (entity, number) in [(person, 1), (animal, 1), (animal, 2), (animal, 3)] {
                    let row = entity.emptyRow()
                    defer { row.deallocate() }
                    if entity.name == "Animal" && number == 1 {
                        row.setLink(ObjectNumber(1), at: owner.byteOffset)
                    }
                    batch.insert(entity, ObjectNumber(UInt64(number)), row: row)
                }
            }
        }

        func entity(_ name: String) throws -> EntityLayout {
            try #require(database.schema.entity(named: name))
        }

        func change(_ body: (inout RecordBatch) throws -> Void) throws -> StoreStep {
            try database.step(from: &before) { batch, _ in try body(&batch) }
        }

        func renameOwner() throws -> StoreStep {
            let person = try entity("Person")
            var row = person.emptyRow()
            defer { row.deallocate() }
            row.setValue(.string("Ada"), try #require(person.field(named: "name")))
            return try change { $0.update(person, ObjectNumber(1), row: row) }
        }

        func makeFriends() throws -> StoreStep {
            let friends = try #require(try entity("Animal").relationship(named: "friends"))
            return try change {
                $0.addLink(friends, owner: ObjectNumber(1), target: ObjectNumber(2))
            }
        }

        func insertCity() throws -> StoreStep {
            let city = try entity("City")
            let row = city.emptyRow()
            defer { row.deallocate() }
            return try change { $0.insert(city, ObjectNumber(1), row: row) }
        }
    }

    /// A bug: only the objects that had themselves changed were reported.
    @Test(arguments: [true, false])
    func `the step after a failed one delivers changed owners and links`(isOwner: Bool) throws {
        let animals = try Animals()
        struct Failure: Error {}
        var fails = false
        let request = ListRequest(
            "Animal", FetchRequest(sortKeys: [SortKey(path: ["age"])]),
            section: .computed { _, _ in
                if fails { throw Failure() }
                return "all"
            }, watchedPaths: [["owner", "name"]])
        var list = try LiveList(
            request, in: [(StoreIdentity(animals.database.storeID), animals.before)])
        let first = try isOwner ? animals.renameOwner() : animals.makeFriends()
        fails = true
        #expect(throws: Failure.self) { _ = try list.take([first]) }
        fails = false
        let difference = try #require(try list.take([try animals.insertCity()]))
        #expect(difference.updates.map(\.item) == (isOwner ? [0] : [0, 1]))
    }

    /// A bug: any step caused a new fetch.
    @Test func `a list is fetched again only when an entity that it reads has changed`() throws {
        let zoo = try Zoo(SeededRandom(seed: 3))
        let before = try zoo.commit(changeCount: 60).after
        let stores = [(store: StoreIdentity(zoo.database.storeID), reader: before as RecordReader)]
        let path = ["owner", "pets", "@count"]
        let request = ListRequest("Animal", FetchRequest(sortKeys: [SortKey(path: path)]))
        let after = try zoo.commit(changeCount: 60).after
        /// Whether a list adopts the later state, which differs, when one change is reported to it.
        func isFetched(_ request: ListRequest, _ entityName: String) throws -> Bool {
            let entity = try #require(zoo.database.schema.entity(named: entityName))
            let records = ChangeSet.Records(updated: NumberSet([1]))
            var changes = ChangeSet()
            changes.set(records, in: entity.hierarchy)
            var list = try LiveList(request, in: stores)
            let step = StoreStep(before: before, after: after, changes: changes)
            return try list.take([step]) != nil
        }
        #expect(try isFetched(request, "Animal"))
        #expect(try isFetched(request, "Person"))
        #expect(try !isFetched(request, "City"))
        var far = request
        // Most animals have no such friend: the list differs after.
        far.fetch.condition = .not(
            .comparison(
                Comparison(
                    .keyPath(["friends", "owner", "city", "name"]), .equal,
                    .constant(.string("a")), quantifier: .any)))
        #expect(try isFetched(far, "Animal"))
        #expect(try isFetched(far, "City"))
    }

    @Test func `a list explains why it is fetched again`() throws {
        let zoo = try Zoo(SeededRandom(seed: 1))
        let reader = try zoo.commit(changeCount: 5).after
        let stores = [(store: StoreIdentity(zoo.database.storeID), reader: reader as RecordReader)]
        let kept = FetchRequest(sortKeys: [SortKey(path: ["owner", "city", "name"])])
        let list = try LiveList(ListRequest("Animal", kept), in: stores)
        #expect(list.explanation.hasPrefix("kept: "))
        var other = kept
        other.sortKeys = [SortKey(path: ["friends", "@count"])]
        let refetched = try LiveList(ListRequest("Animal", other), in: stores)
        #expect(refetched.explanation.contains("to-many relationship"))
    }
}

extension RecordDatabase {
    /// The step that a batch makes from a commit, which becomes the one after it.
    fileprivate func step(
        from before: inout RecordReader,
        _ body: (inout RecordBatch, RecordTransaction) throws -> Void
    ) throws -> StoreStep {
        let transaction = try beginWrite(notesChanges: true)
        var batch = RecordBatch()
        try body(&batch, transaction)
        try transaction.apply(batch)
        let staged = try transaction.stage(.durable)
        try staged.finish()
        let after = try staged.snapshot()
        defer { before = after }
        return StoreStep(before: before, after: after, changes: try #require(staged.changes))
    }
}
