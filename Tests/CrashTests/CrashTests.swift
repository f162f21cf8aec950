import Proof
import Testing

/// A slice of the proof that `scripts/prove crash` runs in full.
@Suite struct CrashTests {
    @Test func `a power cut at any moment leaves a commit, whole`() {
        ProofSlice.run("recoveries", above: 100, seconds: (6, 60)) { seed, budget in
            var proof = CrashProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        }
    }
}
