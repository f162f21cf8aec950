import Foundation
import TestSupport

/// A program that runs one proof for the given time and prints what it tried, and on standard error
/// each minute what it has tried so far.
package struct ProofCommand {
    private let name: String
    private let proofs: [(kind: String, type: any StoreProof.Type)]

    private var kind = ""
    private var minutes: Double?
    private var steps: Int?
    private var seed = UInt64.random(in: 1...UInt64.max)

    package init(_ name: String, _ proofs: [(kind: String, type: any StoreProof.Type)]) {
        self.name = name
        self.proofs = proofs
    }

    /// The memory limit of a proof in MiB: none retains what it has tried.
    private static let mebibytesMax = 1024

    /// Ends the process: with 1 when the proof failed, with 2 when the arguments name none, with 3
    /// when the proof could not run, or has tried nothing.
    package mutating func main() -> Never {
        guard parse(CommandLine.arguments) else {
            let kinds = proofs.map(\.kind).joined(separator: "|")
            print("usage: \(name) \(kinds) [--minutes N] [--steps N] [--seed S]")
            exit(2)
        }
        let start = ContinuousClock.now
        say("\(kind): seed \(seed)")
        guard let proof = run() else {
            let what = steps == nil ? "" : " that counts steps"
            print("there is no proof of that name\(what): \(kind)")
            exit(2)
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        let memory = PeakMemory.mebibytes.map { ", \($0) MiB at most" } ?? ""
        print("\(kind): \(proof.report.summary); \(seconds) s\(memory)")
        if let obstacle = proof.obstacle {
            print("\(kind): COULD NOT RUN: \(obstacle)")
            exit(3)
        }
        if let failure = proof.failure ?? PeakMemory.excess(over: Self.mebibytesMax) {
            print("\(kind): FAILED: \(failure)")
            exit(1)
        }
        print("\(kind): 0 failures")
        exit(0)
    }

    private mutating func parse(_ arguments: [String]) -> Bool {
        var rest = arguments.dropFirst()
        guard let kind = rest.popFirst() else { return false }
        self.kind = kind
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { return false }
            switch option {
            case "--minutes":
                guard let number = Double(value), number > 0 else { return false }
                minutes = number
            case "--steps":
                guard let number = Int(value), number > 0 else { return false }
                steps = number
            case "--seed":
                guard let number = UInt64(value) else { return false }
                seed = number
            default: return false
            }
        }
        return true
    }

    /// Prints at once, also into a pipe, so that the seed is known if the proof ends the process.
    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private func run() -> (any StoreProof)? {
        guard let type = proofs.first(where: { $0.kind == kind })?.type else { return nil }
        if steps != nil, type.stepCount == nil { return nil }
        let budget = ProofBudget(seconds: minutes.map { $0 * 60 }, steps: steps)
        var proof = type.init(seed: seed, budget: budget)
        ProofProgress.begin(kind)
        proof.run()
        return proof
    }
}

extension ProofCommand {
    /// The proofs that need only the engine.
    package static var engineProofs: [(kind: String, type: any StoreProof.Type)] {
        [
            ("crash", CrashProof.self), ("damage", DamageProof.self), ("faults", FaultProof.self),
            ("model", ModelProof.self), ("interleave", InterleavingProof.self),
        ]
    }
}
