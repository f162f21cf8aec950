import Foundation
import ObjectProof
import Proof
import TestSupport
import Testing

/// A slice of `scripts/prove observe`.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ObserveProofTests {
    @Test func `observed lists equal fetches, and the reported changes lead there`() {
        let environment = ProcessInfo.processInfo.environment
        let seed =
            environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
        print("ObserveProofTests: TRELLIS_SEED=\(seed)")
        let seconds = environment["TRELLIS_LONG"].map { _ in 20.0 }
        var proof = ObserveProof(seed: seed, budget: ProofBudget(seconds: seconds))
        proof.run()
        print(proof.report.summary)
        #expect(proof.report.failure == nil)
        #expect(proof.report["changes told"] > 20)
    }
}
