import Foundation

/// The curves of a sustained run as a page with its chart.
struct SustainedReport {
    var points: [[SustainedPoint]]
    var stage: Stage

    private static let colours = ["#e8590c", "#f59f00", "#1c7ed6", "#868e96", "#b197fc"]
    private static let width = 700.0
    private static let height = 150.0

    func write(to folder: String) throws {
        let charts = URL(fileURLWithPath: folder + "/charts")
        try FileManager.default.createDirectory(at: charts, withIntermediateDirectories: true)
        try Data(svg().utf8).write(to: charts.appendingPathComponent("sustained.svg"))
        try Data(markdown().utf8).write(to: URL(fileURLWithPath: folder + "/SUSTAINED.md"))
    }

    // MARK: Table

    func markdown() -> String {
        var text = """
            # Small durable commits for minutes

            Written by `scripts/bench --sustained SECONDS`: \(stage.persons) persons, a cache of \
            \(stage.cacheSizeInMiB) MiB, commits of \
            \(SustainedWork<TrellisContender>.updateCount) random updates of an indexed attribute, \
            one after the other, each durable. First and last are the first and the last quarter \
            of the run: where they are alike, the curve has levelled off. In \
            `trellis-checkpointing` one explicit checkpoint follows the other on a thread of its \
            own, so that all commits meet one.

            \(Machine.description())

            | contender | commits/s first | last | p50 µs first | last | p99 µs first | last | \
            longest µs | KiB written a commit | file MiB first | last |
            |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|

            """
        for curve in points { text += row(curve) }
        return text + "\n![The curves](charts/sustained.svg)\n"
    }

    private func row(_ curve: [SustainedPoint]) -> String {
        guard let name = curve.first?.contender, let end = curve.last else { return "" }
        let quarter = max(curve.count / 4, 1)
        let parts = [Array(curve.prefix(quarter)), Array(curve.suffix(quarter))]
        func pair(_ figure: (SustainedPoint) -> Double) -> String {
            parts.map { part in
                String(format: "%.0f", Stage.median(part.map(figure)) ?? 0)
            }.joined(separator: " | ")
        }
        let commits = curve.reduce(0) { $0 + $1.commits }
        let longest = curve.map(\.longestMicroseconds).max() ?? 0
        let written = Double(end.bytesWritten) / 1024 / Double(max(commits, 1))
        return "| \(name) | \(pair { Double($0.commits) }) | \(pair(\.p50Microseconds)) | "
            + "\(pair(\.p99Microseconds)) | \(String(format: "%.0f", longest)) | "
            + "\(String(format: "%.1f", written)) | "
            + "\(pair { Double($0.fileBytes) / 1_048_576 }) |\n"
    }

    // MARK: Chart

    func svg() -> String {
        let panels: [(title: String, figure: (SustainedPoint) -> Double)] = [
            ("commits a second", { Double($0.commits) }),
            ("MiB written, in all", { Double($0.bytesWritten) / 1_048_576 }),
            ("file, MiB", { Double($0.fileBytes) / 1_048_576 }),
            ("p99 of a commit, µs (cut at 20,000)", { min($0.p99Microseconds, 20_000) }),
        ]
        let total = Int(Double(panels.count) * (Self.height + 40) + 30)
        var body = ""
        for (index, curve) in points.enumerated() {
            let left = 4 + index * 130
            body +=
                "<rect x=\"\(left)\" y=\"6\" width=\"10\" height=\"10\" "
                + "fill=\"\(Self.colours[index % Self.colours.count])\"/>"
                + "<text x=\"\(left + 14)\" y=\"15\">\(curve.first?.contender ?? "")</text>\n"
        }
        for (index, panel) in panels.enumerated() {
            body += self.panel(
                panel.title, panel.figure, top: 40 + Double(index) * (Self.height + 40))
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(total)" width="760" \
            height="\(total)" role="img" aria-label="Small durable commits for minutes">
            <style>
            text { font: 11px system-ui, sans-serif; fill: #495057 }
            @media (prefers-color-scheme: dark) { text { fill: #ced4da } }
            </style>
            \(body)</svg>

            """
    }

    private func panel(
        _ title: String, _ figure: (SustainedPoint) -> Double, top: Double
    ) -> String {
        let most = max(points.joined().map(figure).max() ?? 1, 1)
        let seconds = Double(max(points.map(\.count).max() ?? 1, 2))
        var text =
            "<text x=\"4\" y=\"\(top)\">\(title); the top is \(Figure.text(most))</text>\n"
            + "<line x1=\"4\" y1=\"\(top + 8 + Self.height)\" x2=\"\(4 + Self.width)\" "
            + "y2=\"\(top + 8 + Self.height)\" stroke=\"#868e96\"/>\n"
        for (index, curve) in points.enumerated() {
            let places = curve.map { point in
                let x = 4 + Double(point.second - 1) / (seconds - 1) * Self.width
                let y = top + 8 + Self.height * (1 - figure(point) / most)
                return String(format: "%.1f,%.1f", x, y)
            }
            text +=
                "<polyline fill=\"none\" stroke-width=\"1.5\" "
                + "stroke=\"\(Self.colours[index % Self.colours.count])\" "
                + "points=\"\(places.joined(separator: " "))\"/>\n"
        }
        return text
    }
}
