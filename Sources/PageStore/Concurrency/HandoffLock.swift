import Dispatch

/// A lock that one thread may take and another release. It guards work that changes threads: the
/// writer lock, a write of the log, a checkpoint.
final class HandoffLock: Sendable {
    private let semaphore: DispatchSemaphore
    private let schedule: (any Schedule)?

    init(isLocked: Bool = false, _ schedule: (any Schedule)?) {
        semaphore = DispatchSemaphore(value: isLocked ? 0 : 1)
        self.schedule = schedule
    }

    func lock() {
        guard let schedule else { return semaphore.wait() }
        schedule.wait(at: ObjectIdentifier(self)) { isTakenNow }
    }

    /// Takes the lock if it is free now. Returns whether it was.
    func tryLock() -> Bool {
        schedule?.meet(.gate)
        return isTakenNow
    }

    /// Takes the lock, or goes on without it after a while.
    func lock(within delay: DispatchTimeInterval) {
        // The while may be over at any moment: where there is a schedule it decides.
        if let schedule {
            schedule.meet(.gate)
            _ = isTakenNow
        } else {
            _ = semaphore.wait(timeout: .now() + delay)
        }
    }

    func unlock() {
        semaphore.signal()
        schedule?.wake(ObjectIdentifier(self))
    }

    private var isTakenNow: Bool { semaphore.wait(timeout: .now()) == .success }
}
