import Foundation
import ObjectProof
import Proof
import Testing

/// Slices of `scripts/prove objects` and `scripts/prove object-files`.
@Suite struct ObjectProofTests {
    @Test func `objects and query answers equal those of the model`() {
        run(ObjectProof.self, seconds: 8) { proof in
            proof.failure ?? (proof.report["steps"] > 500 ? nil : "no more than 500 steps")
        }
    }

    /// The file's proof takes more than a slice to try all that it must.
    @Test func `stacks under a schedule and files that lie show no wrong answer`() {
        #if DEBUG
            let counts = ["woven power cuts", "judged lies"]
        #else
            let counts = ["woven orders", "woven power cuts", "judged lies"]
        #endif
        run(ObjectFileProof.self, seconds: 12) { proof in
            counts.first { proof.report[$0] < 5 }.map { "not five \($0)" }
        }
    }

    /// - Parameter missing: what the proof has not done: a busy machine that got too little done
    ///   has more time.
    private func run<Proof: StoreProof>(
        _ type: Proof.Type, seconds: Double, _ missing: (Proof) -> String?
    ) {
        let environment = ProcessInfo.processInfo.environment
        let seed =
            environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
        print("ObjectProofTests: TRELLIS_SEED=\(seed)")
        var left: String?
        for seconds in [seconds, 60, 120] {
            var proof = Proof(seed: seed, budget: ProofBudget(seconds: seconds))
            proof.run()
            print(proof.report.summary)
            #expect(proof.report.failure == nil)
            if proof.report.failure != nil { return }
            left = missing(proof)
            if left == nil { return }
        }
        Issue.record("\(left ?? "nothing") in minutes")
    }
}
