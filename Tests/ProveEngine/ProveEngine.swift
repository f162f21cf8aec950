import Proof

/// The proofs of the engine only: `scripts/mutants` builds this program for each mutant without the
/// upper rooms.
@main
struct ProveEngine {
    static func main() {
        var command = ProofCommand("ProveEngine", ProofCommand.engineProofs)
        command.main()
    }
}
