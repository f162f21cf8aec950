import Proof

/// The engine's proofs alone: `scripts/mutants` builds it anew for each broken engine, without the
/// rooms above.
@main
struct ProveEngine {
    static func main() {
        var command = ProofCommand("ProveEngine", ProofCommand.engineProofs)
        command.main()
    }
}
