import DiskProof
import Foundation
import TestSupport

/// The program that `scripts/prove disk` traces. It ends as a killed one does, without giving
/// anything back: a store that it was not told to close is as a dead process leaves it.
@main
struct DiskProgram {
    /// What a few hundred objects and values of some 100 KiB may take.
    private static let mebibytesMax = 160

    static func main() {
        // A reader that has ended is no reason for its writer to end.
        signal(SIGPIPE, SIG_IGN)
        let status = DiskWorkload.main(Array(CommandLine.arguments.dropFirst()))
        guard let excess = PeakMemory.excess(over: mebibytesMax) else { _exit(status) }
        print(excess)
        fflush(nil)
        _exit(4)
    }
}
