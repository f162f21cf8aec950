import Foundation
import Proof

/// libFuzzer's own loop, which calls back with one input after the other.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Looks for files that trap, hang or mislead the engine, led by what code they reach:
/// `scripts/fuzz`. What it found is kept in `Corpus` and tried again by `FuzzTests`.
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
