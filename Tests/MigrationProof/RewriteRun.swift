import PageStore
import Proof
import RecordStore
import SampleSchemas
import TestSupport

extension PowerCut {
    /// Two of the images that a cut can leave: the one without anything uncertain, and any other.
    mutating func sample(running: DiskEffect, _ random: inout SeededRandom) -> [Image] {
        var images: [Image] = []
        var count = 0
        forEachImage(running: running) { image in
            count += 1
            if count == 1 {
                images.append(image)
            } else if random.below(count - 1) == 0 {
                images = [images[0], image]
            }
        }
        return images
    }
}

/// A random model that changes so that records must be rewritten, with objects written in between:
/// the file equals a migration of dictionaries.
struct RewriteRun {
    private var random: SeededRandom
    private var store: RewriteStore
    private var lastUID: Int64 = 0
    private(set) var report = ProofReport()
    /// What was done, in order.
    private(set) var trace: [String] = []
    private var identities = SavedIdentities()
    /// Names of entities and properties of all models so far.
    private var retired: Set<String> = []
    /// The earlier names that all models so far have stated.
    private var stated: Set<StatedName> = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let schema = RewriteEvolution.model(&random)
        store = RewriteStore(schema, &random)
    }

    mutating func run() throws {
        for step in 0..<4 {
            if step > 0 { try follow() }
            trace.append("fill")
            try store.fill(&lastUID, &random)
            try checkIdentities()
            if step == 2 { try chain() }
        }
    }

    // MARK: One pair

    /// A pair of models with the objects of the first, and what the second is to have.
    private struct Pair {
        var evolution: RewriteEvolution
        var step: MigrationStep
        var expected: [Int64: RewriteObject]
        /// The lists whose order is unspecified.
        var loose: [Int64: Set<String>]

        var reference: RewriteReference { evolution.reference }
    }

    private mutating func pair(
        _ schema: SchemaDescription, _ objects: [Int64: RewriteObject]
    ) throws -> Pair {
        retired.formUnion(schema.names.subtracting(["uid"]))
        var evolution = RewriteEvolution(
            schema, objects, retired: retired, alreadyStated: stated)
        evolution.forgetSomeEarlierNames(&random)
        evolution.change(&random)
        stated.formUnion(evolution.stated)
        mark(&evolution, since: schema)
        if !evolution.reusedNames.isEmpty { report.count("pairs with reused names") }
        let edits = SchemaDifference.edits(from: schema, to: evolution.schema)
        trace.append("follow \(edits), \(evolution.mappings ?? [])")
        // A change that the objects do not allow was not made.
        let (expected, loose) = try known(evolution.reference.migrated(objects))
        let step = MigrationStep(
            evolution.schema, allowedLoss: .all, mappings: evolution.mappings?.map(\.mapping),
            isNamed: true)
        return Pair(evolution: evolution, step: step, expected: expected, loose: loose)
    }

    /// Names that are swapped do not tell two models apart: gives the later one a modifier.
    private mutating func mark(
        _ evolution: inout RewriteEvolution, since old: SchemaDescription
    ) {
        let schema = evolution.schema
        guard schema.fingerprint == old.fingerprint,
            SchemaDifference.edits(from: old, to: schema).contains(where: \.isRenaming)
        else { return }
        let index = random.below(schema.entities.count)
        evolution.schema.entities[index].versionHashModifier = "\(random.next())"
    }

    private mutating func follow() throws {
        let old = store.world
        let pair = try pair(store.schema, old.objects)
        try checkLoss(pair)
        try checkFailure(pair)
        try checkEarlierName(pair)
        try checkUncertain(pair)
        try checkSwap()
        if random.below(3) == 0 { try checkConstraint(pair) }
        if random.below(3) == 0 { try checkFresh(pair) }
        let isChunked = pair.evolution.isOther && random.below(2) == 0
        var whole: RewriteWorld?
        if isChunked {
            let disk = store.disk()
            try store.open(pair.step.schema, disk, [pair.step]).close()
            whole = try store.content(disk.image).world
            try expectSame(whole, pair, "in one transaction")
        }
        let options = isChunked ? store.chunked(&random) : store.options
        if random.below(2) == 0 {
            try cut(pair, options)
        } else {
            try interrupt(pair, options)
        }
        let disk = store.disk()
        let database = try store.open(pair.step.schema, disk, [pair.step], options)
        store.world = try RewriteWorld(database)
        try expectSame(store.world, pair, "in place")
        if let whole {
            try expectSame(store.world, whole.objects, "in chunks and in one transaction")
            try hold(store.world.places == whole.places, "numbers differ in chunks")
            report.count("chunked pairs")
        }
        try RewriteNumbers(old: old, pair.reference).check(&store.world, database)
        try database.close()
        store.image = disk.image
        store.schema = pair.evolution.schema
        // A file that needed no migration has the earlier names of the model before.
        store.schema.takeEarlierNames(from: try store.content(disk.image).schema)
        try checkAgain()
        try checkIdentities()
        report.count("pairs")
    }

    private mutating func checkIdentities() throws {
        let database = try store.open(store.schema, store.disk())
        let count = try identities.check(store.world, database.identities.moved)
        try database.close()
        report.count("identities resolved", count)
    }

    /// A second opening needs no migration.
    private mutating func checkAgain() throws {
        let disk = store.disk()
        let again = try store.open(store.schema, disk)
        if random.below(4) == 0 {
            try expectSame(try RewriteWorld(again), store.world.objects, "again")
        }
        try again.close()
        try store.checkPages(disk.image)
        store.image = disk.image
    }

    private mutating func expectSame(
        _ found: RewriteWorld?, _ pair: Pair, allAreLoose: Bool = false, _ what: String
    ) throws {
        let all = pair.expected.mapValues { Set($0.links.keys) }
        try expectSame(
            try known(found), pair.expected, loose: allAreLoose ? all : pair.loose, what)
    }

    private mutating func expectSame(
        _ found: RewriteWorld, _ expected: [Int64: RewriteObject],
        loose: [Int64: Set<String>] = [:], _ what: String
    ) throws {
        var (found, expected) = (found.objects, expected)
        report.count("records compared", expected.count)
        for (uid, names) in loose {
            for name in names {
                found[uid]?.links[name]?.sort()
                expected[uid]?.links[name]?.sort()
            }
        }
        guard let difference = RewriteWorld.difference(found, expected) else { return }
        throw ProofFailure("\(what): \(difference)")
    }

    // MARK: Ends before the end

    /// Compares a file that a migration has left somewhere on its way, and returns whether it has
    /// the later model.
    private mutating func judge(
        _ image: DiskImage, _ pair: Pair, _ what: String
    ) throws -> Bool {
        let (schema, world) = try store.content(image)
        let isNew = !SchemaDifference.needsMigration(from: schema, to: pair.step.schema)
        if isNew {
            try expectSame(world, pair, what)
        } else {
            try expectSame(world, store.world.objects, "\(what), before the switch")
        }
        try store.checkPages(image, mayBeUnfinished: true)
        return isNew
    }

    /// Ends the process at calls of the migration, or makes them fail; it goes on each time.
    private mutating func interrupt(_ pair: Pair, _ options: Engine.Options) throws {
        var isNew = !pair.evolution.isOther
        for _ in 0..<random.below(4) where !isNew {
            var fault = FaultInjector.Fault(
                call: 1 + random.below(random.below(2) == 0 ? 20 : 200), kind: .error, goesOn: true)
            if random.below(3) == 0 {
                fault.kind = FaultKind.allCases[random.below(FaultKind.allCases.count)]
                fault.goesOn = false
            }
            let what = "\(fault.goesOn ? "a kill" : fault.kind.rawValue) at call \(fault.call)"
            trace.append(what)
            let disk = store.disk()
            let dying = FaultInjector(disk, fault)
            do throws(StoreError) {
                try store.open(pair.step.schema, dying, [pair.step], options).close()
            } catch {
                let codes: Set<StoreError.Code> = [
                    .io, .commitUncertain, .poisoned, .diskFull, .permissionDenied, .tooLarge,
                ]
                try hold(codes.contains(error.code), "\(what): \(error)")
            }
            let count = fault.kind == .unreadable ? dying.readCount : dying.changeCount
            guard count >= fault.call else { continue }
            report.count(fault.goesOn ? "kills" : "faults")
            isNew = try judge(disk.image, pair, what)
            try resume(disk.image, isNew, pair, options)
        }
    }

    /// Cuts the power in calls of the migration: the next process meets what is on the medium.
    private mutating func cut(_ pair: Pair, _ options: Engine.Options) throws {
        guard pair.evolution.isOther else { return }
        let disk = store.disk(records: true)
        try store.open(pair.step.schema, disk, [pair.step], options).close()
        let effects = disk.effects
        let start = store.image
        var medium = PowerCut(start, seed: random.next())
        let chosen = Set([random.below(effects.count)])
        for (call, effect) in effects.enumerated() {
            if chosen.contains(call) {
                for image in medium.sample(running: effect, &random) {
                    let what = "a cut in call \(call), \(effect.name), \(image.name)"
                    trace.append(what)
                    report.count("power cuts")
                    let isNew = try judge(image.disk, pair, what)
                    store.image = start
                    if random.below(2) == 0 { try resume(image.disk, isNew, pair, options) }
                }
            }
            medium.complete(effect)
        }
        if random.below(2) == 0 { store.image = start }
    }

    /// The migration goes on from an image, or the earlier program discards it.
    private mutating func resume(
        _ image: DiskImage, _ isNew: Bool, _ pair: Pair, _ options: Engine.Options
    ) throws {
        let disk = store.disk(image)
        if !isNew, random.below(5) == 0 {
            trace.append("the earlier program")
            try store.open(store.schema, disk).close()
            try store.checkPages(disk.image)
            report.count("copies discarded")
        } else if random.below(2) == 0 {
            try store.open(pair.step.schema, disk, [pair.step], options).close()
            let isDone = try judge(disk.image, pair, "resumed")
            try hold(isDone, "a resumed migration has not ended")
            try store.checkPages(disk.image)
            report.count("resumed migrations")
            return
        }
        // What comes next finds the file as it is.
        store.image = disk.image
    }

    // MARK: Refusals

    /// A migration that drops data without permission leaves the file unchanged.
    private mutating func checkLoss(_ pair: Pair) throws {
        guard pair.evolution.mappings == nil else { return }
        let disk = store.disk()
        let step = MigrationStep(pair.step.schema, isNamed: true)
        guard pair.reference.isLossy(store.world.objects) else {
            return try store.open(step.schema, disk, [step]).close()
        }
        try refuse(.schemaMismatch, [step], disk)
        report.count("refused losses")
    }

    /// A mapping that throws leaves the file unchanged.
    private mutating func checkFailure(_ pair: Pair) throws {
        let (reference, mappings) = (pair.reference, pair.evolution.mappings ?? [])
        let old = store.world.objects
        let uids = old.keys.sorted().filter { uid in
            guard let name = old[uid]?.entityName else { return false }
            return reference.later[name] != nil && !mappings.contains { $0.source == name }
        }
        guard pair.evolution.isOther, random.below(4) == 0,
            let uid = uids.randomElement(using: &random), let name = old[uid]?.entityName,
            let later = reference.later[name],
            !mappings.contains(where: { $0.destination == later })
        else { return }
        let failing = RewriteMapping.transform(from: name, to: later, .fails(uid: uid))
        let step = MigrationStep(
            pair.step.schema, mappings: (mappings + [failing]).map(\.mapping), isNamed: true)
        try refuse(.invalidArgument, [step], store.disk())
        report.count("failed mappings")
    }

    /// An earlier name is refused if the later model has what had it as well.
    private mutating func checkEarlierName(_ pair: Pair) throws {
        guard pair.evolution.mappings == nil, random.below(3) == 0,
            let (before, after) = pair.reference.later.sorted(by: { $0.key < $1.key })
                .randomElement(using: &random),
            let former = store.schema.entityNamed(before),
            let index = pair.step.schema.indexOf(after)
        else { return }
        var schema = pair.step.schema
        let names = Set(former.attributes.map(\.name))
        let known = schema.entities[index].attributes.filter { names.contains($0.name) }
        guard let kept = known.randomElement(using: &random),
            schema.entities[index].attributes.allSatisfy({ $0.previousName == nil }),
            former.attributes.allSatisfy({ $0.previousName != kept.name })
        else { return }
        schema.entities[index].attributes.append(
            .optional("unclear", kept.type, previousName: kept.name))
        let step = MigrationStep(schema, allowedLoss: .all, isNamed: true)
        try refuse(.invalidArgument, [step], store.disk())
        report.count("refused earlier names")
    }

    /// So is one that is not certain for objects of any entity.
    private mutating func checkUncertain(_ pair: Pair) throws {
        guard let (schema, mappings) = pair.evolution.uncertain else { return }
        let step = MigrationStep(
            schema, allowedLoss: .all, mappings: mappings?.map(\.mapping), isNamed: true)
        try refuse(.invalidArgument, [step], store.disk())
        report.count("refused statements")
    }

    /// Attributes of one type that swap their names are refused if nothing else changes.
    private mutating func checkSwap() throws {
        let entity = store.schema.entities[random.below(store.schema.entities.count)]
        var attributes = entity.attributes.shuffled(using: &random)
        guard random.below(3) == 0, let first = attributes.popLast(),
            let second = attributes.first(where: { other in
                other.type == first.type && other.isOptional == first.isOptional
                    && other.isCoded == first.isCoded
            }), first.previousName != second.name || second.previousName != first.name
        else { return }
        var schema = store.schema
        schema.changeEarlierNames { path, previousName in
            guard path.entityName == entity.name else { return previousName }
            switch path.name {
            case first.name: return second.name
            case second.name: return first.name
            default: return previousName
            }
        }
        let step = MigrationStep(schema, allowedLoss: .all, isNamed: true)
        try refuse(.invalidArgument, [step], store.disk())
        report.count("refused swaps")
    }

    /// A constraint that the later model adds is refused where objects have equal values.
    private mutating func checkConstraint(_ pair: Pair) throws {
        var schema = pair.step.schema
        let index = random.below(schema.entities.count)
        let name = schema.entities[index].name
        func isBroken(by attribute: AttributeDescription) -> Bool {
            let values = pair.expected.values.filter { schema.isKind($0.entityName, of: name) }
                .compactMap { $0.values[attribute.name] }.filter { $0 != .null }
            return Set(values).count < values.count
        }
        // Of texts and fractions, the store decides which are equal.
        let attributes = schema.attributes(of: name).filter {
            $0.name != "uid"
                && ($0.type == .bool || $0.type == .uuid || $0.type.isSigned || $0.type.isUnsigned)
        }
        let broken = attributes.filter(isBroken)
        let isRefused = !broken.isEmpty && random.below(2) == 0
        guard let attribute = (isRefused ? broken : attributes).randomElement(using: &random)
        else { return }
        schema.entities[index].uniqueConstraints.append([attribute.name])
        guard (try? Schema(schema)) != nil else { return }
        let step = MigrationStep(
            schema, allowedLoss: .all, mappings: pair.evolution.mappings?.map(\.mapping),
            isNamed: true)
        let disk = store.disk()
        guard !broken.contains(attribute) else {
            try refuse(.duplicateValues, [step], disk)
            return report.count("refused duplicates")
        }
        try store.open(schema, disk, [step]).close()
        try expectSame(store.content(disk.image).world, pair, "with a constraint")
        report.count("added constraints")
    }

    private mutating func refuse(
        _ code: StoreError.Code, _ steps: [MigrationStep], _ disk: SimulatedDisk
    ) throws {
        do throws(StoreError) {
            try store.open(steps[0].schema, disk, steps).close()
        } catch {
            try hold(error.code == code, "refused by \(error)")
            return try expectSame(
                store.content(disk.image).world, store.world.objects, "refused by \(code)")
        }
        throw ProofFailure("nothing was refused by \(code)")
    }

    /// A store whose records all have the newest layout migrates like one with older records.
    private mutating func checkFresh(_ pair: Pair) throws {
        let disk = SimulatedDisk(seed: random.next())
        let first = try store.open(store.schema, disk)
        try RewriteFilling.write(store.world.objects, into: first)
        try expectSame(try RewriteWorld(first), store.world.objects, "written afresh")
        try first.close()
        let database = try store.open(pair.step.schema, disk, [pair.step])
        try expectSame(try RewriteWorld(database), pair, "of a fresh store")
        try database.close()
        report.count("fresh stores")
    }

    // MARK: Chains

    /// One opening with a chain of versions gives the same as an opening for each.
    private mutating func chain() throws {
        var schema = store.schema
        var expected = store.world.objects
        var pairs: [Pair] = []
        for _ in 0...(1 + random.below(3)) {
            let pair = try pair(schema, expected)
            expected = pair.expected
            pairs.append(pair)
            schema = pair.step.schema
        }
        trace.append("chain")
        schema.forgetEarlierNames()
        // A file that already has the last version does not pass through those between.
        guard SchemaDifference.needsMigration(from: store.schema, to: schema) else { return }
        let options = random.below(2) == 0 ? store.chunked(&random) : store.options
        let (fused, single) = (store.disk(), store.disk())
        let steps = pairs.map(\.step)
        try store.open(steps[steps.count - 1].schema, fused, steps, options).close()
        var isLoose = false
        for pair in pairs {
            try store.open(pair.step.schema, single, [pair.step]).close()
            // A list whose order is unspecified may be renamed by a later step.
            isLoose = isLoose || !pair.loose.isEmpty || pair.reference.givesOrder
            let found = try store.content(single.image).world
            try expectSame(found, pair, allAreLoose: isLoose, "a step of a chain")
            report.count("pairs")
        }
        let found = try store.content(fused.image).world
        let other = try store.content(single.image).world
        try expectSame(found, other.objects, "in one opening and in several")
        try hold(found.places == other.places, "numbers differ in one opening and in several")
        let (first, second) = (try store.open(schema, fused), try store.open(schema, single))
        try hold(
            first.identities.moved == second.identities.moved,
            "moves differ in one opening and in several")
        try first.close()
        try second.close()
        try store.checkPages(fused.image)
        report.count("chains")
    }
}
