import Foundation
import PageStore
import Proof
import Synchronization
import Testing

/// Slices of the proofs that `scripts/prove faults`, `model` and `interleave` run in full.
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

    @Test func `readers see whole commits in whatever order threads go on`() {
        var proof = InterleavingProof(seed: Self.seed, budget: Self.budget)
        proof.run()
        print(proof.report.summary)
        #expect(proof.report.failure == nil)
        #expect(proof.report["runs"] > 5)
    }

    /// All wait for each other: what a weave is to find must not hang it.
    @Test func `threads that wait for each other are told of`() {
        let weave = Weave(ThreadPool())
        let gates = [NSObject(), NSObject()].map(ObjectIdentifier.init)
        let hasEnded = weave.run(
            gates.map { gate in ("one", { weave.wait(at: gate) { false } }) })
        #expect(!hasEnded)
        #expect(weave.failure?.contains("wait for each other") == true)
    }

    @Test func `every order of two threads with three meetings each is tried once`() {
        var prefix: [Int]? = []
        var orders: Set<[Int]> = []
        var count = 0
        let threads = ThreadPool()
        while let current = prefix {
            let weave = Weave(threads, prefix: current)
            let order = Mutex<[Int]>([])
            let hasEnded = weave.run(
                (0..<2).map { strand in
                    (
                        "\(strand)",
                        {
                            for _ in 0..<3 {
                                weave.meet(.gate)
                                order.withLock { $0.append(strand) }
                            }
                        }
                    )
                })
            #expect(hasEnded)
            orders.insert(order.withLock { $0 })
            count += 1
            prefix = Weave.prefix(after: weave.choices, interruptionsMax: 100)
        }
        // The ways to lay three steps among six, and those who stop before their first step.
        #expect(orders.count == 20)
        #expect(count >= 20)
    }
}
