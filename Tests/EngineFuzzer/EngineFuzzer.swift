import Foundation
import FuzzTargets
import ObjectProof

/// libFuzzer's own loop, which calls back with one input after the other.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Looks for inputs that trap, hang or mislead the library, led by the code that they reach:
/// `scripts/fuzz`. `TRELLIS_FUZZ_TARGET` names the target.
@main
struct EngineFuzzer {
    // libFuzzer calls back on the one thread that runs it.
    nonisolated(unsafe) private static let target: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["TRELLIS_FUZZ_TARGET"] ?? ""
        guard let kind = FuzzTarget.Kind(rawValue: name) else {
            fatalError("TRELLIS_FUZZ_TARGET names no target: “\(name)”")
        }
        do {
            return try FuzzTarget(kind)
        } catch {
            fatalError("the stores to change cannot be made: \(error)")
        }
    }()

    static func main() {
        QuietLogger.install()
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(
            runFuzzer(&count, &arguments) { start, count in
                let input = Array(UnsafeBufferPointer(start: start, count: count))
                do {
                    _ = try EngineFuzzer.target.run(input)
                } catch {
                    fatalError("\(error)")
                }
                return 0
            })
    }
}
