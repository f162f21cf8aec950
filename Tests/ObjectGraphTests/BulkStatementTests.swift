import ObjectGraph
import TestSupport
import Testing

private final class Crate: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Stored("small") var small: Int8 = 0
    @Field.Stored("code") var code: String?
    @Field.Stored("note") var note: String = ""
    @Field.Relationship("parent") var parent: Crate?
    @Field.Relationship("children", inverse: \.$parent, deleteRule: .cascade)
    var children: Set<Crate>
    @Field.Relationship("shelf") var shelf: Crate?
    @Field.Relationship("shelved", inverse: \.$shelf) var shelved: [Crate]
    @Field.Relationship("lid", inverse: \.$lidOf) var lid: Crate?
    @Field.Relationship("lidOf") var lidOf: Crate?
    @Field.Relationship("near", inverse: \.$nearTo) var near: [Crate]
    @Field.Relationship("nearTo", maxCount: 20) var nearTo: Set<Crate>
    @Field.Relationship("spare") var spare: Crate?
    @Field.Relationship("ward") var ward: Crate?
    @Field.Relationship("guards", inverse: \.$ward, deleteRule: .deny) var guards: Set<Crate>
}

/// Statements on records compared with the same work on objects.
@Suite struct BulkStatementTests {
    private let queue = DispatchQueue(label: "view")

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Crate>(
                        "Crate", indexes: [[\.$label]], uniqueConstraints: [[\.$code]])
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    /// The content of a stack, described by labels.
    private func content(_ stack: DataStack) throws -> [String] {
        try queue.sync {
            try stack.fetchAll(From<Crate>().orderBy(.ascending(\.$label))).map { crate in
                let one = [
                    crate.parent, crate.shelf, crate.lid, crate.lidOf, crate.spare, crate.ward,
                ]
                let many = [Set(crate.children), Set(crate.shelved), crate.nearTo, crate.guards]
                return "\(crate.label) \(crate.small) \(crate.code ?? "-") \(crate.note.count) "
                    + one.map { $0.map { "\($0.label)" } ?? "-" }.joined(separator: " ")
                    + many.map { "\($0.map(\.label).sorted())" }.joined()
                    + "\(crate.shelved.map(\.label)) \(crate.near.map(\.label))"
            }
        }
    }

    private func fill(
        _ stack: DataStack, _ count: Int, _ random: inout SeededRandom
    ) throws -> [NSManagedObjectID] {
        try stack.perform(synchronous: { transaction in
            let crates = (0..<count).map { label in
                let crate = transaction.create(Into<Crate>())
                crate.label = label
                if random.below(3) == 0 { crate.code = "c\(label)" }
                crate.note = String(repeating: "n", count: random.below(20) == 0 ? 9_000 : 3)
                return crate
            }
            for crate in crates {
                func other() -> Crate { crates[random.below(count)] }
                if random.below(3) == 0 { crate.parent = other() }
                if random.below(3) == 0 { crate.shelf = other() }
                if random.below(4) == 0 { crate.lid = other() }
                if random.below(3) == 0 { crate.near = [other(), other()] }
                if random.below(3) == 0 { crate.spare = other() }
                if random.below(12) == 0 { crate.ward = other() }
            }
            return crates.map { $0.objectID() }
        })
    }

    private struct Outcome: Equatable {
        var count = 0
        var deleted: Set<Int> = []
        var updated: Set<Int> = []
        var isRefused = false
    }

