import Foundation
import Proof
import Testing

/// Runs a proof for a while with a fresh seed or that of the environment. `scripts/prove` runs it
/// for as long as one likes.
enum ProofSlice {
    /// - Parameters:
    ///   - count: what the proof counts, of which a slice must have more than `least`: a busy
    ///     machine that got nowhere has more time.
    ///   - seconds: how long a slice takes.
    static func run(
        _ proof: (some StoreProof).Type, _ count: String, above least: Int, seconds: Double
    ) {
        let environment = ProcessInfo.processInfo.environment
        let seed =
            environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
        for seconds in [seconds, 60, 120] {
            var proof = proof.init(seed: seed, budget: ProofBudget(seconds: seconds))
            proof.run()
            let report = proof.report
            print(report.summary)
            #expect(report.failure == nil)
            if report.failure != nil || report[count] > least { return }
        }
        Issue.record("no more than \(least) \(count) in minutes")
    }
}
