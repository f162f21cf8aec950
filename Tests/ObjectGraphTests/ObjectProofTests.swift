import Foundation
import ObjectProof
import Proof
import Testing

/// A slice of `scripts/prove objects`.
@Suite struct ObjectProofTests {
    @Test func `objects and query answers equal those of the model`() {
        let environment = ProcessInfo.processInfo.environment
        let seed =
            environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
        print("ObjectProofTests: TRELLIS_SEED=\(seed)")
        let first = environment["TRELLIS_LONG"] == nil ? 8.0 : 60
        var missing = "nothing"
        for seconds in [first, 60, 120] {
            var proof = ObjectProof(seed: seed, budget: ProofBudget(seconds: seconds))
            proof.run()
            print(proof.report.summary)
            #expect(proof.report.failure == nil)
            // A busy machine that got too little done has more time.
            if proof.report.failure != nil { return }
            if proof.failure == nil, proof.report["steps"] > 500 { return }
            missing = proof.failure ?? "no more than 500 steps"
        }
        Issue.record("\(missing) in minutes")
    }
}
