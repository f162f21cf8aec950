import PageStore
import Proof
import TestSupport
import Testing

@testable import RecordStore

/// Migrations that continue after a cut, and are cut again twice.
@Suite struct NestedMigrationCutTests {
    private static let plants: PottedPlants = {
        var plants = PottedPlants(objectCount: 16)
        plants.options.migrationRowsMax = 0
        plants.options.migrationChunkRowsMax = 7
        plants.options.migrationDropPagesMax = 4
        return plants
    }()

    /// A migration from a state of the medium, with all its effects.
    private func migration(_ image: DiskImage) throws -> SimulatedDisk {
        let disk = SimulatedDisk(image, seed: 2, records: true)
        try Self.plants.migrate(disk)
        return disk
    }

    /// Every state after a commit, before and after the later model becomes the file's.
    private func states(_ start: DiskImage) throws -> [DiskImage] {
        var image = start
        return try migration(start).effects.compactMap { effect in
            image.apply(effect)
            guard case .durableWrite = effect else { return nil }
            return try Self.plants.unfinishedTrees(image).isEmpty ? nil : image
        }
    }

    @Test func `a resumed migration that is cut again is whole and can be resumed`() throws {
        var random = SeededRandom(for: "NestedMigrationCutTests")
        let plants = Self.plants
        var seen: Set<String> = []
        let states = try states(plants.storeOfOld())
        #expect(states.count > 15)
        var nestedCount = 0
        for (number, state) in states.enumerated() where Sweep.takes(states.count - 1 - number) {
            let wasNew = try plants.found(state, "state \(number)") == "V2"
            var medium = PowerCut(state, seed: random.next())
            let chosen = random.below(17)
            for (call, effect) in try migration(state).effects.enumerated() {
                if call % 17 == chosen {
                    try medium.forEachImage(running: effect) { image in
                        let place =
                            "seed \(random.seed), state \(number), call \(call), \(image.name)"
                        let version = try plants.found(image.disk, place)
                        #expect(version == "V2" || !wasNew, "\(place)")
                        seen.insert(version)
                        guard image.name == "none" else { return }
                        nestedCount += 1
                        try cutAgain(image.disk, place, &random)
                    }
                }
                medium.complete(effect)
            }
        }
        #expect(seen == ["V1", "V2"])
        #expect(nestedCount > 20 / Sweep.step)
    }

    private func cutAgain(
        _ image: DiskImage, _ place: String, _ random: inout SeededRandom
    ) throws {
        let effects = try migration(image).effects
        var medium = PowerCut(image, seed: random.next())
        let end = random.below(max(1, effects.count))
        for (call, effect) in effects.enumerated() where call <= end {
            guard call == end else {
                medium.complete(effect)
                continue
            }
            try medium.forEachImage(running: effect) { next in
                let place = "\(place), then call \(call), \(next.name)"
                _ = try Self.plants.found(next.disk, place)
                guard next.name == "none" else { return }
                let disk = SimulatedDisk(next.disk, seed: 4)
                try Self.plants.migrate(disk)
                #expect(try Self.plants.found(disk.image, place) == "V2")
                #expect(try Self.plants.unfinishedTrees(disk.image) == [], "\(place)")
            }
        }
    }
}
