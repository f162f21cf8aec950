import ObjectGraph
import TestSupport
import Testing

/// Transactions that release their objects before they end.
@Suite struct LargeTransactionTests {
    private struct Script {
        var transactions: [(steps: [KnotStep], cancels: Bool)]
        var changedBytesMax: Int

        /// The first line in which a run that releases objects differs from one that does not.
        func difference() throws -> String? {
            let whole = try KnotStack(changedBytesMax: nil)
            let parts = try KnotStack(changedBytesMax: changedBytesMax)
            for (steps, cancels) in transactions {
                whole.run(steps, cancels: cancels)
                parts.run(steps, cancels: cancels)
            }
            let notes = Self.difference(whole.notes, parts.notes)
            return try notes ?? Self.difference(whole.dump(), parts.dump())
        }

        private static func difference(_ first: [String], _ second: [String]) -> String? {
            let lines = [first, second].map { $0.joined(separator: "\n").split(separator: "\n") }
            for index in 0..<max(lines[0].count, lines[1].count) {
                let pair = lines.map { $0.indices.contains(index) ? $0[index] : "nothing" }
                if pair[0] != pair[1] { return "\(pair[0])\n\(pair[1])" }
            }
            return nil
        }

        /// The script reduced to the steps that reproduce the difference.
        func shrunk() throws -> Script {
            var script = self
            for transaction in script.transactions.indices.reversed() {
                for step in script.transactions[transaction].steps.indices.reversed() {
                    var shorter = script
                    shorter.transactions[transaction].steps.remove(at: step)
                    if try shorter.difference() != nil { script = shorter }
                }
            }
            script.transactions.removeAll { $0.steps.isEmpty }
            return script
        }
    }

    @Test(arguments: 0..<12)
    func `releasing objects early changes nothing that a program can see`(round: Int) throws {
        var random = SeededRandom(for: "large transaction \(round)")
        // Half of the rounds release objects at once, the others after a few changes.
        var script = Script(transactions: [], changedBytesMax: round % 2 == 0 ? 1 : 3000)
        for _ in 0..<12 {
            let steps = (0..<(5 + random.below(60))).map { _ in KnotStep.random(&random) }
            script.transactions.append((steps, random.below(6) == 0))
        }
        guard try script.difference() != nil else { return }
        script = try script.shrunk()
        let difference = try script.difference()
        Issue.record("seed \(random.seed): \(script) \(difference ?? "")")
    }
}
