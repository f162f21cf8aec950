import Foundation

/// Some contenders at one size with one cache: what a run has one or several of.
struct Stage: Codable {
    var persons: Int
    var cacheSizeInMiB: Int
    var contenders: [String]
    var rounds: [[Measurement]] = []

    var cacheSizeInBytes: Int { cacheSizeInMiB << 20 }

    /// Everything that the project promises figures for.
    static var full: [Stage] {
        let all = Entry.all.map(\.name)
        let main = ["trellis", "lmdb", "sqlite-full"]
        return [
            Stage(persons: 10_000, cacheSizeInMiB: 64, contenders: all),
            Stage(persons: 100_000, cacheSizeInMiB: 64, contenders: all),
            Stage(persons: 1_000_000, cacheSizeInMiB: 64, contenders: main),
            Stage(persons: 1_000_000, cacheSizeInMiB: 512, contenders: main),
        ]
    }

    /// The workloads that were measured, in the order of the run.
    var workloads: [String] {
        var seen: Set<String> = []
        // Of a contender that ran all of them: the dictionary leaves some out.
        let first = (rounds.first ?? []).filter { $0.contender == contenders.first }
        return first.map(\.workload).filter { seen.insert($0).inserted }
    }

    /// The median over the rounds of a contender's figure; nil when it did not take part.
    func median(
        _ workload: String, _ contender: String, _ figure: (Measurement) -> Double
    ) -> Double? {
        Self.median(rounds.compactMap { row($0, workload, contender).map(figure) })
    }

    /// The median over the rounds of the ratio of two figures within a round.
    func ratio(
        _ own: (workload: String, contender: String),
        to other: (workload: String, contender: String),
        _ figure: (Measurement) -> Double
    ) -> Double? {
        Self.median(
            rounds.compactMap { round in
                guard let above = row(round, own.workload, own.contender).map(figure),
                    let below = row(round, other.workload, other.contender).map(figure), below > 0
                else { return nil }
                return above / below
            })
    }

    private func row(
        _ round: [Measurement], _ workload: String, _ name: String
    ) -> Measurement? {
        round.first { $0.workload == workload && $0.contender == name }
    }

    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// What a run gave, as it is kept in a file.
struct Document: Codable {
    var machine: String
    var versions: String
    /// The commit that was measured.
    var commit: String?
    /// The greatest load average that was seen after a round: how busy the machine was.
    var loadAverageMax: Double?
    var stages: [Stage]

    /// Adds the rounds of a stage to those of the same size and cache.
    mutating func add(_ stage: Stage) {
        let same = stages.firstIndex {
            $0.persons == stage.persons && $0.cacheSizeInMiB == stage.cacheSizeInMiB
        }
        if let same {
            stages[same].rounds += stage.rounds
        } else {
            stages.append(stage)
        }
    }
}
