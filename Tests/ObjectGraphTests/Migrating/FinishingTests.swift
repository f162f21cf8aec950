import Foundation
import ObjectGraph
import PageStore
import Proof
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// A closure finishes a step of a migration in the commit that makes its version the file's.
@Suite struct FinishingTests {
    private let towns = Towns()

    private func filled() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: 1)
        try towns.fill(disk)
        return disk
    }

    private struct Refusal: Error {}

    private func failure(
        _ disk: SimulatedDisk, _ second: Towns.Finishing?, _ third: Towns.Finishing?
    ) async -> CoreStoreError? {
        do {
            try await towns.migrate(disk, second, third)
            return nil
        } catch {
            return error as? CoreStoreError
        }
    }

    // MARK: Results

    @Test(arguments: [nil, 2])
    func `closures finish the steps of a chain`(chunkRows: Int?) async throws {
        var towns = towns
        towns.options.migrationChunkRowsMax = chunkRows
        let disk = try filled()
        try await towns.migrate(disk)
        #expect(try towns.found(disk.image, "migrated") == "V3")
        #expect(try towns.unfinishedTrees(disk.image) == [])
    }

    @Test func `objects of a closure have the next numbers, and so have later ones`() async throws {
        let disk = try filled()
        try await towns.migrate(disk)
        let stack = Towns.stack(Towns.third)
        try stack.addStorageAndWait(
            LocalStore(fileURL: Towns.url, files: disk, engineOptions: towns.options))
        let paths = try stack.perform { transaction in
            try transaction.fetchAll(From<Towns.V3.Town>()).map { town in
                town.objectID().uriRepresentation().lastPathComponent
            } + [
                transaction.create(Into<Towns.V3.Town>()).objectID().uriRepresentation()
                    .lastPathComponent
            ]
        }
        #expect(paths == ["p1", "p2", "p3"])
        try stack.close()
    }

    @Test func `a step with a closure is one of the program's own`() async throws {
        let disk = try filled()
        let stack = Towns.stack(Towns.third)
        let storage = towns.storage(
            disk, Towns.makingTowns, nil, .allowSynchronousLightweightMigration)
        #expect(
            try stack.requiredMigrationsForStorage(storage) == [
                .heavyweight(sourceVersion: "V1", destinationVersion: "V2"),
                .heavyweight(sourceVersion: "V2", destinationVersion: "V3"),
            ])
        let refused = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(storage)
        }
        guard case .asynchronousMigrationRequired? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try towns.found(disk.image, "refused") == "V1")
    }

    @Test func `a closure changes more objects than memory holds`() async throws {
        var towns = towns
        towns.options.changedBytesMax = 1 << 12
        let disk = try filled()
        try await towns.migrate(disk) { transaction in
            try Towns.makingTowns(transaction)
            for number in 0..<2000 {
                transaction.create(Into<Towns.V2.Town>()).name = "T\(number)"
            }
            #expect(try transaction.fetchCount(From<Towns.V2.Town>()) == 2002)
            let even = try transaction.fetchOne(From<Towns.V2.Town>().where(\.$name == "Even"))
            #expect(even?.people.count == 4)
            try transaction.deleteAll(
                From<Towns.V2.Town>().where(\.$name != "Even" && \.$name != "Odd"))
        }
        #expect(try towns.found(disk.image, "migrated") == "V3")
    }

    @Test func `a closure sees committed values of the migrated objects`() async throws {
        let disk = try filled()
        try await towns.migrate(disk) { transaction in
            let person = try transaction.fetchOne(From<Towns.V2.Person>().where(\.$name == "P1"))
            person?.townName = "Elsewhere"
            #expect(try transaction.fetchCount(From<Towns.V2.Person>()) == Towns.personCount)
            person?.refreshAsFault()
            #expect(person?.townName == "Odd")
            try Towns.makingTowns(transaction)
        }
        #expect(try towns.found(disk.image, "migrated") == "V3")
    }

    // MARK: Failures

    @Test func `an error of a closure leaves the version before its step`() async throws {
        for (step, version) in [(2, "V1"), (3, "V2")] {
            let disk = try filled()
            let failing: Towns.Finishing = { transaction in
                try (step == 2 ? Towns.makingTowns : Towns.measuring)(transaction)
                throw Refusal()
            }
            let error = await failure(
                disk, step == 2 ? failing : Towns.makingTowns,
                step == 3 ? failing : Towns.measuring)
            guard case .userError(let cause)? = error, cause is Refusal else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(try towns.found(disk.image, "step \(step)") == version)
            #expect(try towns.unfinishedTrees(disk.image) == [])
            // The version is no later one for its own program.
            let stack = Towns.stack(version == "V1" ? Towns.first : Towns.second)
            try stack.addStorageAndWait(
                LocalStore(fileURL: Towns.url, files: disk, engineOptions: towns.options))
            try stack.close()
            try await towns.migrate(disk)
            #expect(try towns.found(disk.image, "again") == "V3")
        }
    }

    @Test func `an error of the library and a cancelled transaction are passed on`() async throws {
        let disk = try filled()
        let url = Towns.url
        let errors: [CoreStoreError] = [
            .userCancelled, .differentStorageExistsAtURL(existingPersistentStoreURL: url),
        ]
        for error in errors {
            let thrown = await failure(disk, { _ in throw error }, nil)
            #expect(thrown == error)
        }
        #expect(await failure(disk, { try $0.cancel() }, nil) == .userCancelled)
        #expect(try towns.found(disk.image, "refused") == "V1")
    }

    @Test func `a closure that breaks a unique constraint leaves the earlier version`() async throws
    {
        let disk = try filled()
        let error = await failure(
            disk,
            { transaction in
                for _ in 1...2 { transaction.create(Into<Towns.V2.Town>()).name = "Odd" }
            }, nil)
        #expect(error?.violations.isEmpty == false, "\(String(describing: error))")
        #expect(try towns.found(disk.image, "refused") == "V1")
        #expect(try towns.unfinishedTrees(disk.image) == [])
    }

    /// The progress of a migration, for its own mapping.
    private final class Begun: @unchecked Sendable {
        private let condition = NSCondition()
        private var progress: Progress?

        func set(_ progress: Progress) {
            condition.lock()
            self.progress = progress
            condition.broadcast()
            condition.unlock()
        }

        func wait() -> Progress {
            condition.lock()
            defer { condition.unlock() }
            while true {
                if let progress { return progress }
                condition.wait()
            }
        }
    }

    @Test func `a migration that was cancelled does not call its closure`() async throws {
        let disk = try filled()
        let begun = Begun()
        let provider = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person", destinationEntity: "Person",
                    transformer: { source, create in
                        begun.wait().cancel()
                        try CustomSchemaMappingProvider.CustomMapping.inferredTransformation(
                            source, create)
                    })
            ], finishing: { _ in Issue.record("the closure was called") })
        let stack = Towns.stack(Towns.second, viewContext: .queue(DispatchQueue(label: "towns")))
        let storage = LocalStore(
            fileURL: Towns.url, files: disk, migrationMappingProviders: [provider],
            engineOptions: towns.options)
        let (results, continuation) = AsyncStream<MigrationResult>.makeStream()
        let progress = try stack.upgradeStorageIfNeeded(storage) { continuation.yield($0) }
        begun.set(try #require(progress))
        for await result in results {
            #expect(throws: CoreStoreError.userCancelled) { try result.get() }
            break
        }
        #expect(try towns.found(disk.image, "cancelled") == "V1")
        #expect(try towns.unfinishedTrees(disk.image) == [])
    }

    @Test func `names that leave no room for a copy refuse a closure before anything is written`()
        throws
    {
        let files = MemoryFileSystem()
        let name = String(repeating: "E", count: 50)
        var options = RecordStore.EngineOptions()
        (options.pageSizeInBytes, options.unitSizeInBytes) = (512, 64)
        func schema(_ version: String, _ type: AttributeType) -> SchemaDescription {
            SchemaDescription(version: version, [EntityDescription(name, required: ["size": type])])
        }
        try RecordDatabase.open(
            .file("store"), schema: schema("V1", .int32), options: options, files: files
        ).close()
        var step = MigrationStep(schema("V2", .double), mappings: [])
        step.finishing = { _, _ in Issue.record("the closure was called") }
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(
                .file("store"), schema: step.schema, options: options, files: files,
                route: { _ in [step] })
        }
        #expect(error?.code == .tooLarge)
    }

    // MARK: Crashes

    /// A file is of a version with all that its closure did, or of the one before, and a later run
    /// completes it.
    @Test(arguments: [nil, 3])
    func `each cut leaves a version with its closure's work`(chunkRows: Int?) async throws {
        var towns = towns
        towns.options.migrationChunkRowsMax = chunkRows
        let start = try filled().image
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try await towns.migrate(disk)
        var medium = PowerCut(start, seed: 3)
        var seen: [String] = []
        for (call, effect) in disk.effects.enumerated() {
            guard Sweep.takes(call) || disk.effects.count - call < 12 else {
                medium.complete(effect)
                continue
            }
            var images: [PowerCut.Image] = []
            medium.forEachImage(running: effect) { images.append($0) }
            for image in images {
                let place = "call \(call), \(effect.name), \(image.name)"
                let version = try towns.found(image.disk, place)
                guard image.name == "none" else { continue }
                #expect(version >= seen.last ?? version, "\(place)")
                if seen.last != version { seen.append(version) }
                let next = SimulatedDisk(image.disk, seed: 4)
                try await towns.migrate(next)
                #expect(try towns.found(next.image, place) == "V3")
                // An upgrade does not open a file that has the model; the next writer drops them.
                guard version != "V3" else { continue }
                #expect(try towns.unfinishedTrees(next.image) == [], "\(place)")
            }
            medium.complete(effect)
        }
        #expect(seen == ["V1", "V2", "V3"])
    }

    @Test func `a failed write under a closure leaves a version with its closure's work`()
        async throws
    {
        let start = try filled().image
        var (call, isReached) = (1, true)
        while isReached {
            let disk = SimulatedDisk(start, seed: 5)
            let faults = FaultInjector(
                disk, FaultInjector.Fault(call: call, kind: .error, goesOn: true))
            try? await towns.migrate(faults)
            isReached = faults.changeCount >= call
            _ = try towns.found(disk.image, "call \(call)")
            try await towns.migrate(disk)
            #expect(try towns.found(disk.image, "call \(call), again") == "V3")
            call += Sweep.step
        }
        #expect(call > 20)
    }
}
