import Foundation
import PageStore
import Proof
import TestSupport
import Testing

@testable import RecordStore

/// Random models that change so that records must be rewritten, with objects written in between:
/// the file equals a migration of dictionaries.
@Suite struct RewriteModelTests {
    private struct Store {
        var schema: SchemaDescription
        var world = RewriteWorld()
        var files = MemoryFileSystem()
    }

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        return options
    }

    /// Options by which a migration is one transaction, or many small ones.
    private static func options(_ random: inout SeededRandom) -> Engine.Options {
        var options = Self.options
        guard random.below(2) == 0 else { return options }
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = 1 + random.below(30)
        options.migrationDropPagesMax = 1 + random.below(8)
        options.checkpointsInBackground = false
        return options
    }

    @Test func `a file whose records are rewritten for a model equals dictionaries`() throws {
        var random = SeededRandom(for: "RewriteModelTests")
        for round in FuzzRounds(10) {
            // Each round has its own seed; a given seed starts with that round.
            var turn = SeededRandom(seed: round == 0 ? random.seed : random.next())
            let place = "seed \(turn.seed)"
            var store = Store(schema: RewriteEvolution.model(&turn))
            var lastUID: Int64 = 0
            for step in 0..<4 {
                do {
                    if step > 0 { try follow(&store, &turn) }
                    try fill(&store, &lastUID, &turn)
                } catch {
                    Issue.record("\(place), step \(step): \(error)")
                    return
                }
                if step == 2, try !chained(store, &turn, place) { return }
            }
        }
    }

    // MARK: Opening

    private func open(
        _ schema: SchemaDescription, _ files: any FileSystem, _ steps: [MigrationStep]?,
        _ options: Engine.Options = Self.options
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, options: options, files: files,
            route: { _ in steps })
    }

    /// Interrupts migrations of a store at any call, and checks that the store is whole each time.
    private func interrupt(
        _ store: Store, _ step: MigrationStep, _ options: Engine.Options,
        to expected: [Int64: RewriteObject], loose: [Int64: Set<String>],
        _ random: inout SeededRandom
    ) throws {
        var isNew = false
        for _ in 0..<random.below(4) where !isNew {
            let call = 1 + random.below(random.below(2) == 0 ? 20 : 200)
            let dying = FaultInjector(
                store.files, FaultInjector.Fault(call: call, kind: .error, goesOn: true))
            try? open(step.schema, dying, [step], options).close()
            let found = try world(store.files)
            let left = try RecordDatabase.openReadOnly(
                path: "store", options: Self.options, files: store.files
            ).schema.description
            isNew = !SchemaDifference.needsMigration(from: left, to: step.schema)
            if isNew {
                try expectSame(found, expected, loose: loose, "after a kill")
            } else {
                try expectSame(found, store.world.objects, "after a kill before the switch")
            }
            // The earlier program discards the unfinished migration of the later one.
            if !isNew, random.below(5) == 0 {
                try open(store.schema, store.files, nil).close()
                try expectNothingLeft(store.files)
            }
        }
    }

    /// Checks that no tree of a migration is left.
    private func expectNothingLeft(_ files: MemoryFileSystem) throws {
        var options = Self.options
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        defer { #expect(throws: Never.self) { try engine.close() } }
        let snapshot = try engine.snapshot()
        let trees = try #require(try CatalogView(snapshot)).trees()
        for tree in trees where tree.name.hasPrefix("next/") || tree.name.hasPrefix("old/") {
            throw Difference(description: "the tree \(tree.name) is left")
        }
        let findings = StoreCheck.run(snapshot, knownTrees: trees.map(\.tree))
        guard findings.isEmpty else { throw Difference(description: "\(findings)") }
    }

    private func fill(
        _ store: inout Store, _ lastUID: inout Int64, _ random: inout SeededRandom
    ) throws {
        let database = try open(store.schema, store.files, nil)
        try RewriteFilling.fill(database, store.world, &lastUID, &random)
        let lastNumbers = store.world.lastNumbers
        store.world = try RewriteWorld(database)
        store.world.lastNumbers.merge(lastNumbers) { max($0, $1) }
        if random.below(2) == 0 { try database.checkpoint() }
        try database.close()
    }

    /// The content of the file by its own schema.
    private func world(_ files: MemoryFileSystem) throws -> RewriteWorld {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.options, files: files)
        defer { #expect(throws: Never.self) { try database.close() } }
        return try RewriteWorld(database)
    }

    private func copy(_ files: MemoryFileSystem) throws -> MemoryFileSystem {
        let copy = MemoryFileSystem()
        for name in ["store"] {
            let source = try files.open(name, .readOnly)
            let bytes = ReadBuffer(count: Int(try source.size()))
            #expect(try source.read(into: bytes, at: 0) == bytes.count)
            try copy.open(name, .createNew).write(bytes.view, at: 0)
        }
        return copy
    }

    // MARK: One step

    private struct Difference: Error, CustomStringConvertible {
        var description: String
    }

    private func expectSame(
        _ found: RewriteWorld, _ expected: [Int64: RewriteObject],
        loose: [Int64: Set<String>] = [:], _ what: String
    ) throws {
        var (found, expected) = (found.objects, expected)
        for (uid, names) in loose {
            for name in names {
                found[uid]?.links[name]?.sort()
                expected[uid]?.links[name]?.sort()
            }
        }
        guard let difference = RewriteWorld.difference(found, expected) else { return }
        throw Difference(description: "\(what): \(difference)")
    }

    private func follow(
        _ store: inout Store, _ random: inout SeededRandom
    ) throws {
        var evolution = RewriteEvolution(store.schema, store.world.objects)
        evolution.change(&random)
        do {
            try follow(&store, evolution, &random)
        } catch {
            let edits = SchemaDifference.edits(from: store.schema, to: evolution.schema)
            throw Difference(
                description: "\(error), by \(edits), \(evolution.mappings ?? [])")
        }
        store.schema = evolution.schema
        store.schema.forgetEarlierNames()
    }

    private func follow(
        _ store: inout Store, _ evolution: RewriteEvolution, _ random: inout SeededRandom
    ) throws {
        let old = store.world
        let reference = evolution.reference
        guard let (expected, loose) = reference.migrated(old.objects) else { return }
        let mappings = evolution.mappings?.map(\.mapping)
        let step = MigrationStep(
            evolution.schema, allowedLoss: .all, mappings: mappings, isNamed: true)
        try checkRefusals(store, evolution, &random)
        if random.below(3) == 0 { try checkFresh(store, reference, step) }
        let options = Self.options(&random)
        var whole: RewriteWorld?
        if options.migrationRowsMax == 0 {
            let files = try copy(store.files)
            try open(step.schema, files, [step]).close()
            whole = try world(files)
            try expectSame(world(files), expected, loose: loose, "in one transaction")
            try interrupt(store, step, options, to: expected, loose: loose, &random)
        }
        let database = try open(step.schema, store.files, [step], options)
        store.world = try RewriteWorld(database)
        if let whole {
            try expectSame(store.world, whole.objects, "in chunks and in one transaction")
            #expect(store.world.places == whole.places)
        }
        try expectSame(store.world, expected, loose: loose, "in place")
        try checkNumbers(&store.world, old, reference, database)
        try database.close()
        // A second opening needs no migration.
        let again = try open(step.schema, store.files, nil)
        try expectSame(try RewriteWorld(again), store.world.objects, "again")
        try again.close()
        try expectNothingLeft(store.files)
    }

    /// A migration that the program does not allow or that is impossible leaves the file unchanged.
    private func checkRefusals(
        _ store: Store, _ evolution: RewriteEvolution, _ random: inout SeededRandom
    ) throws {
        let reference = evolution.reference
        let old = store.world.objects
        if evolution.mappings == nil {
            let files = try copy(store.files)
            let step = MigrationStep(evolution.schema, isNamed: true)
            if reference.isLossy(old) {
                let error = #expect(throws: StoreError.self) {
                    try open(step.schema, files, [step]).close()
                }
                #expect(error?.code == .schemaMismatch)
                try expectSame(try world(files), old, "after a refused loss")
            } else {
                try open(step.schema, files, [step]).close()
            }
        }
        let uids = old.keys.sorted().filter { uid in
            guard let name = old[uid]?.entityName else { return false }
            return reference.later[name] != nil
                && evolution.mappings?.contains { $0.source == name } != true
        }
        guard evolution.isOther, random.below(4) == 0, let uid = uids.randomElement(using: &random),
            let name = old[uid]?.entityName, let later = reference.later[name],
            evolution.mappings?.contains(where: { $0.destination == later }) != true
        else { return }
        let files = try copy(store.files)
        let step = MigrationStep(
            evolution.schema,
            mappings: (evolution.mappings ?? []).map(\.mapping) + [
                RewriteMapping.transform(from: name, to: later, .fails(uid: uid)).mapping
            ], isNamed: true)
        let error = #expect(throws: StoreError.self) {
            try open(step.schema, files, [step]).close()
        }
        #expect(error?.code == .invalidArgument)
        try expectSame(try world(files), old, "after a mapping that failed")
    }

    /// A store whose records all have the newest layout migrates like one with older records.
    private func checkFresh(
        _ store: Store, _ reference: RewriteReference, _ step: MigrationStep
    ) throws {
        let files = MemoryFileSystem()
        let first = try open(store.schema, files, nil)
        try RewriteFilling.write(store.world.objects, into: first)
        try expectSame(try RewriteWorld(first), store.world.objects, "written afresh")
        try first.close()
        let database = try open(step.schema, files, [step])
        guard let (expected, loose) = reference.migrated(store.world.objects) else { return }
        try expectSame(try RewriteWorld(database), expected, loose: loose, "of a fresh store")
        try database.close()
    }

    // MARK: Numbers

    private func checkNumbers(
        _ world: inout RewriteWorld, _ old: RewriteWorld, _ reference: RewriteReference,
        _ database: RecordDatabase
    ) throws {
        var feeders: [String: Set<String>] = [:]
        for (before, after) in reference.later {
            feeders[reference.new.root(after), default: []].insert(reference.old.root(before))
        }
        var offsets: [String: [String: UInt64]] = [:]
        for (uid, place) in world.places {
            let former = try #require(old.places[uid])
            guard place.number >= former.number else {
                throw Difference(description: "object \(uid) has a lower number")
            }
            let offset = place.number - former.number
            let known = offsets[place.root, default: [:]].updateValue(offset, forKey: former.root)
            guard known ?? offset == offset, feeders[place.root]?.count != 1 || offset == 0 else {
                throw Difference(
                    description: "object \(uid) of \(place.root) is \(offset) further")
            }
        }
        for root in database.schema.entities where root.superentityTag == nil {
            var last = world.lastNumbers[root.name] ?? 0
            for former in feeders[root.name] ?? [] {
                let isSole = feeders[root.name]?.count == 1
                guard let offset = offsets[root.name]?[former] ?? (isSole ? 0 : nil) else {
                    continue
                }
                last = max(last, (old.lastNumbers[former] ?? 0) + offset)
            }
            let transaction = try database.beginWrite()
            let number = try transaction.allocateNumber(in: root.hierarchy).rawValue
            transaction.rollback()
            guard number > last else {
                throw Difference(
                    description: "\(root.name) gives the number \(number) again, after \(last)")
            }
            world.lastNumbers[root.name] = last
        }
    }

    // MARK: Two steps

    /// Whether one opening with a chain of two versions gives the same as two openings.
    private func chained(
        _ store: Store, _ random: inout SeededRandom, _ place: String
    ) throws -> Bool {
        var steps: [MigrationStep] = []
        var schema = store.schema
        var expected = store.world.objects
        var loose: [Int64: Set<String>] = [:]
        var changes: [String] = []
        for _ in 0..<2 {
            var evolution = RewriteEvolution(schema, expected)
            evolution.change(&random)
            guard let next = evolution.reference.migrated(expected) else { return true }
            changes.append(
                "\(SchemaDifference.edits(from: schema, to: evolution.schema)), "
                    + "\(evolution.mappings ?? [])")
            expected = next.objects
            loose.merge(next.loose) { $0.union($1) }
            steps.append(
                MigrationStep(
                    evolution.schema, allowedLoss: .all,
                    mappings: evolution.mappings?.map(\.mapping), isNamed: true))
            schema = evolution.schema
            schema.forgetEarlierNames()
        }
        // A file that already has the last version does not pass through the one between.
        guard SchemaDifference.needsMigration(from: store.schema, to: schema) else { return true }
        do {
            let (fused, single) = (try copy(store.files), try copy(store.files))
            try open(steps[1].schema, fused, steps, Self.options(&random)).close()
            for step in steps { try open(step.schema, single, [step]).close() }
            let found = try world(fused)
            try expectSame(found, try world(single).objects, "in one opening and in two")
            #expect(found.places == (try world(single)).places)
            // A list whose order is unspecified may have been renamed since.
            let names = Set(loose.values.joined())
            guard names.isEmpty else { return true }
            try expectSame(found, expected, "in one opening")
            return true
        } catch {
            Issue.record("\(place), in a chain: \(error), by \(changes)")
            return false
        }
    }
}
