import Synchronization

/// The calls that use a file's descriptors. These are closed after the last call, because the
/// system gives a closed descriptor's number to the file that is opened next.
final class DescriptorUse: Sendable {
    /// Twice the count of calls, and one more once the file has been closed.
    private let state = Atomic<Int>(0)

    /// Before a call. False when the file has been closed.
    func begin() -> Bool {
        var known = state.load(ordering: .relaxed)
        while known & 1 == 0 {
            let exchange = state.weakCompareExchange(
                expected: known, desired: known + 2, ordering: .acquiring)
            if exchange.exchanged { return true }
            known = exchange.original
        }
        return false
    }

    /// After a call. Returns whether the descriptors are to be closed now.
    func end() -> Bool {
        state.subtract(2, ordering: .acquiringAndReleasing).newValue == 1
    }

    /// No call begins any more. Returns whether that is new.
    func close() -> Bool {
        state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue & 1 == 0
    }
}
