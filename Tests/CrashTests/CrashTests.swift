import Foundation
import Proof
import Testing

/// A slice of the proof that `scripts/prove crash` runs in full.
@Suite struct CrashTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seconds: Double {
        if let text = environment["TRELLIS_CRASH_SECONDS"] { return Double(text) ?? 6 }
        return environment["TRELLIS_LONG"] == nil ? 6 : 60
    }

    private static var seed: UInt64 {
        environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
    }

    @Test func `a power cut at any moment leaves a commit, whole`() {
        var proof = CrashProof(seed: Self.seed, budget: ProofBudget(seconds: Self.seconds))
        proof.run()
        print(proof.report.summary)
        #expect(proof.report.failure == nil)
        #expect(proof.report["recoveries"] > 100)
    }
}
