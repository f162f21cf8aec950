import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// A change set compared with the difference of two snapshots, record by record and link by link.
@Suite struct ChangeSetModelTests {
    /// Every kind of link, with an inverse and without.
    private static let schema = SchemaDescription([
        EntityDescription(
            "Thing", optional: ["text": .string],
            relationships: [
                .toOne("box", to: "Box", inverse: "things"), .toOne("seen", to: "Box"),
                .toOne("twin", to: "Thing"), .toOne("twinOf", to: "Thing"),
                .toOne("heap", to: "Box", inverse: "pile"),
            ], indexes: [["text"]]),
        EntityDescription(
            "Wide", below: "Thing", optional: ["n": .int64],
            relationships: [.toOne("parent", to: "Wide")]),
        EntityDescription(
            "Box", optional: ["text": .string],
            relationships: [
                .toManyUnordered("things", to: "Thing"), .toManyOrdered("pile", to: "Thing"),
                .toManyOrdered("order", to: "Thing"), .toManyUnordered("loose", to: "Thing"),
                .toManyUnordered("near", to: "Box", inverse: "nearOf"),
                .toManyUnordered("nearOf", to: "Box"),
                .toManyOrdered("ranked", to: "Box", inverse: "rankedOf"),
                .toManyUnordered("rankedOf", to: "Box"),
                .toManyUnordered("peers", to: "Box", inverse: "peers"),
            ]),
    ])

    /// A store and what is in it.
    private final class Model {
        struct Object {
            var entity: EntityLayout
            var text: String?
            var n: Int64?
            var links: [String: ObjectNumber] = [:]
        }

        let database: RecordDatabase
        var random: SeededRandom
        /// By the name of the hierarchy's root.
        private var objects: [String: [ObjectNumber: Object]] = ["Thing": [:], "Box": [:]]

        init(_ database: RecordDatabase, _ random: SeededRandom) {
            self.database = database
            self.random = random
        }

        private func entity(_ name: String) throws -> EntityLayout {
            try #require(database.schema.entity(named: name))
        }

        private func root(_ entity: EntityLayout) -> String {
            database.schema.knownEntity(tag: entity.hierarchy.rootTag).name
        }

        private func some(_ name: String, _ count: ClosedRange<Int>) -> [ObjectNumber] {
            let known = (objects[name] ?? [:]).keys.sorted().shuffled(using: &random)
            return Array(known.prefix(Int.random(in: count, using: &random)))
        }

        private func fill(_ object: inout Object) {
            if Bool.random(using: &random) {
                object.text =
                    [nil, "", "a", "bc", String(repeating: "long ", count: 2000)]
                    .randomElement(using: &random) ?? nil
            }
            if object.entity.name == "Wide" { object.n = Int64.random(in: 0...2, using: &random) }
            for relationship in object.entity.relationships where relationship.kind == .toOne {
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                let target = database.schema.knownEntity(tag: relationship.destinationTag)
                let found = (objects[root(target)] ?? [:]).filter {
                    target.tags.contains($0.value.entity.tag)
                }
                object.links[relationship.name] = found.keys.sorted()
                    .randomElement(using: &random)
            }
        }

        private func row(_ object: Object) throws -> RowBuffer {
            var row = object.entity.emptyRow()
            row.setValue(
                object.text.map { .string($0) } ?? .null,
                try #require(object.entity.field(named: "text")))
            if let field = object.entity.field(named: "n") {
                row.setValue(object.n.map { .int($0) } ?? .null, field)
            }
            for relationship in object.entity.relationships {
                guard let offset = relationship.byteOffset else { continue }
                row.setLink(object.links[relationship.name], at: offset)
            }
            return row
        }

        /// The pile of a box and the heap of a thing are two sides of one link.
        private func stackPiles(
            _ owners: Set<ObjectNumber>, _ batch: inout RecordBatch
        ) throws {
            let pile = try #require(
                try entity("Box").relationships.first { $0.name == "pile" })
            for owner in owners.union(some("Box", 0...1)).sorted()
            where objects["Box"]?[owner] != nil {
                let members = (objects["Thing"] ?? [:]).filter { $0.value.links["heap"] == owner }
                batch.setLinks(
                    pile, owner: owner, members.keys.sorted().shuffled(using: &random))
            }
        }

