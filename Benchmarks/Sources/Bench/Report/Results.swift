import Foundation

/// What all rounds of one size gave.
struct Results {
    var options: Options
    var rounds: [[Measurement]]

    /// The workloads that were measured, in the order of the run.
    var workloads: [String] {
        var seen: Set<String> = []
        return (rounds.first ?? []).map(\.workload).filter { seen.insert($0).inserted }
    }

    /// The median over the rounds of a contender's figure; nil when it did not take part.
    func median(
        _ workload: String, _ contender: String, _ figure: (Measurement) -> Double
    ) -> Double? {
        Self.median(rounds.compactMap { row($0, workload, contender).map(figure) })
    }

    /// The median over the rounds of the ratio of two contenders' figures within a round.
    func ratio(
        _ workload: String, _ contender: String, to peer: String,
        _ figure: (Measurement) -> Double
    ) -> Double? {
        Self.median(
            rounds.compactMap { round in
                guard let own = row(round, workload, contender).map(figure),
                    let other = row(round, workload, peer).map(figure), other > 0
                else { return nil }
                return own / other
            })
    }

    func row(_ round: [Measurement], _ workload: String, _ name: String) -> Measurement? {
        round.first { $0.workload == workload && $0.contender == name }
    }

    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// CPU and wall time of all, a line for each workload and contender.
    func table() -> String {
        var lines = [
            "| | contender | wall µs/op | CPU µs/op | written MB | peak MiB | file MiB |",
            "|---|---|--:|--:|--:|--:|--:|",
        ]
        for workload in workloads {
            for name in options.names {
                guard let wall = median(workload, name, { $0.wallPerOperation * 1e6 }),
                    let cpu = median(workload, name, { $0.cpuPerOperation * 1e6 }),
                    let written = median(workload, name, { Double($0.bytesWritten) / 1e6 }),
                    let peak = median(workload, name, { Double($0.peakResidentBytes) / 1_048_576 }),
                    let file = median(workload, name, { Double($0.fileBytes) / 1_048_576 })
                else { continue }
                lines.append(
                    "| \(workload) | \(name) | \(Figure.text(wall)) | \(Figure.text(cpu)) | "
                        + "\(Figure.text(written)) | \(Figure.text(peak)) | "
                        + "\(Figure.text(file)) |")
            }
        }
        return lines.joined(separator: "\n")
    }

    func json() throws -> Data {
        struct Document: Encodable {
            var persons: Int
            var cacheSizeInBytes: Int
            var rounds: [[Measurement]]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(
            Document(
                persons: options.persons, cacheSizeInBytes: options.cacheSizeInBytes,
                rounds: rounds))
    }
}

/// Numbers as tables show them.
enum Figure {
    /// Three digits that mean something.
    static func text(_ value: Double) -> String {
        guard value != 0, value.isFinite else { return "0" }
        let digits = max(0, 2 - Int(log10(abs(value)).rounded(.down)))
        return String(format: "%.\(min(digits, 4))f", value)
    }
}
