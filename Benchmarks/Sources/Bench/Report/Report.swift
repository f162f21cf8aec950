import Foundation

/// Writes what a run gave as Markdown.
struct Report {
    var document: Document
    /// Why rows miss their targets, by their names: written by people from profiles.
    var reasons: [String: String] = [:]

    func markdown() -> String {
        var parts = [introduction()]
        for stage in document.stages {
            parts.append("## " + title(stage))
            parts.append(targets(stage))
            let missed = missedRows(stage)
            if !missed.isEmpty { parts.append(missed) }
        }
        parts.append(memory())
        parts.append(growth())
        for stage in document.stages {
            parts.append("## Bytes written and memory, " + title(stage))
            for figure in [Figure.written, .peak] {
                parts.append("### \(figure.rawValue)")
                parts.append(Self.table(stage, figure))
            }
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    private func title(_ stage: Stage) -> String {
        "\(Self.grouped(stage.persons)) persons, cache of \(stage.cacheSizeInMiB) MiB"
    }

    private func introduction() -> String {
        """
        # Speed, measured beside the peers

        Written by `./scripts/bench`; do not edit. \(document.machine). \(document.versions).
        \(circumstances())

        One process for each contender and round; who starts rotates. Ratios are taken within a
        round, and all figures are medians over the rounds. What every contender read and stored is
        compared by a checksum over every column of every object before any time is. Durability,
        uniqueness and foreign keys are the same for all but `sqlite-normal` (may lose the last
        commits in a power cut) and `dictionary` (keeps nothing). CPU is user and system time of
        all threads, per operation, and it ends with the bytes written when what was written is
        where it stays: checkpoints count. Wall time ends when the last commit is durable. Peak
        memory is what was resident, mapped pages of files included. Inputs are made while the
        clocks stand. Every contender hands over Swift values.

        ![CPU time per operation](charts/cpu-100000.svg)
        """
    }

    private func circumstances() -> String {
        var text = document.commit.map { "Commit \($0)." } ?? ""
        let rounds = document.stages.map { "\($0.rounds.count) at \(title($0))" }
        text += " Rounds: " + rounds.joined(separator: "; ") + "."
        if let load = document.loadAverageMax, load > 3 {
            text +=
                " **Other programs kept the processors busy meanwhile (load average up to "
                + "\(Figure.text(load))): ratios of CPU time are rough, wall "
                + "times and the rows made of them (W2, W2b, W12, W13) say little.**"
        }
        return text
    }

    // MARK: Targets

    private func targets(_ stage: Stage) -> String {
        let shown = ["trellis", "lmdb", "sqlite-full", "sqlite-tuned", "grdb", "grdb-fast"]
            .filter(stage.contenders.contains)
        var lines = [
            "| | work | unit | " + shown.joined(separator: " | ") + " | ratio | target | met |",
            "|---|---|---|" + shown.map { _ in "--:|" }.joined() + "--:|---|---|",
        ]
        for target in Target.all {
            guard let ratio = target.ratio(in: stage) else { continue }
            let figures = shown.map {
                Figure.text(stage.median(target.workload, $0, target.figure.value))
            }
            lines.append(
                "| \(target.name) | \(target.work) | \(target.figure.rawValue) | "
                    + figures.joined(separator: " | ")
                    + " | \(Figure.text(ratio)) | \(target.text) | "
                    + "\(ratio <= target.ratioMax ? "yes" : "**no**") |")
        }
        if let line = bytesOfSmallTransactions(stage, shown) { lines.append(line) }
        return lines.joined(separator: "\n")
    }

    /// Twelve megabytes for two hundred transactions.
    private func bytesOfSmallTransactions(_ stage: Stage, _ shown: [String]) -> String? {
        let workload = Workload.smallTransactions.rawValue
        let perTransaction: (Measurement) -> Double = {
            Double($0.bytesWritten) / Double($0.operations) / 1e3
        }
        guard let own = stage.median(workload, "trellis", perTransaction) else { return nil }
        let figures = shown.map { Figure.text(stage.median(workload, $0, perTransaction)) }
        let ratio = stage.ratio(
            (workload, "trellis"), to: (workload, "sqlite-full"), perTransaction)
        return "| \(workload) | the same | kB written | " + figures.joined(separator: " | ")
            + " | \(Figure.text(ratio)) | ≤ 60 kB | \(own <= 60 ? "yes" : "**no**") |"
    }

    private func missedRows(_ stage: Stage) -> String {
        guard stage.persons == 100_000 else { return "" }
        var names: [String] = []
        for target in Target.all where !names.contains(target.name) {
            if let ratio = target.ratio(in: stage), ratio > target.ratioMax,
                reasons[target.name] != nil
            {
                names.append(target.name)
            }
        }
        guard !names.isEmpty else { return "" }
        return
            (["What holds these rows back, and what would lift it:", ""]
            + names.map { "- **\($0)**: \(reasons[$0] ?? "")" }).joined(separator: "\n")
    }

    // MARK: Memory and growth

    private func memory() -> String {
        var lines: [String] = []
        for stage in document.stages where stage.persons >= 1_000_000 {
            for workload in [Workload.insertPersons, .scan] {
                let name = workload.rawValue
                guard let own = stage.median(name, "trellis", Figure.peak.value),
                    let peer = stage.median(name, "sqlite-full", Figure.peak.value)
                else { continue }
                let allowed = peer + Double(stage.cacheSizeInMiB)
                lines.append(
                    "| \(title(stage)) | \(workload.title) | \(Figure.text(own)) | "
                        + "\(Figure.text(peer)) | \(Figure.text(allowed)) | "
                        + "\(own <= allowed ? "yes" : "**no**") |")
            }
        }
        guard !lines.isEmpty else { return "" }
        return """
            ## W14: peak resident memory, MiB

            | | work | trellis | sqlite-full | target: SQLite's and the cache | met |
            |---|---|--:|--:|--:|---|
            \(lines.joined(separator: "\n"))
            """
    }

    private func growth() -> String {
        let stages = document.stages.sorted {
            ($0.persons, $0.cacheSizeInMiB) < ($1.persons, $1.cacheSizeInMiB)
        }
        guard let small = stages.first, stages.count > 1 else { return "" }
        let heads: [String] = stages.dropFirst().flatMap { stage in
            ["trellis, to \(title(stage))", "lmdb", "no worse"]
        }
        let lines: [String] = [
            "## W15: growth of CPU time per operation",
            "",
            "From \(title(small)). LMDB's cache is the system's, whatever ours may hold. "
                + "No worse: at most a tenth more than LMDB's growth.",
            "",
            "| | " + heads.joined(separator: " | ") + " |",
            "|---|" + String(repeating: "--:|--:|---|", count: stages.count - 1),
        ]
        let rows = Workload.allCases.filter { $0 != .readBesideWriter }.map { workload in
            let cells = stages.dropFirst().flatMap { growth(workload, from: small, to: $0) }
            return "| \(workload.rawValue) | " + cells.joined(separator: " | ") + " |"
        }
        return (lines + rows).joined(separator: "\n")
    }

    /// By how much an operation costs more than in the small store: ours, LMDB's, and the verdict.
    private func growth(_ workload: Workload, from small: Stage, to large: Stage) -> [String] {
        let growths = ["trellis", "lmdb"].map { name -> Double? in
            guard let base = small.median(workload.rawValue, name, Figure.cpu.value),
                let cost = large.median(workload.rawValue, name, Figure.cpu.value)
            else { return nil }
            return cost / base
        }
        guard let own = growths[0], let peer = growths[1] else { return ["", "", ""] }
        return [Figure.text(own), Figure.text(peer), own <= peer * 1.1 ? "yes" : "**no**"]
    }

    // MARK: Bytes written and memory

    static func table(_ stage: Stage, _ figure: Figure) -> String {
        var lines = [
            "| | " + stage.contenders.joined(separator: " | ") + " |",
            "|---|" + stage.contenders.map { _ in "--:|" }.joined(),
        ]
        for workload in stage.workloads {
            let cells = stage.contenders.map {
                Figure.text(stage.median(workload, $0, figure.value))
            }
            lines.append("| \(workload) | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }

    private static func grouped(_ number: Int) -> String {
        var text = String(number)
        var index = text.count - 3
        while index > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: index))
            index -= 3
        }
        return text
    }
}
