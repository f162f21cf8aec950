import Foundation
import PageStore
import Proof
import RecordStore
import Testing

/// The samples of unfinished migrations: they read as the model that the catalog names, and the
/// next program completes them.
@Suite struct MigrationSampleTests {
    private static let names = ["copying-v1", "dropping-v1"]
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "spec/samples")

    private static let plants: PottedPlants = {
        var plants = PottedPlants(objectCount: 12)
        plants.options.migrationRowsMax = 0
        plants.options.migrationChunkRowsMax = 8
        return plants
    }()

    @Test(arguments: names)
    func `a sample with an unfinished migration is valid and can be resumed`(name: String) throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "\(name).trellis"))
        var image = DiskImage()
        image.apply(.create(path: "store", file: 1))
        image.apply(.write(file: 1, start: 0, bytes: Array(bytes)))
        let plants = Self.plants
        let version = name == "copying-v1" ? "V1" : "V2"
        #expect(try plants.found(image, name) == version)
        let prefix = name == "copying-v1" ? "next/" : "old/"
        let trees = try plants.unfinishedTrees(image)
        #expect(!trees.isEmpty && trees.allSatisfy { $0.hasPrefix(prefix) })
        let disk = SimulatedDisk(image, seed: 3)
        try plants.migrate(disk)
        #expect(try plants.found(disk.image, name) == "V2")
        #expect(try plants.unfinishedTrees(disk.image) == [])
    }

    /// Not a test: it creates the samples of a new format version in the given folder.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_MAKE_SAMPLE"] != nil))
    func `new samples are migrations that were cut`() throws {
        let path = try #require(ProcessInfo.processInfo.environment["TRELLIS_MAKE_SAMPLE"])
        let plants = Self.plants
        let start = try plants.storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(disk)
        var image = start
        var images: [String: [DiskImage]] = [:]
        for effect in disk.effects {
            image.apply(effect)
            let trees = try plants.unfinishedTrees(image)
            if trees.contains(where: { $0.hasPrefix("old/") }) {
                images["dropping-v1", default: []].append(image)
            } else if !trees.isEmpty {
                images["copying-v1", default: []].append(image)
            }
        }
        for name in Self.names {
            let found = try #require(images[name])
            // Late enough for all keys below `next/`.
            let chosen = found[found.count * 9 / 10]
            let file = try #require(chosen.names["store"].flatMap { chosen.files[$0] })
            try Data(file).write(to: URL(filePath: path + "/\(name).trellis"))
        }
    }
}
