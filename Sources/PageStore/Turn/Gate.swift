import Dispatch

/// Lets one thread through at a time, or holds threads back until it is opened. Whoever has gone
/// through may open it again on whatever thread.
final class Gate: Sendable {
    private let semaphore: DispatchSemaphore
    private let schedule: (any Schedule)?

    init(isOpen: Bool, _ schedule: (any Schedule)?) {
        semaphore = DispatchSemaphore(value: isOpen ? 1 : 0)
        self.schedule = schedule
    }

    /// Goes through as soon as the gate is open, and closes it.
    func pass() {
        guard let schedule else { return semaphore.wait() }
        schedule.wait(at: ObjectIdentifier(self)) { isPassedNow }
    }

    /// Goes through if the gate is open now. Returns whether it was.
    func passIfOpen() -> Bool {
        schedule?.meet(.gate)
        return isPassedNow
    }

    /// Goes through as soon as the gate is open, or goes on without after a while.
    func pass(within delay: DispatchTimeInterval) {
        // The while may be over at any moment: where there is a schedule it decides.
        if let schedule {
            schedule.meet(.gate)
            _ = isPassedNow
        } else {
            _ = semaphore.wait(timeout: .now() + delay)
        }
    }

    func open() {
        semaphore.signal()
        schedule?.wake(ObjectIdentifier(self))
    }

    private var isPassedNow: Bool { semaphore.wait(timeout: .now()) == .success }
}
