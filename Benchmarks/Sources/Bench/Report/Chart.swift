import Foundation

/// A bar chart: for each workload a bar for each contender, as long as its CPU time is beside the
/// slowest of the ones that share the row's scale.
struct Chart {
    var stage: Stage
    var contenders = ["trellis", "lmdb", "sqlite-tuned", "grdb"]

    /// Seen on white and on black.
    private static let colours = ["#e8590c", "#1c7ed6", "#868e96", "#b197fc"]
    private static let barHeight = 9.0
    private static let barLeft = 275.0
    private static let barWidth = 410.0
    /// Longer bars are cut: GRDB's would leave nothing of the others.
    private static let ratioMax = 4.0

    func svg() -> String {
        let shown = contenders.filter(stage.contenders.contains)
        let workloads = Workload.allCases.filter {
            $0 != .readBesideWriter && stage.median($0.rawValue, "trellis", Figure.cpu.value) != nil
        }
        let groupHeight = Double(shown.count) * (Self.barHeight + 1) + 10
        let height = Double(workloads.count) * groupHeight + 50
        var body = legend(shown)
        for (index, workload) in workloads.enumerated() {
            body += group(workload, shown, top: 44 + Double(index) * groupHeight)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(Int(height))" \
            width="760" height="\(Int(height))" role="img" \
            aria-label="CPU time per operation at \(stage.persons) persons">
            <style>
            text { font: 11px system-ui, sans-serif; fill: #7d8590 }
            .value { font-size: 9px }
            @media (prefers-color-scheme: dark) { text { fill: #adb5bd } }
            </style>
            \(body)</svg>

            """
    }

    private func legend(_ shown: [String]) -> String {
        var text =
            "<text x=\"4\" y=\"14\">CPU µs per operation, \(stage.persons) persons; "
            + "shorter is better</text>\n"
        for (index, name) in shown.enumerated() {
            let left = 4 + index * 110
            text +=
                "<rect x=\"\(left)\" y=\"22\" width=\"10\" height=\"10\" "
                + "fill=\"\(Self.colours[index])\"/>"
                + "<text x=\"\(left + 14)\" y=\"31\">\(name)</text>\n"
        }
        return text
    }

    private func group(_ workload: Workload, _ shown: [String], top: Double) -> String {
        let base =
            stage.median(workload.rawValue, "sqlite-tuned", Figure.cpu.value)
            ?? stage.median(workload.rawValue, "trellis", Figure.cpu.value) ?? 1
        let middle = top + Double(shown.count) * (Self.barHeight + 1) / 2 + 3
        var text =
            "<text x=\"4\" y=\"\(middle)\">\(workload.rawValue) \(Self.escaped(workload.title))"
            + "</text>\n"
        for (index, name) in shown.enumerated() {
            guard let value = stage.median(workload.rawValue, name, Figure.cpu.value) else {
                continue
            }
            let ratio = min(value / base, Self.ratioMax)
            let width = max(1, ratio / Self.ratioMax * Self.barWidth)
            let y = top + Double(index) * (Self.barHeight + 1)
            let mark = value / base > Self.ratioMax ? " →" : ""
            text +=
                "<rect x=\"\(Self.barLeft)\" y=\"\(y)\" width=\"\(String(format: "%.1f", width))\" "
                + "height=\"\(Self.barHeight)\" fill=\"\(Self.colours[index])\"/>"
                + "<text class=\"value\" x=\"\(String(format: "%.1f", Self.barLeft + width + 4))\" "
                + "y=\"\(y + 8)\">\(Figure.text(value))\(mark)</text>\n"
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
