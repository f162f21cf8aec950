import Foundation

/// The figures of lists that follow commits, as a page.
struct ObservingReport {
    private struct Goal {
        var text: String
        /// Of our value, by its row's others.
        var isMet: (Double, [ObservingFigure]) -> Bool
    }

    var figures: [ObservingFigure]
    var persons: Int
    var commit: String?

    private static func most(_ limit: Double) -> (Double, [ObservingFigure]) -> Bool {
        { value, _ in value <= limit }
    }

    private static func share(
        _ parts: [String: Double], atMost limit: Double
    ) -> (Double, [ObservingFigure]) -> Bool {
        { value, others in
            value <= limit
                && parts.allSatisfy { name, part in
                    others.first { $0.contender == name }.map { value <= $0.value * part } ?? false
                }
        }
    }

    private static var goals: [String: Goal] {
        [
            "O1 one update that moves": Goal(
                text: "≤ 60; ≤ 1/200 of by hand, ≤ 1/1000 of GRDB",
                isMet: share(["by-hand": 1 / 200, "grdb": 1 / 1000], atMost: 60)),
            "O2 100 updates, 10 of which move": Goal(
                text: "≤ 1500; ≤ 1/20 of by hand", isMet: share(["by-hand": 1 / 20], atMost: 1500)),
            "O4 commits told to 20 equal publishers, against one": Goal(
                text: "≤ 1.3", isMet: most(1.3)),
            "O5 the executor's longest turn": Goal(text: "≤ 8", isMet: most(8)),
            "O5 the import against an unobserved one": Goal(text: "≤ 1.15", isMet: most(1.15)),
            "O6 the writer of W2b while observed": Goal(text: "≤ 1.02", isMet: most(1.02)),
            "O6 the writer of W9 while observed": Goal(text: "≤ 1.02", isMet: most(1.02)),
            "O7 memory of the list": Goal(text: "≤ 32", isMet: most(32)),
            "O7 1,000 older versions with it": Goal(text: "≤ 8", isMet: most(8)),
            "O7 first content against `fetchObjectIDs`": Goal(text: "≤ 1.15", isMet: most(1.15)),
            "O8 offset 100, limit 50: a change at the edges or inside": Goal(
                text: "≤ 80", isMet: most(80)),
            "O9 order by owner's name, an owner of 10 renamed": Goal(
                text: "≤ 400", isMet: most(400)),
            "O10 commit elsewhere to didChange, p50": Goal(text: "≤ 150", isMet: most(150)),
            "O10 the same, p99": Goal(text: "≤ 1000", isMet: most(1000)),
            "O11 a commit of another process, told": Goal(text: "≤ 5", isMet: most(5)),
        ]
    }

    func markdown() -> String {
        var text = """
            # Lists that follow commits

            Written by `scripts/bench --observing \(persons)`; do not edit. \
            \(Machine.description()). \(Machine.versions()).\(commit.map { " Commit \($0)." } ?? "")

            A list of the persons of \(ObservedList.ageMin) and more, by age and name, with the \
            ages as sections. CPU is what all threads take more for a commit when the list follows \
            it, until its observer has been told how it differs: the median of five turns with the \
            list and five without. By hand: identifiers and ages fetched again by SQLite's C API \
            and compared. GRDB: `ValueObservation` of identifiers and ages, without a comparison. \
            Both have an index of the list's order. O4 and O6 count the main thread's instructions \
            at \(ObservingCounts.persons) persons; in O6 it is the writer's. O3, O7, O8 and O11 \
            are at ten times as many persons.

            | row | work | unit | trellis | by hand | grdb | goal | met |
            |---|---|---|--:|--:|--:|---|---|

            """
        for figure in figures where figure.contender == "trellis" {
            let others = figures.filter {
                $0.row == figure.row && $0.what == figure.what && $0.contender != "trellis"
            }
            func other(_ name: String) -> String {
                Figure.text(others.first { $0.contender == name }?.value)
            }
            let goal = goal(of: figure)
            let verdict = goal.map { $0.isMet(figure.value, others) ? "yes" : "**no**" } ?? ""
            text +=
                "| \(figure.row) | \(figure.what) | \(figure.unit) | \(Figure.text(figure.value)) "
                + "| \(other("by-hand")) | \(other("grdb")) | \(goal?.text ?? "") | \(verdict) |\n"
        }
        return text
    }

    private func goal(of figure: ObservingFigure) -> Goal? {
        if figure.row == "O3" {
            let one = figures.first { $0.row == "O1" && $0.contender == "trellis" }?.value ?? 0
            return Goal(text: "≤ 2 × O1", isMet: Self.most(2 * one))
        }
        return Self.goals["\(figure.row) \(figure.what)"]
    }
}