        /// Changes some objects and links; deleted objects leave no to-one to themselves.
        func applyBatch(to transaction: RecordTransaction) throws {
            var batch = RecordBatch()
            var touched: [String: Set<ObjectNumber>] = ["Thing": [], "Box": []]
            var owners: Set<ObjectNumber> = []
            func noteHeap(_ object: Object) {
                if let owner = object.links["heap"] { owners.insert(owner) }
            }
            for name in ["Thing", "Box"] {
                for number in some(name, 0...2) {
                    objects[name]?[number] = nil
                    let hierarchy = try entity(name).hierarchy
                    batch.delete(number, in: hierarchy)
                    for (other, object) in objects["Thing"] ?? [:] {
                        let lost = object.links.filter { key, target in
                            target == number
                                && (name == "Thing") == ["twin", "twinOf", "parent"].contains(key)
                        }
                        guard !lost.isEmpty else { continue }
                        for key in lost.keys { objects["Thing"]?[other]?.links[key] = nil }
                        touched["Thing"]?.insert(other)
                    }
                }
            }
            for name in ["Thing", "Box"] {
                touched[name]?.formUnion(some(name, 0...4))
                touched[name]?.formIntersection((objects[name] ?? [:]).keys)
                for number in (touched[name] ?? []).sorted() {
                    guard var object = objects[name]?[number] else { continue }
                    noteHeap(object)
                    fill(&object)
                    noteHeap(object)
                    objects[name]?[number] = object
                    let row = try row(object)
                    defer { row.deallocate() }
                    batch.update(object.entity, number, row: row)
                }
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let name = ["Thing", "Wide", "Box"].randomElement(using: &random) ?? "Box"
                var object = Object(entity: try entity(name))
                fill(&object)
                noteHeap(object)
                let number = try transaction.allocateNumber(in: object.entity.hierarchy)
                objects[root(object.entity)]?[number] = object
                let row = try row(object)
                defer { row.deallocate() }
                batch.insert(object.entity, number, row: row)
            }
            try changeLinks(&batch)
            try stackPiles(owners, &batch)
            try transaction.apply(batch)
        }

