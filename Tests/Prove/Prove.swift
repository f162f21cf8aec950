import Foundation
import Proof

/// Runs one proof for as long as it is told and prints what it tried: `scripts/prove`.
@main
struct Prove {
    private var kind = ""
    private var minutes: Double?
    private var seed = UInt64.random(in: 1...UInt64.max)

    private init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        guard let kind = rest.popFirst() else { return nil }
        self.kind = kind
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch option {
            case "--minutes":
                guard let number = Double(value), number > 0 else { return nil }
                minutes = number
            case "--seed":
                guard let number = UInt64(value) else { return nil }
                seed = number
            default: return nil
            }
        }
    }

    static func main() {
        guard let proof = Prove(CommandLine.arguments) else {
            print("usage: Prove crash|faults|damage|model|interleave [--minutes N] [--seed S]")
            exit(2)
        }
        let start = ContinuousClock.now
        say("\(proof.kind): seed \(proof.seed)")
        guard let report = proof.run() else {
            print("there is no proof of that name: \(proof.kind)")
            exit(2)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print("\(proof.kind): \(report.summary); \(Int(seconds)) s")
        guard let failure = report.failure else {
            print("\(proof.kind): 0 failures")
            return
        }
        print("\(proof.kind): FAILED: \(failure)")
        exit(1)
    }

    /// At once, also into a pipe: the seed is known when the proof itself ends the process.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private func run() -> ProofReport? {
        let budget = ProofBudget(seconds: minutes.map { $0 * 60 })
        switch kind {
        case "crash":
            var proof = CrashProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        case "damage":
            var proof = DamageProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        case "faults":
            var proof = FaultProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        case "model":
            var proof = ModelProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        case "interleave":
            var proof = InterleavingProof(seed: seed, budget: budget)
            proof.run()
            return proof.report
        default: return nil
        }
    }
}