    /// Runs a step in one transaction; `held` crates live in it while it runs.
    private func run(
        _ stack: DataStack, _ ids: [NSManagedObjectID], held: [Int],
        _ step: (SynchronousDataTransaction) throws -> Int
    ) -> Outcome {
        var outcome = Outcome()
        let labels = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        do {
            try stack.perform(synchronous: { transaction in
                let objects: [Crate] = transaction.fetchExisting(held.map { ids[$0] })
                for (index, object) in objects.enumerated() where index % 2 == 0 {
                    object.note += "+"
                }
                try withExtendedLifetime(objects) { outcome.count = try step(transaction) }
                outcome.deleted = Set(transaction.deletedObjectIDs().compactMap { labels[$0] })
                outcome.updated = Set(transaction.updatedObjectIDs().compactMap { labels[$0] })
                    .subtracting(outcome.deleted)
                let gone = transaction.deletedObjects(Crate.self)
                #expect(Set(gone.map { labels[$0.objectID()] }) == Set(gone.map(\.label)))
                #expect(gone.count == outcome.deleted.count)
            })
        } catch {
            outcome.isRefused = true
        }
        return outcome
    }

    @Test(arguments: 0..<6)
    func `bulk deletions of records follow the same rules as those of objects`(round: Int) throws {
        var random = SeededRandom(for: "bulk deletions \(round)")
        let (one, other) = (try stack(), try stack())
        var (first, second) = (random, random)
        let ids = try fill(one, 60, &first)
        let others = try fill(other, 60, &second)
        random = first
        for _ in 0..<12 {
            let (low, width) = (random.below(60), 1 + random.below(6))
            let condition = Where<Crate>(\.$label >= low && \.$label < low + width)
            let held = random.below(2) == 0 ? [] : (0..<random.below(20)).map { $0 * 3 }
            let records = run(one, ids, held: held) { transaction in
                try transaction.deleteAll(From<Crate>(), condition)
            }
            let objects = run(other, others, held: held) { transaction in
                transaction.delete(try transaction.fetchAll(From<Crate>(), condition))
            }
            #expect(records.count == objects.count, "seed \(random.seed)")
            #expect(records.isRefused == objects.isRefused, "seed \(random.seed)")
            #expect(records.deleted == objects.deleted, "seed \(random.seed)")
            // An object whose list was only read may be reported by one of the two stacks alone.
            let changed = try (content(one), content(other))
            #expect(changed.0 == changed.1, "seed \(random.seed)")
        }
    }

    @Test func `an object that a bulk deletion loads is deleted with the others`() throws {
        let stack = try stack()
        let ids = try stack.perform(synchronous: { transaction in
            let crates = (0..<3).map { label in
                let crate = transaction.create(Into<Crate>())
                crate.label = label
                return crate
            }
            crates[1].lid = crates[0]
            crates[2].shelf = crates[0]
            return crates.map { $0.objectID() }
        })
        try stack.perform(synchronous: { transaction in
            let held: Crate? = transaction.fetchExisting(ids[0])
            let count = try transaction.deleteAll(From<Crate>())
            #expect(count == 3)
            #expect(transaction.deletedObjectIDs() == Set(ids))
            withExtendedLifetime(held) {}
        })
        #expect(try queue.sync { try stack.fetchCount(From<Crate>()) } == 0)
    }

    @Test func `an update of records is that of objects`() throws {
        var random = SeededRandom(for: "bulk updates")
        let (one, other) = (try stack(), try stack())
        var (first, second) = (random, random)
        let ids = try fill(one, 40, &first)
        let others = try fill(other, 40, &second)
        random = first
        for step in 0..<20 {
            let low = random.below(40)
            let held = (0..<random.below(12)).map { $0 * 3 }
            let records = run(one, ids, held: held) { transaction in
                try transaction.update(
                    From<Crate>().where(\.$label >= low),
                    set: .value(\.$note, "step \(step)"), .sum(\.$small, 1))
            }
            let objects = run(other, others, held: held) { transaction in
                let crates = try transaction.fetchAll(From<Crate>().where(\.$label >= low))
                for crate in crates {
                    crate.note = "step \(step)"
                    crate.small += 1
                }
                return crates.count
            }
            #expect(records == objects, "seed \(random.seed)")
            let changed = try (content(one), content(other))
            #expect(changed.0 == changed.1, "seed \(random.seed)")
        }
    }

