import Primitives

/// Catches what reading in one context reports where it cannot throw, for a caller that can.
final class FaultTrap: Sendable {
    @TaskLocal private static var current: FaultTrap?

    private let error = Mutex<CoreStoreError?>(nil)
    private let context: ObjectIdentifier?

    private init(_ context: ObjectIdentifier?) { self.context = context }

    /// Runs what reads, and throws the first error that it would have reported.
    static func run<Result>(
        in context: ObjectContext?, _ body: () -> Result
    ) throws(CoreStoreError) -> Result {
        let trap = FaultTrap(context.map { ObjectIdentifier($0) })
        let result = $current.withValue(trap, operation: body)
        if let error = trap.error.withLock({ $0 }) { throw error }
        return result
    }

    /// Whether a caller takes the error.
    static func take(
        _ error: @autoclosure () -> CoreStoreError, of context: ObjectContext?
    ) -> Bool {
        guard let trap = current, trap.context == context.map({ ObjectIdentifier($0) }) else {
            return false
        }
        trap.error.withLock { $0 = $0 ?? error() }
        return true
    }
}
