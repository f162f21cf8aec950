import Foundation
import ObjectProof
import Proof

/// Runs one proof for as long as it is told and prints what it tried: `scripts/prove`.
@main
struct Prove {
    private static let proofs: [String: any StoreProof.Type] = [
        "crash": CrashProof.self, "damage": DamageProof.self, "faults": FaultProof.self,
        "model": ModelProof.self, "interleave": InterleavingProof.self, "objects": ObjectProof.self,
        "observe": ObserveProof.self,
    ]

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
            print(
                "usage: Prove crash|faults|damage|model|interleave|objects|observe "
                    + "[--minutes N] [--seed S]")
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
        guard let type = Self.proofs[kind] else { return nil }
        var proof = type.init(seed: seed, budget: ProofBudget(seconds: minutes.map { $0 * 60 }))
        proof.run()
        return proof.report
    }
}
