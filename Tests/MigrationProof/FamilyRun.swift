import Dispatch
import Foundation
import ObjectGraph
import PageStore
import Primitives
import Proof
import RecordStore
import TestSupport

/// A file whose program goes from version to version of a fixed family, over the public API, by
/// random chains and mappings. Every getter, fetch, count and query gives what a migration of
/// dictionaries gives, also where the migration was cut off.
final class FamilyRun {
    static let path = "/family.trellis"

    private var random: SeededRandom
    private var image = DiskImage()
    /// The index of the version that the file has, and its objects.
    private var version: Int
    private var objects: [Int64: RewriteObject] = [:]
    private var lastUID = 0
    private let queue = DispatchQueue(label: "view")
    private(set) var report = ProofReport()
    private(set) var trace: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        version = random.below(3)
    }

    func run() throws {
        try fill()
        while version < FamilyVersion.all.count - 1 {
            let last = FamilyVersion.all.count - 1
            try follow(version + 1 + random.below(last - version))
            try fill()
        }
    }

    // MARK: Stacks

    /// A way from the file's version to a later one.
    private struct Route {
        /// The versions that the program's chain names; the later one alone without a chain.
        var versions: [Int]
        /// The mappings of each step.
        var mappings: [[RewriteMapping]?]
        var isNamed: Bool
        var options = ObjectGraph.EngineOptions()
        var isAsynchronous = false
        var allowsLoss = true

        var hasMappings: Bool { mappings.contains { $0 != nil } }
    }

    private func disk(_ image: DiskImage, records: Bool = false) -> SimulatedDisk {
        SimulatedDisk(image, seed: random.next(), records: records)
    }

    private func storage(
        _ files: any FileSystem, _ options: LocalStorageOptions = nil,
        _ engineOptions: ObjectGraph.EngineOptions = .init(),
        _ providers: [any SchemaMappingProvider] = []
    ) -> LocalStore {
        var engineOptions = engineOptions
        engineOptions.pageSizeInBytes = 4096
        engineOptions.cacheSizeInBytes = 256 << 10
        return LocalStore(
            fileURL: URL(fileURLWithPath: Self.path), files: ProgramFiles(base: files),
            migrationMappingProviders: providers, localStorageOptions: options,
            engineOptions: engineOptions)
    }

    private func stack(_ versions: [Int], isChain: Bool) -> DataStack {
        let schemas = versions.map { FamilyVersion.all[$0].schema }
        let chain = MigrationChain(isChain ? schemas.map(\.modelVersion) : [])
        return DataStack(
            schemaHistory: SchemaHistory(
                allSchema: schemas, migrationChain: chain,
                exactCurrentModelVersion: schemas.last?.modelVersion),
            viewContext: .queue(queue))
    }

    /// Runs a program of one version on the file.
    private func open<Result>(
        _ files: any FileSystem, _ version: Int, isReadOnly: Bool = false,
        _ body: (DataStack) throws -> Result
    ) throws -> Result {
        let stack = stack([version], isChain: false)
        var options = ObjectGraph.EngineOptions()
        options.isReadOnly = isReadOnly
        try stack.addStorageAndWait(storage(files, nil, options))
        do {
            let result = try body(stack)
            try stack.close()
            return result
        } catch {
            try? stack.close()
            throw error
        }
    }

    /// Runs the program that migrates the file.
    private func migrate(_ files: any FileSystem, _ route: Route) throws {
        let from = version
        let steps = zip([from] + route.versions, route.versions + [from])
        let stack = stack(
            route.isNamed ? [from] + route.versions : route.versions, isChain: route.isNamed)
        let providers = zip(steps, route.mappings).compactMap { step, mappings in
            mappings.map { mappings in
                CustomSchemaMappingProvider(
                    from: FamilyVersion.all[step.0].schema.modelVersion,
                    to: FamilyVersion.all[step.1].schema.modelVersion,
                    entityMappings: Set(mappings.map(\.custom)))
            }
        }
        var options: LocalStorageOptions = .allowSynchronousLightweightMigration
        if route.allowsLoss { options.insert(.allowDataLoss) }
        let storage = storage(files, options, route.options, providers)
        if route.isAsynchronous || route.hasMappings {
            let done = DispatchSemaphore(value: 0)
            let failure = Mutex<CoreStoreError?>(nil)
            _ = stack.addStorage(storage) { result in
                if case .failure(let error) = result { failure.withLock { $0 = error } }
                done.signal()
            }
            done.wait()
            if let error = failure.withLock({ $0 }) { throw error }
        } else {
            try stack.addStorageAndWait(storage)
        }
        try stack.close()
    }

    // MARK: Content

    private func fill() throws {
        trace.append("fill")
        let disk = disk(image)
        let family = FamilyVersion.all[version]
        try open(disk, version) { stack in
            try stack.perform(synchronous: { transaction in
                var pool: [any FamilyObject] = []
                for entity in family.entities {
                    for _ in 0..<(1 + random.below(6)) {
                        lastUID += 1
                        let object = entity.create(transaction)
                        object.fill(lastUID, &random)
                        pool.append(object)
                    }
                }
                // Objects that have come by migrations get the newest layout, and links.
                for entity in family.entities {
                    for object in try entity.read(transaction).sorted(by: { $0.uid < $1.uid })
                    where object.uid <= lastUID - pool.count && random.below(3) == 0 {
                        if random.below(2) == 0 { object.fill(object.uid, &random) }
                        pool.append(object)
                    }
                }
                for object in pool { object.link(FamilyPool(objects: pool), &random) }
            })
        }
        image = disk.image
        objects = try content(image, version)
    }

    /// The content of a file of a version, once its queries agree with it.
    private func content(_ image: DiskImage, _ version: Int) throws -> [Int64: RewriteObject] {
        let family = FamilyVersion.all[version]
        let model = family.model
        return try open(disk(image), version, isReadOnly: random.below(2) == 0) { stack in
            try stack.read { view in
                var objects: [Int64: RewriteObject] = [:]
                for entity in family.entities {
                    for object in try entity.read(view) {
                        objects[Int64(object.uid)] = Self.content(object, entity.name, model)
                    }
                }
                for entity in family.entities { try entity.check(view, objects, model, &random) }
                report.count("objects read", objects.count)
                return objects
            }
        }
    }

    private static func content(
        _ object: any FamilyObject, _ name: String, _ model: SchemaDescription
    ) -> RewriteObject {
        var content = RewriteObject(entityName: name, values: object.content)
        let linked = object.linked
        for relationship in model.relationships(of: name) {
            let uids = (linked[relationship.name] ?? []).map { Int64($0.uid) }
            content.links[relationship.name] =
                relationship.kind == .toManyOrdered ? uids : uids.sorted()
        }
        return content
    }

    // MARK: One pair

    /// What a route makes of the objects.
    private struct Expected {
        var objects: [Int64: RewriteObject]
        /// The lists whose order is unspecified.
        var loose: [Int64: Set<String>] = [:]
        var isLossy = false
    }

    /// A random way to a version, and what it makes of the objects; nil if a to-one would lead to
    /// two of them.
    private func route(_ end: Int) -> (Route, Expected)? {
        let isNamed = random.below(3) > 0
        let between = (version + 1..<end).filter { _ in isNamed && random.below(3) > 0 }
        var route = Route(versions: between + [end], mappings: [], isNamed: isNamed)
        var expected = Expected(objects: objects)
        var from = version
        for next in route.versions {
            let (old, new) = (FamilyVersion.all[from].model, FamilyVersion.all[next].model)
            let mappings = random.below(3) == 0 ? mappings(old, new) : nil
            var reference = RewriteReference(from: old, to: new, mappings)
            reference.initialValues = [
                "stamp": .int(Int64(FamilyValue.stamp)), "seal": .int(Int64(FamilyValue.seal)),
            ]
            guard let (made, loose) = reference.migrated(expected.objects) else { return nil }
            if mappings == nil, reference.isLossy(expected.objects) { expected.isLossy = true }
            expected.objects = made
            expected.loose.merge(loose) { $0.union($1) }
            route.mappings.append(mappings)
            from = next
        }
        if random.below(2) == 0 { route.options.migrationChunkRowsMax = 1 + random.below(8) }
        route.isAsynchronous = random.below(2) == 0
        return (route, expected)
    }

    private func mappings(
        _ old: SchemaDescription, _ new: SchemaDescription
    ) -> [RewriteMapping] {
        let names = new.attributes(of: "Item").map(\.name)
        let splits = RewriteTransform.splits(text: "name", first: "first", second: "second")
        let transforms =
            names.contains("first") && !old.attributes(of: "Item").contains { $0.name == "first" }
            ? [splits, splits, .dropsThirds] : [.copy, .dropsThirds]
        return [
            .transform(
                from: "Item", to: "Item", transforms[random.below(transforms.count)])
        ]
    }

    private func follow(_ end: Int) throws {
        // No version has a to-one in the place of a to-many.
        let (route, expected) = try known(route(end))
        let names = route.versions.map { FamilyVersion.all[$0].schema.modelVersion }
        trace.append(
            "from F\(version + 1) to \(names), \(route.mappings), named: \(route.isNamed), "
                + "chunks of \(route.options.migrationChunkRowsMax ?? 0)")
        try checkRefusals(route, expected)
        switch random.below(3) {
        case 0: try cut(route, expected)
        case 1: try interrupt(route, expected)
        default: break
        }
        let disk = disk(image)
        try migrate(disk, route)
        let isNew = try judge(disk.image, route, expected, "migrated")
        try hold(isNew, "the migration has ended without the later model")
        image = disk.image
        version = end
        objects = try content(image, version)
        report.count("pairs")
        report.count("object pairs")
        if route.versions.count > 1 { report.count("object chains") }
    }

    private func expectSame(
        _ found: [Int64: RewriteObject], _ expected: Expected, _ what: String
    ) throws {
        var (found, objects) = (found, expected.objects)
        for name in Set(expected.loose.values.joined()) {
            for uid in objects.keys {
                found[uid]?.links[name]?.sort()
                objects[uid]?.links[name]?.sort()
            }
        }
        guard let difference = RewriteWorld.difference(found, objects) else { return }
        throw ProofFailure("\(what): \(difference)")
    }

    /// Compares what the programs of both versions find in a file, and returns whether it has the
    /// later model.
    private func judge(
        _ image: DiskImage, _ route: Route, _ expected: Expected, _ what: String
    ) throws -> Bool {
        let database = try RecordDatabase.openReadOnly(path: Self.path, files: disk(image))
        let schema = database.schema.description
        try database.close()
        let end = route.versions[route.versions.count - 1]
        let isNew = !SchemaDifference.needsMigration(
            from: schema, to: FamilyVersion.all[end].model)
        let found = try content(image, isNew ? end : version)
        try expectSame(found, isNew ? expected : Expected(objects: objects), what)
        guard isNew, random.below(4) == 0 else { return isNew }
        do {
            try open(disk(image), version) { _ in }
        } catch is CoreStoreError {
            report.count("older programs refused")
            return isNew
        }
        throw ProofFailure("\(what): the program of F\(version + 1) opens the file")
    }

    private func checkRefusals(_ route: Route, _ expected: Expected) throws {
        // A program that names the versions permits the loss.
        guard expected.isLossy, !route.isNamed, !route.hasMappings else { return }
        var careful = route
        careful.allowsLoss = false
        let disk = disk(image)
        do {
            try migrate(disk, careful)
        } catch let error as CoreStoreError {
            try hold(error.storeError?.code == .schemaMismatch, "a loss is refused by \(error)")
            let isNew = try judge(disk.image, route, expected, "after a refused loss")
            try hold(!isNew, "a refused migration was done")
            report.count("object losses refused")
            return
        }
        throw ProofFailure("a loss was not refused")
    }

    // MARK: Ends before the end

    private func resume(_ image: DiskImage, _ route: Route, _ expected: Expected) throws {
        let disk = disk(image)
        if random.below(4) == 0, try !judge(image, route, expected, "before the older program") {
            try open(disk, version) { _ in }
        }
        try migrate(disk, route)
        let isNew = try judge(disk.image, route, expected, "resumed")
        try hold(isNew, "a resumed migration has not ended")
        report.count("object migrations resumed")
    }

    private func cut(_ route: Route, _ expected: Expected) throws {
        let disk = disk(image, records: true)
        try migrate(disk, route)
        let effects = disk.effects
        var medium = PowerCut(image, seed: random.next())
        let chosen = random.below(effects.count)
        for effect in effects.prefix(chosen) { medium.complete(effect) }
        for cut in medium.sample(running: effects[chosen], &random) {
            let what = "a cut in call \(chosen), \(effects[chosen].name), \(cut.name)"
            trace.append(what)
            report.count("object cuts")
            _ = try judge(cut.disk, route, expected, what)
            try resume(cut.disk, route, expected)
        }
    }

    private func interrupt(_ route: Route, _ expected: Expected) throws {
        let whole = FaultInjector(disk(image), nil)
        try migrate(whole, route)
        var fault = FaultInjector.Fault(
            call: 1 + random.below(whole.changeCount), kind: .error, goesOn: true)
        if random.below(2) == 0 {
            fault.kind = FaultKind.allCases[random.below(FaultKind.allCases.count)]
            fault.goesOn = random.below(3) == 0
            if fault.kind == .unreadable { fault.call = 1 + random.below(whole.readCount) }
        }
        let what = "\(fault.kind.rawValue) at call \(fault.call), \(fault.goesOn ? "on" : "once")"
        trace.append(what)
        let disk = disk(image)
        do {
            try migrate(FaultInjector(disk, fault), route)
        } catch let error as CoreStoreError {
            try hold(error.storeError != nil, "\(what): \(error)")
        }
        report.count(fault.kind == .error && fault.goesOn ? "object kills" : "object faults")
        _ = try judge(disk.image, route, expected, what)
        try resume(disk.image, route, expected)
    }
}
