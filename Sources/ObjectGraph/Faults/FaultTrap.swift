import Primitives

/// Catches what reading reports where it cannot throw, for a caller that can.
final class FaultTrap: Sendable {
    @TaskLocal private static var current: FaultTrap?

    private let error = Mutex<CoreStoreError?>(nil)

    /// Runs what reads, and throws the first error that it would have reported.
    static func run<Result>(_ body: () -> Result) throws(CoreStoreError) -> Result {
        let trap = FaultTrap()
        let result = $current.withValue(trap, operation: body)
        if let error = trap.error.withLock({ $0 }) { throw error }
        return result
    }

    /// Whether a caller takes the error.
    static func take(_ error: @autoclosure () -> CoreStoreError) -> Bool {
        guard let trap = current else { return false }
        trap.error.withLock { $0 = $0 ?? error() }
        return true
    }
}
