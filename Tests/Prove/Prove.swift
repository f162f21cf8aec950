import DiskProof
import MigrationProof
import ObjectProof
import Proof

/// Every proof: `scripts/prove`.
@main
struct Prove {
    static func main() {
        QuietLogger.install()
        var command = ProofCommand(
            "Prove",
            ProofCommand.engineProofs + [
                ("objects", ObjectProof.self), ("object-files", ObjectFileProof.self),
                ("observe", ObserveProof.self),
                ("disk", DiskProof.self), ("migrate", MigrationProof.self),
                ("migrate-kill", MigrationKillProof.self),
            ])
        command.main()
    }
}