        private func changeLinks(_ batch: inout RecordBatch) throws {
            let edges = try entity("Box").relationships.filter {
                $0.hasEdges && $0.name != "pile"
            }
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                guard let relationship = edges.randomElement(using: &random),
                    let owner = some("Box", 1...1).first
                else { continue }
                let target = database.schema.knownEntity(tag: relationship.destinationTag).name
                let targets = some(target, 0...4)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: batch.setLinks(relationship, owner: owner, targets)
                case 1:
                    for target in targets {
                        batch.addLink(relationship, owner: owner, target: target)
                    }
                default:
                    for target in targets {
                        batch.removeLink(relationship, owner: owner, target: target)
                    }
                }
            }
        }
    }

    /// The difference of two snapshots.
    private struct Difference {
        var records: [HierarchyID: ChangeSet.Records] = [:]
        var owners: [Int: NumberSet] = [:]

        init(_ before: RecordSnapshot, _ after: RecordSnapshot) throws {
            for root in before.schema.entities where root.superentityTag == nil {
                let old = try Self.rows(before, root.hierarchy)
                let new = try Self.rows(after, root.hierarchy)
                let stays = old.filter { new[$0.key] != nil }
                func numbers(_ rows: [UInt64: [UInt8]].Keys) -> NumberSet { NumberSet(Array(rows)) }
                records[root.hierarchy] = ChangeSet.Records(
                    inserted: numbers(new.filter { old[$0.key] == nil }.keys),
                    updated: numbers(stays.filter { new[$0.key] != $0.value }.keys),
                    deleted: numbers(old.filter { new[$0.key] == nil }.keys))
                for relationship in before.schema.relationships
                where before.schema.knownEntity(tag: relationship.sourceTag).hierarchy
                    == root.hierarchy
                {
                    let source = before.schema.knownEntity(tag: relationship.sourceTag)
                    var changed: [UInt64] = []
                    for (number, row) in stays
                    where source.tags.contains(UInt16(row[0]) | UInt16(row[1]) << 8) {
                        let owner = ObjectNumber(number)
                        let links = try before.linkedNumbers(relationship, of: owner)
                        if links != (try after.linkedNumbers(relationship, of: owner)) {
                            changed.append(number)
                        }
                    }
                    owners[relationship.id] = NumberSet(changed)
                }
            }
        }

        private static func rows(
            _ reader: RecordReader, _ hierarchy: HierarchyID
        ) throws -> [UInt64: [UInt8]] {
            var rows: [UInt64: [UInt8]] = [:]
            let cursor = reader.recordCursor(hierarchy)
            while try cursor.next() {
                rows[cursor.number.rawValue] = try cursor.row().bytes.array()
            }
            return rows
        }
    }

    @Test func `a set is the difference of two snapshots`() throws {
        var random = SeededRandom(for: "change sets")
        for _ in 0..<12 {
            let database = try RecordDatabase.open(.memory, schema: Self.schema)
            defer { try? database.close() }
            let model = Model(database, random)
            var joined = ChangeSet()
            var first = try database.snapshot()
            for round in 0..<25 {
                let before = try database.snapshot()
                let transaction = try database.beginWrite(notesChanges: true)
                for _ in 0..<Int.random(in: 1...4, using: &model.random) {
                    try model.applyBatch(to: transaction)
                }
                let staged = try transaction.stage(.durable)
                try staged.finish()
                let changes = try #require(staged.changes)
                try compare(changes, Difference(before, try database.snapshot()), "\(round)")
                joined.join(changes)
                try cover(joined, Difference(first, try database.snapshot()), "\(round)")
                if round % 5 == 4 { (first, joined) = (try database.snapshot(), ChangeSet()) }
            }
            let findings = try database.snapshot().check()
            #expect(findings.isEmpty, "\(findings)")
            random = model.random
        }
    }

    @Test func `a link that is removed and added again changes the order of its list`() throws {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        defer { try? database.close() }
        let box = try #require(database.schema.entity(named: "Box"))
        let ranked = try #require(box.relationships.first { $0.name == "ranked" })
        let rankedOf = try #require(box.relationships.first { $0.name == "rankedOf" })
        let first = try database.beginWrite()
        var batch = RecordBatch()
        var numbers: [ObjectNumber] = []
        for _ in 0..<3 {
            let number = try first.allocateNumber(in: box.hierarchy)
            numbers.append(number)
            batch.insert(box, number, row: box.emptyRow())
        }
        batch.setLinks(ranked, owner: numbers[0], [numbers[1], numbers[2]])
        try first.apply(batch)
        try first.commit()

        let second = try database.beginWrite(notesChanges: true)
        for owners in [[], [numbers[0]]] {
            var batch = RecordBatch()
            batch.setLinks(rankedOf, owner: numbers[1], owners)
            try second.apply(batch)
        }
        let staged = try second.stage(.durable)
        try staged.finish()

        let changes = try #require(staged.changes)
        #expect(changes.owners(of: ranked) == NumberSet([numbers[0].rawValue]))
    }

    private func compare(
        _ changes: ChangeSet, _ expected: Difference, _ place: String
    ) throws {
        for (hierarchy, records) in expected.records {
            #expect(changes.records(in: hierarchy) == records, "\(place): \(hierarchy)")
        }
        for relationship in Self.relationships {
            let owners = changes.owners(of: relationship)
            #expect(owners == expected.owners[relationship.id], "\(place): \(relationship.name)")
        }
    }

    /// A joined set contains the differences, and perhaps changes that were undone.
    private func cover(
        _ changes: ChangeSet, _ expected: Difference, _ place: String
    ) throws {
        for (hierarchy, records) in expected.records {
            let found = try #require(changes.records(in: hierarchy))
            #expect(found.inserted == records.inserted, "\(place)")
            #expect(found.deleted == records.deleted, "\(place)")
            #expect(records.updated.subtracting(found.updated).isEmpty, "\(place)")
        }
        for relationship in Self.relationships {
            let found = try #require(changes.owners(of: relationship))
            let owners = try #require(expected.owners[relationship.id])
            #expect(owners.subtracting(found).isEmpty, "\(place): \(relationship.name)")
        }
    }

    private static let relationships = (try? Schema(schema).relationships) ?? []
}
