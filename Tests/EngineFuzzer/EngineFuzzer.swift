import Foundation
import Proof

/// libFuzzer's own loop, which calls back with one input after the other.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Searches for files that trap, hang or mislead the engine, guided by code coverage:
/// `scripts/fuzz`. Inputs that it found are kept in `Corpus` and repeated by `FuzzTests`.
@main
struct EngineFuzzer {
    private static let store: FuzzedStore = {
        do {
            return try FuzzedStore()
        } catch {
            fatalError("the stores to change cannot be made: \(error)")
        }
    }()

    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(
            runFuzzer(&count, &arguments) { start, count in
                let input = Array(UnsafeBufferPointer(start: start, count: count))
                do {
                    try EngineFuzzer.store.run(input)
                } catch {
                    fatalError("\(error)")
                }
                return 0
            })
    }
}
