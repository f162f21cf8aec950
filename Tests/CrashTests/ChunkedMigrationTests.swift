import PageStore
import Primitives
import Proof
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// A migration of many records proceeds in chunks and continues after a process ended, as long as
/// it is the same migration of the same content.
@Suite struct ChunkedMigrationTests {
    private static let plants: PottedPlants = {
        var plants = PottedPlants(objectCount: 16)
        plants.options.migrationRowsMax = 0
        plants.options.migrationChunkRowsMax = 8
        plants.options.migrationDropPagesMax = 6
        return plants
    }()

    /// Mapped plants get uids that a closure makes.
    private static func mapped(
        _ map: @escaping @Sendable (SourceRecord, DestinationRecord) throws -> Void
    ) -> PottedPlants {
        var plants = plants
        plants.mappings = [
            .transform(from: "Plant", to: "Plant") { source, make in
                let plant = try make()
                for name in ["uid", "picture"] {
                    guard let value = try source.value(name), plant.set(value, for: name) else {
                        throw StoreError(.invalidArgument, "there is no \(name)")
                    }
                }
                try map(source, plant)
            }
        ]
        return plants
    }

    /// The image after each commit of a migration, while the file still has the old model, and the
    /// number of calls before it.
    private func chunks(
        _ plants: PottedPlants, _ start: DiskImage
    ) throws -> [(image: DiskImage, callCount: Int)] {
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(disk)
        var image = start
        var images: [(image: DiskImage, callCount: Int)] = []
        for (number, effect) in disk.effects.enumerated() {
            image.apply(effect)
            // A commit is in the log when its write returns.
            guard case .durableWrite = effect else { continue }
            guard try plants.found(image, "call \(number)") == "V1" else { break }
            if try !plants.unfinishedTrees(image).isEmpty { images.append((image, number + 1)) }
        }
        #expect(images.count > 10)
        return images
    }

    private func callCount(_ plants: PottedPlants, _ image: DiskImage) throws -> Int {
        let disk = SimulatedDisk(image, seed: 4, records: true)
        try plants.migrate(disk)
        #expect(try plants.found(disk.image, "at the end") == "V2")
        #expect(try plants.unfinishedTrees(disk.image) == [])
        return disk.effectCount
    }

    @Test func `a later run does only what is left`() throws {
        let plants = Self.plants
        let start = try plants.storeOfOld()
        let wholeCount = try callCount(plants, start)
        for (image, done) in try chunks(plants, start) {
            let count = try callCount(plants, image)
            // Recovery and the final checkpoint add calls.
            #expect(count < wholeCount - done + 40, "\(done) of \(wholeCount)")
        }
    }

