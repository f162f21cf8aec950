import DiskProof
import Foundation
import TestSupport

/// The program that `scripts/prove disk` traces. It ends like a killed process, without releasing
/// anything: a store that it was not told to close is left as a dead process leaves it.
@main
struct DiskProgram {
    /// Enough memory for a few hundred objects and values of some 100 KiB.
    private static let mebibytesMax = 160

    static func main() {
        // The end of a reader must not end its writer.
        signal(SIGPIPE, SIG_IGN)
        let status = DiskWorkload.main(Array(CommandLine.arguments.dropFirst()))
        guard let excess = PeakMemory.excess(over: mebibytesMax) else { _exit(status) }
        print(excess)
        fflush(nil)
        _exit(4)
    }
}
