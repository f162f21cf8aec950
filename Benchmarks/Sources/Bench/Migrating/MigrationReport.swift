import Foundation

/// A ratio or a count beside its goal, for which there is no peer.
struct MigrationFigure {
    var row: String
    var what: String
    var value: Double
    var unit: String
    /// The most that the design asks for; nil if it asks for nothing.
    var goal: Double?
}

/// The figures of migrations, as a page.
struct MigrationReport {
    /// What a row of the first table took: medians.
    struct Line {
        var row: MigrationRow
        /// Seconds.
        var wall: Double
        var cpu: Double
        var peerWall: Double?
        var peerCPU: Double?
        var bytesWritten: Double
        var bytesBefore: Double
        var bytesAfter: Double
        var peakBytes: Double
    }

    var lines: [Line] = []
    var figures: [MigrationFigure] = []
    let persons: Int
    let rounds: Int
    var commit: String?

    func markdown() -> String {
        var text = """
            # Migrations beside SQLite and GRDB

            Written by `scripts/bench --migrations \(rounds) --persons \(persons)`; do not edit. \
            \(Machine.description()). \(Machine.versions()).\(commit.map { " Commit \($0)." } ?? "")

            Stores of the same \(persons) persons and \(2 * persons) dogs, migrated on fresh \
            copies in turn in one process, opening included and durable at the end; SQLite with \
            `synchronous = FULL`, GRDB's `DatabaseMigrator` with a closure a row. Medians of \
            \(rounds) rounds. A goal is what the design asks for of the wall clock; one that is \
            missed is bold.

            | row | work | peer | ms | peer's ms | ratio | CPU ratio | goal | KiB written | \
            file MiB before | after | peak MiB |
            |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|

            """
        let fourth = lines.first { $0.row.name == "M4" }?.wall
        for line in lines { text += self.text(line, fourth) }
        guard !figures.isEmpty else { return text }
        text += """

            M2 counts the main thread's instructions at \(MigratedReads.persons) persons, before \
            M1 and after it, by records that nothing has written since. M8's process is killed; \
            M9's stores are opened in turn, with no page of the file in memory.

            | row | work | unit | value | goal |
            |---|---|---|--:|--:|

            """
        for figure in figures {
            let value = Figure.text(figure.value)
            let isMissed = figure.goal.map { figure.value > $0 } ?? false
            text +=
                "| \(figure.row) | \(figure.what) | \(figure.unit) | "
                + "\(isMissed ? "**\(value)**" : value) | "
                + "\(figure.goal.map { "≤ " + Figure.text($0) } ?? "") |\n"
        }
        return text
    }

    private func text(_ line: Line, _ fourth: Double?) -> String {
        func number(_ value: Double?, _ digits: Int) -> String {
            value.map { String(format: "%.\(digits)f", $0) } ?? "–"
        }
        // A row without a peer is compared with M4, which writes the persons alone.
        let other =
            line.row.peer == nil
            ? fourth.map { $0 * line.row.objectsPerPerson } : line.peerWall
        let ratio = other.map { line.wall / $0 }
        let goal = line.row.goal
        let isMissed = ratio.map { ratio in goal.map { ratio > $0 } ?? false } ?? false
        let suffix = line.row.peer == nil ? " × M4 an object" : ""
        let shown = number(ratio, 2)
        return "| \(line.row.name) | \(line.row.title) | \(line.row.peer ?? "–") | "
            + "\(number(line.wall * 1000, 1)) | \(number(line.peerWall.map { $0 * 1000 }, 1)) | "
            + "\(isMissed ? "**\(shown)**" : shown)\(ratio == nil ? "" : suffix) | "
            + "\(number(line.peerCPU.map { line.cpu / $0 }, 2)) | "
            + "\(goal.map { "≤ \(Figure.text($0))\(suffix)" } ?? "") | "
            + "\(number(line.bytesWritten / 1024, 0)) | "
            + "\(number(line.bytesBefore / 1_048_576, 1)) | "
            + "\(number(line.bytesAfter / 1_048_576, 1)) | "
            + "\(number(line.peakBytes / 1_048_576, 0)) |\n"
    }
}