    @Test func `a statement makes no object`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 0..<1_000 { transaction.create(Into<Crate>()).label = label }
        })
        let made = stack.statistics.objectsMade
        try stack.perform(synchronous: { transaction in
            try transaction.update(From<Crate>(), set: .value(\.$note, "x"))
            try transaction.deleteAll(From<Crate>().where(\.$label >= 500))
        })
        #expect(stack.statistics.objectsMade == made)
        #expect(try queue.sync { try stack.fetchCount(From<Crate>()) } == 500)
    }

    @Test func `a sum that does not fit is refused and nothing is stored`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 0..<3 {
                let crate = transaction.create(Into<Crate>())
                (crate.label, crate.small) = (label, label == 2 ? 127 : 1)
            }
        })
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                try transaction.update(From<Crate>(), set: .sum(\.$small, 1))
            })
        }
        #expect(failure?.description.contains("Crate.small cannot hold the sum") == true)
        let values = try queue.sync { try stack.fetchAll(From<Crate>()).map(\.small).sorted() }
        #expect(values == [1, 1, 127])
    }

    @Test func `an update that makes duplicates resolves them as objects do`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 0..<3 {
                let crate = transaction.create(Into<Crate>())
                (crate.label, crate.code) = (label, "c\(label)")
            }
        })
        try stack.perform(synchronous: { transaction in
            try transaction.update(
                From<Crate>().where(\.$label == 2), set: .value(\.$code, "c0"))
        })
        let left = try queue.sync { try stack.fetchAll(From<Crate>()).map(\.code) }
        #expect(Set(left) == ["c0", "c1"])
        #expect(left.count == 2)
    }

    @Test func `a transaction does not find an object that its statement deleted`() throws {
        let stack = try stack()
        let id = try stack.perform(synchronous: { transaction in
            transaction.create(Into<Crate>()).objectID()
        })
        try stack.perform(synchronous: { transaction in
            let count = try transaction.deleteAll(From<Crate>())
            #expect(count == 1)
            #expect(transaction.hasChanges)
            #expect(transaction.fetchExisting(id) as Crate? == nil)
            #expect(transaction.deletedObjectIDs() == [id])
        })
        #expect(try queue.sync { try stack.fetchCount(From<Crate>()) } == 0)
    }

    @Test func `observers have the last values of what a statement deleted`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 0..<3 {
                let crate = transaction.create(Into<Crate>())
                (crate.label, crate.note) = (label, "note \(label)")
            }
        })
        let recorder = ListRecorder<Crate> { "\($0.label) \($0.note)" }
        let monitor = queue.sync {
            let monitor = stack.monitorList(From<Crate>().orderBy(.ascending(\.$label)))
            monitor.addObserver(recorder)
            return monitor
        }
        // None of the objects was loaded before it was deleted.
        try stack.perform(synchronous: { try $0.deleteAll(From<Crate>().where(\.$label > 0)) })
        queue.sync {
            let deletions = recorder.takeEvents().filter { $0.hasPrefix("-") }
            #expect(Set(deletions) == ["-1 note 1 0.1", "-2 note 2 0.2"])
            #expect(monitor.numberOfObjects() == 1)
            monitor.removeObserver(recorder)
        }
    }

    @Test func `an unsafe transaction can undo a statement`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 0..<5 { transaction.create(Into<Crate>()).label = label }
        })
        let transaction = stack.beginUnsafe(supportsUndo: true)
        try transaction.update(From<Crate>(), set: .sum(\.$label, 10))
        transaction.flush()
        try transaction.deleteAll(From<Crate>().where(\.$label >= 12))
        transaction.flush()
        let labels = From<Crate>().orderBy(.ascending(\.$label))
        #expect(try transaction.fetchAll(labels).map(\.label) == [10, 11])
        transaction.undo()
        #expect(try transaction.fetchAll(labels).map(\.label) == [10, 11, 12, 13, 14])
        transaction.undo()
        #expect(try transaction.fetchAll(labels).map(\.label) == [0, 1, 2, 3, 4])
    }
}
