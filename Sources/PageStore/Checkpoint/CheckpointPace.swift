import Dispatch

/// How a checkpoint shares its time with commits.
struct CheckpointPace {
    private static let slice = Duration.milliseconds(4)

    private var start = ContinuousClock.now

    /// The time since the last rest, once it is worth one.
    func workedSinceRest() -> Duration? {
        let worked = ContinuousClock.now - start
        return worked >= Self.slice ? worked : nil
    }

    mutating func rest(for duration: Duration) {
        let nanoseconds = Int(duration / .nanoseconds(1))
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(nanoseconds))
        start = .now
    }
}
