import Foundation
import Proof
import Testing

/// Slices of the proofs that `scripts/prove faults` and `scripts/prove model` run in full.
@Suite struct ProofSliceTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seed: UInt64 {
        environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
    }

    private static var budget: ProofBudget {
        ProofBudget(seconds: environment["TRELLIS_LONG"] == nil ? 3 : 40)
    }

    @Test func `a call that fails in any way loses nothing that was acknowledged`() {
        var proof = FaultProof(seed: Self.seed, budget: Self.budget)
        proof.run()
        print(proof.report.summary)
        #expect(proof.report.failure == nil)
        #expect(proof.report["errors"] > 20)
    }

    @Test func `stores of every shape hold what a dictionary holds`() {
        var proof = ModelProof(seed: Self.seed, budget: Self.budget)
        proof.run()
        print(proof.report.summary)
        #expect(proof.report.failure == nil)
        #expect(proof.report["steps"] > 50)
    }
}
