import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport
import Testing

/// A store is written into a new file before an opening changes it to follow the model.
@Suite struct MigrationBackupTests {
    private let towns = Towns()
    private static let backup = URL(fileURLWithPath: "/towns.backup")

    private func filled() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: 1)
        try towns.fill(disk)
        return disk
    }

    /// The version of the backup, as if it were in the place of the store.
    private func backupVersion(_ image: DiskImage, _ place: String) throws -> String? {
        guard let file = image.names[Self.backup.path] else { return nil }
        var restored = image
        restored.names = [Towns.url.path: file]
        return try towns.found(restored, "\(place), backup")
    }

    private func upgrade(
        _ disk: any FileSystem, _ finishing: Towns.Finishing? = Towns.makingTowns
    ) async throws -> [MigrationType] {
        let stack = Towns.stack(Towns.third, viewContext: .queue(DispatchQueue(label: "towns")))
        let storage = towns.storage(disk, finishing, Towns.measuring)
        let result: MigrationResult = await withCheckedContinuation { continuation in
            do throws(CoreStoreError) {
                try stack.upgradeStorageIfNeeded(storage, backup: Self.backup) {
                    continuation.resume(returning: $0)
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    @Test func `an upgrade of several parts writes one backup of the first version`() async throws {
        let disk = try filled()
        #expect(try await upgrade(disk).count == 2)
        #expect(try towns.found(disk.image, "upgraded") == "V3")
        #expect(try backupVersion(disk.image, "upgraded") == "V1")
        // Nothing is to be done, so that the file that is there is no obstacle.
        #expect(try await upgrade(disk) == [])
    }

    @Test func `a backup stays when the migration fails`() async throws {
        struct Refusal: Error {}
        let disk = try filled()
        await #expect(throws: CoreStoreError.self) {
            try await upgrade(disk) { _ in throw Refusal() }
        }
        #expect(try towns.found(disk.image, "failed") == "V1")
        #expect(try backupVersion(disk.image, "failed") == "V1")
    }

    @Test func `a file in the place of the backup is refused, and nothing is migrated`()
        async throws
    {
        let disk = try filled()
        let file = try disk.open(Self.backup.path, .createNew)
        file.close()
        let before = disk.image.bytes(of: Towns.url.path)
        let error = await #expect(throws: CoreStoreError.self) { try await upgrade(disk) }
        #expect(error?.storeError?.code == .invalidArgument)
        #expect(disk.image.bytes(of: Towns.url.path) == before)
        #expect(disk.image.bytes(of: Self.backup.path) == [])
    }

    @Test func `a backup goes to a file`() async throws {
        let disk = try filled()
        let stack = Towns.stack(Towns.second)
        let url = try #require(URL(string: "https://example.org/backup"))
        #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(
                LocalStore(
                    fileURL: Towns.url, files: disk, migrationBackupURL: url,
                    engineOptions: towns.options))
        }
        #expect(try towns.found(disk.image, "refused") == "V1")
    }

    /// The second version only adds, so that the catalog alone is written.
    @Test func `adding a storage writes its backup, once and only for a change`() throws {
        let disk = try filled()
        for _ in 1...2 {
            let stack = Towns.stack(Towns.second)
            try stack.addStorageAndWait(
                LocalStore(
                    fileURL: Towns.url, files: disk, migrationBackupURL: Self.backup,
                    engineOptions: towns.options))
            #expect(try stack.perform { try $0.fetchCount(From<Towns.V2.Town>()) } == 0)
            try stack.close()
            #expect(try backupVersion(disk.image, "added") == "V1")
        }
    }

    @Test func `a store that is made anew is in its backup`() throws {
        let disk = try filled()
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "other",
                entities: [Entity<Towns.V3.Town>("Town"), Entity<Towns.V3.Person>("Person")]))
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: Towns.url, files: disk,
                localStorageOptions: .recreateStoreOnModelMismatch,
                migrationBackupURL: Self.backup, engineOptions: towns.options))
        #expect(try stack.perform { try $0.fetchCount(From<Towns.V3.Person>()) } == 0)
        try stack.close()
        #expect(try backupVersion(disk.image, "made anew") == "V1")
    }

    @Test func `a cut leaves the first version or a whole backup of it`() async throws {
        let start = try filled().image
        let disk = SimulatedDisk(start, seed: 2, records: true)
        _ = try await upgrade(disk)
        var medium = PowerCut(start, seed: 3)
        var wasBackedUp = false
        for (call, effect) in disk.effects.enumerated() {
            guard Sweep.takes(call) else {
                medium.complete(effect)
                continue
            }
            var images: [PowerCut.Image] = []
            medium.forEachImage(running: effect) { images.append($0) }
            for image in images {
                let place = "call \(call), \(effect.name), \(image.name)"
                let version = try towns.found(image.disk, place)
                let backup = try backupVersion(image.disk, place)
                #expect(backup == "V1" || backup == nil && version == "V1", "\(place)")
                wasBackedUp = wasBackedUp || backup != nil && version == "V1"
            }
            medium.complete(effect)
        }
        #expect(wasBackedUp)
    }
}
