import Foundation
import PageStore
import Primitives
import Proof
import TestSupport
import Testing

@testable import RecordStore

/// Readers beside a migration in chunks: other open files, which to the system are like other
/// processes.
@Suite struct MigrationReaderTests {
    private static let plants: PottedPlants = {
        var plants = PottedPlants(objectCount: 60)
        plants.options.migrationRowsMax = 0
        plants.options.migrationChunkRowsMax = 25
        plants.options.migrationDropPagesMax = 10
        return plants
    }()

    private static var readingOptions: Engine.Options {
        var options = plants.options
        options.mode = .reading
        // Almost nothing stays in memory, so reads come from the file.
        options.cacheSizeInBytes = 16_384
        return options
    }

    private func reader(_ path: String) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file(path), schema: PottedPlants.old, options: Self.readingOptions)
    }

    @Test func `readers have the earlier model until the later one is whole`() throws {
        let plants = Self.plants
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("migration-readers-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store").path
        let bytes = try #require(try plants.storeOfOld().bytes(of: "store"))
        try Data(bytes).write(to: URL(filePath: path))

        let early = try reader(path)
        let following = try reader(path)
        let held = try early.snapshot()
        let commits = Mutex<[Result<UInt64, StoreError>]>([])
        following.follow { result in commits.withLock { $0.append(result) } }
        let failures = Mutex<[String]>([])
        let reportCount = Mutex(0)
        let control = MigrationControl { _, doneCount, _ in
            let place = "after \(doneCount) records"
            reportCount.withLock { $0 += 1 }
            do {
                let late = try reader(path)
                let version = try plants.found(late.snapshot(), place)
                let heldVersion = try plants.found(held, place)
                let followed = try plants.found(following.snapshot(), place)
                if [version, heldVersion, followed] != ["V1", "V1", "V1"] {
                    failures.withLock { $0.append("\(place): \(version), \(followed)") }
                }
                try late.close()
            } catch {
                failures.withLock { $0.append("\(place): \(error)") }
            }
            return true
        }
        try RecordDatabase.open(
            .file(path), schema: PottedPlants.new, options: plants.options,
            route: { _ in [MigrationStep(PottedPlants.new)] }, control: control
        ).close()
        #expect(failures.withLock { $0 } == [])
        #expect(reportCount.withLock { $0 } > 10)
        // The pinned content stays; a follower is told that the model has changed.
        #expect(try plants.found(held, "afterwards") == "V1")
        let code = try awaitEnd(of: following)
        #expect(code == .schemaMismatch)
        #expect(commits.withLock { $0.count } > 0)
        try early.close()
        try following.close()
        // A program that opens the file with the earlier model now is older than the file.
        let error = #expect(throws: StoreError.self) { try reader(path) }
        #expect(error?.code == .newerModel)
    }

    /// The error that ends a following reader.
    private func awaitEnd(of database: RecordDatabase) throws -> StoreError.Code? {
        let end = ContinuousClock.now + .seconds(60 * hangMinutes)
        while ContinuousClock.now < end {
            do throws(StoreError) {
                _ = try database.snapshot()
            } catch {
                return error.code
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return nil
    }
}
