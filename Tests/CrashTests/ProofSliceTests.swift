import Foundation
import MigrationProof
import PageStore
import Primitives
import Proof
import TestSupport
import Testing

/// Slices of the proofs that `scripts/prove faults`, `model`, `interleave` and `migrate` run in
/// full.
@Suite struct ProofSliceTests {
    @Test func `a call that fails in any way loses no acknowledged commit`() {
        ProofSlice.run(FaultProof.self, "errors", above: 20, seconds: 3)
    }

    @Test func `stores with all kinds of options equal a dictionary`() {
        ProofSlice.run(ModelProof.self, "steps", above: 50, seconds: 3)
    }

    @Test func `readers see whole commits in whatever order threads go on`() {
        ProofSlice.run(InterleavingProof.self, "runs", above: 5, seconds: 3)
    }

    @Test func `files follow random models as dictionaries do, and go on where they were cut off`()
    {
        ProofSlice.run(MigrationProof.self, "pairs", above: 15, seconds: 5)
    }

    @Test(.timeLimit(.minutes(hangMinutes)))
    func `a proof printed nothing until its end`() async throws {
        let progress = ProofProgress()
        #expect(progress.line.hasSuffix(" s: 0 failures"))
        progress.note("steps", 3)
        progress.note("steps")
        progress.note("failures")
        #expect(progress.line.hasSuffix(" s: 1 failures, 4 steps"))
        // Other proofs of this process may count beside it.
        let (lines, sink) = AsyncStream<String>.makeStream()
        let running = ProofProgress.begin("test", every: 0.01) { sink.yield($0) }
        defer { running.end() }
        var (part, whole) = (ProofReport(), ProofReport())
        part.count("steps of the test", 3)
        part.fail("it fails")
        whole.add(part)
        for await line in lines where line.contains("3 steps of the test") {
            #expect(line.hasPrefix("test: after "))
            #expect(try #require(line.firstMatch(of: /: (\d+) failures/)).1 != "0")
            break
        }
    }

    private struct IdleProof: StoreProof {
        static let requiredCounts = ["images", "recoveries"]
        var report = ProofReport()

        init(seed: UInt64, budget: ProofBudget) {}
        mutating func run() { report.count("images") }
    }

    @Test func `a proof that has tried nothing fails`() {
        var proof = IdleProof(seed: 1, budget: ProofBudget(seconds: 1))
        #expect(proof.failure == "nothing was tried: no images, no recoveries")
        proof.run()
        #expect(proof.failure == "nothing was tried: no recoveries")
        #expect(proof.obstacle == proof.failure)
        proof.report.count("recoveries")
        #expect(proof.failure == nil)
        proof.report.stop("there is no program")
        #expect(proof.failure == "there is no program")
        #expect(proof.obstacle == "there is no program")
        // A found failure is reported even if counts are missing.
        proof.report.fail("seed 1")
        #expect(proof.failure == "seed 1")
        #expect(proof.obstacle == nil)
    }

    /// All threads wait for each other: the weave must find that and not hang.
    @Test func `a deadlock of threads is reported`() {
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
        // The number of ways to place three steps among six, including threads that stop before
        // their first step.
        #expect(orders.count == 20)
        #expect(count >= 20)
    }
}
