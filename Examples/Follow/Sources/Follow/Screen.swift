import ObjectGraph

/// Shows a list that another process changes.
@MainActor final class Screen {
    private let isTerminal = isatty(1) == 1
    private let begin = ContinuousClock.now
    private var lastLine = ContinuousClock.now
    private var changeCount = 0
    private var counts = (inserted: 0, deleted: 0, moved: 0, updated: 0)

    private var seconds: Double { (ContinuousClock.now - begin) / .seconds(1) }

    func show(_ change: ListChange<Country>) {
        let difference = change.difference
        changeCount += 1
        counts.inserted += difference.insertions.count
        counts.deleted += difference.deletions.count
        counts.moved += difference.moves.count
        counts.updated += difference.updates.count
        let marks = marks(difference)
        if isTerminal {
            draw(change.after, marks)
        } else if ContinuousClock.now - lastLine > .milliseconds(500) {
            lastLine = ContinuousClock.now
            print(
                text(seconds), "s:", change.after.numberOfItems, "countries in",
                change.after.numberOfSections, "sections;", summary)
        }
    }

    private var summary: String {
        "\(changeCount) changes: \(counts.inserted) came, \(counts.deleted) went, "
            + "\(counts.moved) moved, \(counts.updated) updated"
    }

    private func text(_ seconds: Double) -> String { String(format: "%4.1f", seconds) }

    private func marks(_ difference: ListSnapshot<Country>.Difference) -> [IndexPath: String] {
        var marks: [IndexPath: String] = [:]
        for path in difference.insertions { marks[path] = "+" }
        for move in difference.moves { marks[move.to] = "~" }
        return marks
    }

    /// Writes over what the terminal shows.
    private func draw(_ list: ListSnapshot<Country>, _ marks: [IndexPath: String]) {
        var lines = ["Countries by their subdivisions, after \(text(seconds)) s", ""]
        for (section, info) in list.sections().enumerated() {
            lines.append("\u{1B}[1m\(info.sectionID)\u{1B}[0m")
            for (item, country) in info.enumerated() {
                let mark = marks[IndexPath(indexes: [section, item])] ?? " "
                lines.append("\(mark) \(country.$count ?? 0)\t\(country.$name ?? "")")
            }
        }
        lines += ["", summary]
        let text = lines.map { "\u{1B}[K\($0)\n" }.joined()
        print("\u{1B}[H\(text)\u{1B}[J", terminator: "")
    }

    func end() { print("\(text(seconds)) s: \(summary)") }
}
