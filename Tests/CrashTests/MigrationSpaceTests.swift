import PageStore
import Primitives
import Proof
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// The space that a migration needs is forecast, and without it the migration does not begin.
@Suite struct MigrationSpaceTests {
    private final class SmallDisk: ForwardingFileSystem {
        let base: any FileSystem
        let room: UInt64
        /// The space available beyond a file of this size.
        let fileSizeInBytes: UInt64?

        init(_ base: any FileSystem, room: UInt64, besides fileSizeInBytes: UInt64? = nil) {
            (self.base, self.room) = (base, room)
            self.fileSizeInBytes = fileSizeInBytes
        }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }

        func freeBytes(at path: String) -> UInt64? {
            guard let fileSizeInBytes, let size = try? open(path, .readOnly).size() else {
                return room
            }
            return fileSizeInBytes + room - min(size, fileSizeInBytes + room)
        }
    }

    private static func plants(_ objectCount: Int, isChunked: Bool) -> PottedPlants {
        var plants = PottedPlants(objectCount: objectCount)
        plants.options.migrationRowsMax = isChunked ? 0 : 1 << 20
        plants.options.migrationChunkRowsMax = 500
        plants.options.outOfLineBytesMax = 60_000
        return plants
    }

    private func forecast(_ plants: PottedPlants, _ files: any FileSystem) throws -> SpaceForecast {
        let step = MigrationStep(PottedPlants.new)
        return try #require(
            try RecordDatabase.forecast(
                path: "store", schema: PottedPlants.new, options: plants.options, files: files
            ) { _ in [step] }
        ).space
    }

    @Test(arguments: [false, true])
    func `a migration without room for it is refused before a byte is written`(
        isChunked: Bool
    ) throws {
        let plants = Self.plants(300, isChunked: isChunked)
        let start = try plants.storeOfOld()
        let space = try forecast(plants, SmallDisk(SimulatedDisk(start, seed: 3), room: 7))
        #expect(!space.fits && space.freeBytesOnDisk == 7 && space.recordCount == 600)
        let room = space.neededBytes - space.freeBytesInFile
        let disk = SimulatedDisk(start, seed: 3)
        let error = #expect(throws: StoreError.self) {
            try plants.migrate(SmallDisk(disk, room: room - 1))
        }
        #expect(error?.code == .diskFull)
        #expect(error?.message.contains("\(space.neededBytes) bytes") == true, "\(error as Any)")
        #expect(error?.message.contains("\(room - 1) on") == true, "\(error as Any)")
        #expect(disk.image.files == start.files)
        #expect(try plants.found(disk.image, "refused") == "V1")
        try plants.migrate(SmallDisk(disk, room: room))
        #expect(try plants.found(disk.image, "with room") == "V2")
    }

    @Test func `a migration of the catalog alone needs no free space`() throws {
        let plants = Self.plants(20, isChunked: true)
        let disk = SmallDisk(SimulatedDisk(try plants.storeOfOld(), seed: 3), room: 0)
        var schema = PottedPlants.old
        schema.entities[0].attributes.append(.optional("colour", .string))
        try RecordDatabase.open(
            .file("store"), schema: schema, options: plants.options, files: disk
        ).close()
    }

    @Test func `a discarded copy leaves room for the next migration`() throws {
        let plants = Self.plants(300, isChunked: true)
        let start = try plants.storeOfOld()
        let recorded = SimulatedDisk(start, seed: 3, records: true)
        try plants.migrate(recorded)
        // The last image of the earlier model, with a whole copy beside it.
        var (image, last) = (start, start)
        for effect in recorded.effects {
            image.apply(effect)
            guard case .durableWrite = effect else { continue }
            guard try plants.found(image, "before") == "V1" else { break }
            last = image
        }
        var other = plants
        other.mappings = [.copy(from: "Pot", to: "Pot")]
        let disk = SimulatedDisk(last, seed: 4)
        let size = UInt64(try #require(last.bytes(of: "store")).count)
        let small = SmallDisk(disk, room: 100_000, besides: size)
        #expect(try !forecast(other, small).fits)
        try other.migrate(small)
        #expect(try plants.found(disk.image, "with another plan") == "V2")
    }

    @Test(arguments: [false, true])
    func `a file grows by no more than forecast`(isChunked: Bool) throws {
        let plants = Self.plants(900, isChunked: isChunked)
        let disk = SimulatedDisk(try plants.storeOfOld(), seed: 3)
        let space = try forecast(plants, disk)
        let size = { @Sendable () throws(StoreError) -> UInt64 in
            try disk.open("store", .readOnly).size()
        }
        let before = try size()
        let largest = Mutex(before)
        let control = MigrationControl { _, _, _ in
            let now = (try? size()) ?? 0
            largest.withLock { $0 = max($0, now) }
            return true
        }
        try plants.migrate(disk, control)
        let growth = max(try size(), largest.withLock { $0 }) - before
        #expect(growth <= space.neededBytes, "\(growth) of \(space.neededBytes) from \(before)")
        // The forecast must not refuse a migration that would fit.
        #expect(space.neededBytes < 4 * before, "\(space.neededBytes) for \(before)")
    }
}
