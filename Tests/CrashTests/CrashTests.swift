import Proof
import Testing

/// A slice of the proof that `scripts/prove crash` runs in full.
@Suite struct CrashTests {
    @Test func `a power cut at any moment leaves a commit, whole`() {
        ProofSlice.run(CrashProof.self, "recoveries", above: 100, seconds: 6)
    }
}
