import Dispatch

/// Work on other threads than the caller's, at once or after a while.
struct BackgroundWork: Sendable {
    private static let queue = DispatchQueue(
        label: "trellis.checkpoint", qos: .utility, attributes: .concurrent)

    let schedule: (any Schedule)?

    func begin(
        after delay: DispatchTimeInterval? = nil, _ work: @escaping @Sendable () -> Void
    ) {
        if let schedule {
            schedule.begin(isTimed: delay != nil, work)
        } else if let delay {
            Self.queue.asyncAfter(deadline: .now() + delay, execute: work)
        } else {
            Self.queue.async(execute: work)
        }
    }

    /// Begins work for which the caller will wait.
    func beginBeside(_ work: @escaping @Sendable () -> Void) {
        if let schedule {
            schedule.begin(isTimed: false, work)
        } else {
            DispatchQueue.global(qos: .userInitiated).async(execute: work)
        }
    }
}
