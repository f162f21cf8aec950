import DiskProof
import Foundation

/// The program that `scripts/prove disk` traces. It ends as a killed one does, without giving
/// anything back: a store that it was not told to close is as a dead process leaves it.
@main
struct DiskProgram {
    static func main() {
        // A reader that has ended is no reason for its writer to end.
        signal(SIGPIPE, SIG_IGN)
        _exit(DiskWorkload.main(Array(CommandLine.arguments.dropFirst())))
    }
}
