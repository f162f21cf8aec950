import PageStore
import Proof
import RecordStore
import TestSupport
import Testing

/// A migration that rewrites records, cut at any of its calls: the file has the old model with its
/// whole content, or the new one.
@Suite struct MigrationCutTests {
    /// In one transaction, and in chunks of a few records.
    private static let plants: [PottedPlants] = {
        var chunked = PottedPlants(objectCount: 9)
        chunked.options.migrationRowsMax = 0
        chunked.options.migrationChunkRowsMax = 8
        return [PottedPlants(), chunked]
    }()

    @Test(arguments: plants)
    func `each cut leaves the old model or the new one, and the migration is done again`(
        plants: PottedPlants
    ) throws {
        let start = try plants.storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(disk)
        var medium = PowerCut(start, seed: 3)
        var seen: Set<String> = []
        var wasNew = false
        for (call, effect) in disk.effects.enumerated() {
            // Both migrations publish with their last calls.
            guard Sweep.takes(call) || disk.effects.count - call < 12 else {
                medium.complete(effect)
                continue
            }
            try medium.forEachImage(running: effect) { image in
                let place = "call \(call), \(effect.name), \(image.name)"
                let version = try plants.found(image.disk, place)
                seen.insert(version)
                guard image.name == "none" else { return }
                #expect(version == "V2" || !wasNew, "\(place)")
                wasNew = version == "V2"
                let next = SimulatedDisk(image.disk, seed: 4)
                try plants.migrate(next)
                #expect(try plants.found(next.image, place) == "V2")
                #expect(try plants.unfinishedTrees(next.image) == [], "\(place)")
            }
            medium.complete(effect)
        }
        #expect(seen == ["V1", "V2"])
        #expect(try plants.found(medium.visible, "the end") == "V2")
    }
}