    @Test func `an index that will be rebuilt is not copied first`() throws {
        let plants = Self.plants
        let images = try chunks(plants, plants.storeOfOld()).map(\.image)
        // The type of the indexed attribute changes.
        let name = "next/index/Pot/size"
        let hasIndex = try images.map { try plants.unfinishedTrees($0).contains(name) }
        #expect(hasIndex.first == false && hasIndex.last == true)
        #expect(hasIndex.count { $0 } < hasIndex.count / 2)
        // Records that are made are below the same key.
        #expect(try plants.unfinishedTrees(images[1]).contains("next/records/Thing"))
        // Those that move to another tree are not copied before.
        #expect(
            try images.allSatisfy { image in
                try !plants.unfinishedTrees(image).contains("next/records/Pot")
            })
    }

    @Test func `trees that a migration has replaced are deleted in pieces`() throws {
        var plants = PottedPlants(objectCount: 500)
        plants.options = Self.plants.options
        plants.options.migrationChunkRowsMax = 2000
        let start = try plants.storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(disk)
        var image = start
        var sizes: [Int] = []
        for effect in disk.effects {
            image.apply(effect)
            guard case .durableWrite = effect,
                let size = try plants.pageCount(of: "old/records/Plant", image)
            else { continue }
            sizes.append(size)
        }
        let whole = try #require(sizes.first)
        #expect(whole > 20)
        #expect(sizes.contains { $0 > 1 && $0 < whole }, "\(sizes)")
        #expect(sizes == sizes.sorted(by: >), "\(sizes)")
    }

    @Test func `a copy is discarded after a commit in between`() throws {
        let plants = Self.plants
        for (image, _) in try chunks(plants, plants.storeOfOld()) {
            let disk = SimulatedDisk(image, seed: 5)
            // A program that knows nothing of migrations changes an object.
            let engine = try Engine.open(path: "store", options: plants.options, files: disk)
            let editor = try engine.beginWrite()
            let catalog = try #require(try Catalog.open(editor))
            let schema = try catalog.resolvedSchema(editor)
            let pot = try #require(schema.entity(named: "Pot"))
            let records = try #require(try catalog.tree("records/Pot", of: editor))
            let key = RecordKey.bytes(ObjectNumber(1))
            let bytes = try #require(
                try editor.withValue(for: key.span, in: records) { $0.array() })
            var row = RowBuffer(copying: bytes.withView { RowView(checked: $0) })
            defer { row.deallocate() }
            row.setValue(.int(777), try #require(pot.field(named: "uid")))
            let changed = row.view.bytes.array()
            _ = try editor.insert(key.span, changed.span, into: records)
            try editor.commit()
            try engine.close()
            try plants.migrate(disk)
            #expect(try size(ofPot: 777, disk.image) == .double(3))
            #expect(try size(ofPot: 1, disk.image) == nil)
            #expect(try plants.unfinishedTrees(disk.image) == [])
        }
    }

    @Test func `a copy is discarded by a program with the earlier model`() throws {
        let plants = Self.plants
        for (image, _) in try chunks(plants, plants.storeOfOld()) {
            let disk = SimulatedDisk(image, seed: 5)
            try RecordDatabase.open(
                .file("store"), schema: PottedPlants.old, options: plants.options, files: disk
            ).close()
            #expect(try plants.found(disk.image, "opened") == "V1")
            #expect(try plants.unfinishedTrees(disk.image) == [])
        }
    }

    private static let other = {
        var other = PottedPlants.new
        other.modelVersion = "V3"
        other.entities[1].attributes.append(.required("colour", .string, default: .string("red")))
        return other
    }()

    @Test func `a copy is discarded for another plan`() throws {
        let (plants, other) = (Self.plants, Self.other)
        for (image, _) in try chunks(plants, plants.storeOfOld()) {
            let disk = SimulatedDisk(image, seed: 5)
            try RecordDatabase.open(
                .file("store"), schema: other, options: plants.options, files: disk
            ).close()
            #expect(try plants.found(disk.image, "V3") == "V3")
            #expect(try plants.unfinishedTrees(disk.image) == [])
        }
    }

    @Test func `a migration began over another's copy that could not be discarded`() throws {
        let plants = Self.plants
        func open(_ files: any FileSystem) throws(StoreError) {
            try RecordDatabase.open(
                .file("store"), schema: Self.other, options: plants.options, files: files
            ).close()
        }
        let images = try chunks(plants, plants.storeOfOld())
        for (image, _) in [images[images.count / 3], images[images.count - 1]] {
            var (call, isReached) = (1, true)
            while isReached {
                let disk = SimulatedDisk(image, seed: 5)
                let faults = FaultInjector(
                    disk, FaultInjector.Fault(call: call, kind: .unreadable, goesOn: false))
                do throws(StoreError) {
                    try open(faults)
                } catch {
                    #expect([.io, .poisoned].contains(error.code), "read \(call): \(error)")
                }
                isReached = faults.readCount >= call
                _ = try plants.found(disk.image, "read \(call)")
                try open(disk)
                #expect(try plants.found(disk.image, "read \(call), again") == "V3")
                #expect(try plants.unfinishedTrees(disk.image) == [], "read \(call)")
                call += Sweep.step
            }
            #expect(call > 50)
        }
    }

    // MARK: States that lie

    /// Changes the saved state of the migration, as the newest commit.
    private func rewrite(
        _ image: DiskImage, _ change: (inout MigrationState) -> Void
    ) throws -> SimulatedDisk {
        let disk = SimulatedDisk(image, seed: 5)
        let engine = try Engine.open(path: "store", options: Self.plants.options, files: disk)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        var state = try #require(try catalog.migration(editor))
        change(&state)
        state.commitNumber = editor.nextCommitNumber
        try catalog.setMigration(state, in: editor)
        try editor.commit()
        try engine.close()
        return disk
    }

    @Test func `a state with more passes than the plan made an unfinished copy current`() throws {
        let plants = Self.plants
        for (image, _) in try chunks(plants, plants.storeOfOld()) {
            let disk = try rewrite(image) { $0.passCount = 1 << 31 }
            let error = #expect(throws: StoreError.self) { try plants.migrate(disk) }
            #expect(error?.code == .corrupt)
            #expect(try plants.found(disk.image, "refused") == "V1")
            try plants.migrate(disk)
            #expect(try plants.found(disk.image, "again") == "V2")
            #expect(try plants.unfinishedTrees(disk.image) == [])
        }
    }

    @Test func `a state with as many records as there are numbers ended the program`() throws {
        let plants = Self.plants
        for (image, _) in try chunks(plants, plants.storeOfOld()) {
            let disk = try rewrite(image) { $0.doneCount = .max }
            try plants.migrate(disk)
            #expect(try plants.found(disk.image, "done") == "V2")
        }
    }

    // MARK: Closures

    /// A disk with the identity of a program.
    private struct ProgramDisk: ForwardingFileSystem {
        let base: any FileSystem
        let program: UInt64

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }
        func programIdentity() -> UInt64 { program }
    }

    /// Zero stands for a program without identity, which may be any program.
    @Test(arguments: [(1, 1), (1, 2), (0, 0)] as [(UInt64, UInt64)])
    func `a migration continues with a closure's values only for the same program`(
        first: UInt64, next: UInt64
    ) throws {
        let calls = Mutex(0)
        let plants = Self.mapped { _, _ in calls.withLock { $0 += 1 } }
        let start = try plants.storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(ProgramDisk(base: disk, program: first))
        #expect(calls.withLock { $0 } == plants.objectCount)
        // The last image before the switch, in which every plant was mapped.
        var image = start
        var last = start
        for effect in disk.effects {
            image.apply(effect)
            guard case .durableWrite = effect else { continue }
            guard try plants.found(image, "before") == "V1" else { break }
            last = image
        }
        calls.withLock { $0 = 0 }
        let resumed = SimulatedDisk(last, seed: 4)
        try plants.migrate(ProgramDisk(base: resumed, program: next))
        #expect(calls.withLock { $0 } == (first == 1 && next == 1 ? 0 : plants.objectCount))
        #expect(try plants.found(resumed.image, "resumed") == "V2")
    }

    @Test func `a closure that throws at any object leaves the old model, and no copy`() throws {
        struct Refusal: Error {}
        let calls = Mutex(0)
        let count = Self.plants.objectCount
        let plants = Self.mapped { _, _ in
            let left = calls.withLock { calls in
                calls -= 1
                return calls
            }
            if left == 0 { throw Refusal() }
        }
        let start = try plants.storeOfOld()
        for call in 1...count {
            calls.withLock { $0 = call }
            let disk = SimulatedDisk(start, seed: 5)
            #expect(throws: StoreError.self) { try plants.migrate(disk) }
            #expect(try plants.found(disk.image, "call \(call)") == "V1")
            #expect(try plants.unfinishedTrees(disk.image) == [])
        }
    }

    // MARK: Ends of other kinds

    @Test func `a migration that is cancelled at any chunk leaves the old model, and no copy`()
        throws
    {
        let plants = Self.plants
        let start = try plants.storeOfOld()
        var end = 1
        while true {
            let leftCount = Mutex(end)
            let control = MigrationControl { _, doneCount, totalCount in
                #expect(doneCount >= 0 && doneCount <= totalCount)
                return leftCount.withLock { count in
                    count -= 1
                    return count > 0
                }
            }
            let disk = SimulatedDisk(start, seed: 5)
            do throws(StoreError) {
                try plants.migrate(disk, control)
            } catch {
                try #require(control.isCancelled, "\(error)")
                #expect(try plants.found(disk.image, "report \(end)") == "V1")
                #expect(try plants.unfinishedTrees(disk.image) == [], "report \(end)")
                end += 1
                continue
            }
            #expect(try plants.found(disk.image, "the end") == "V2")
            break
        }
        #expect(end > 10)
    }

    @Test(arguments: [FaultKind.diskFull, .error, .unreadable, .forgottenSync])
    func `a fault at any call leaves one of the models, whole`(kind: FaultKind) throws {
        let plants = Self.plants
        let start = try plants.storeOfOld()
        var fullCount = 0
        for goesOn in [false, true] {
            var call = 1
            var isReached = true
            while isReached {
                let place = "\(kind.rawValue) at call \(call), \(goesOn)"
                let disk = SimulatedDisk(start, seed: 5)
                let faults = FaultInjector(
                    disk, FaultInjector.Fault(call: call, kind: kind, goesOn: goesOn))
                do throws(StoreError) {
                    try plants.migrate(faults)
                } catch {
                    // A failed sync reports no more than that.
                    let codes: Set<StoreError.Code> = [.io, .commitUncertain, .poisoned]
                    let isFull = kind == .diskFull && error.code == .diskFull
                    #expect(isFull || codes.contains(error.code), "\(place): \(error)")
                    if isFull, !goesOn {
                        #expect(try plants.unfinishedTrees(disk.image) == [], "\(place)")
                    }
                    fullCount += isFull ? 1 : 0
                }
                isReached =
                    (kind == .unreadable ? faults.readCount : faults.changeCount) >= call
                _ = try plants.found(disk.image, place)
                try plants.migrate(disk)
                #expect(try plants.found(disk.image, place) == "V2")
                #expect(try plants.unfinishedTrees(disk.image) == [], "\(place)")
                call += (goesOn ? 7 : 1) * Sweep.step
            }
            #expect(call > 50)
        }
        #expect((fullCount > 0) == (kind == .diskFull))
    }

    /// A bug: tree names may be as long as a key, and then there is no room for the prefix `next/`.
    @Test func `a migration of many records failed where names are long`() throws {
        // The key is `tree/records/` and the name, of 64 bytes at most.
        let name = String(repeating: "E", count: 50)
        func schema(_ version: String, _ type: AttributeType) -> SchemaDescription {
            SchemaDescription(version: version, [EntityDescription(name, required: ["size": type])])
        }
        let files = MemoryFileSystem()
        var options = Self.plants.options
        options.migrationRowsMax = 1
        func open(_ schema: SchemaDescription) throws -> RecordDatabase {
            try RecordDatabase.open(
                .file("store"), schema: schema, options: options, files: files)
        }
        let database = try open(schema("V1", .int32))
        let entity = try #require(database.schema.entity(named: name))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for size in 1...20 {
            var row = entity.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(size)), try #require(entity.field(named: "size")))
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        let migrated = try open(schema("V2", .double))
        let reader = try migrated.snapshot()
        #expect(reader.check() == [])
        let later = try #require(migrated.schema.entity(named: name))
        #expect(try reader.recordCount(of: later) == 20)
        try migrated.close()
    }

    private func size(ofPot uid: Int64, _ image: DiskImage) throws -> Value? {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.plants.options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let pot = try #require(database.schema.entity(named: "Pot"))
        let pots = reader.recordCursor(pot.hierarchy)
        while try pots.next() {
            let row = try pots.row()
            guard row.entityTag == pot.tag,
                try reader.value(try #require(pot.field(named: "uid")), of: row) == .int(uid)
            else { continue }
            return try reader.value(try #require(pot.field(named: "size")), of: row)
        }
        return nil
    }
}
