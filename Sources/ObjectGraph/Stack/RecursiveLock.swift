import RecordStore

/// A lock that its holder may take again. Where there is a schedule it decides who waits.
final class RecursiveLock: Sendable {
    private let own = NSRecursiveLock()
    private let schedule: (any Schedule)?

    init(_ schedule: (any Schedule)?) { self.schedule = schedule }

    func lock() {
        guard let schedule else { return own.lock() }
        schedule.meet(.state)
        if !own.try() { schedule.wait(at: ObjectIdentifier(self)) { own.try() } }
    }

    func unlock() {
        own.unlock()
        schedule?.wake(ObjectIdentifier(self))
    }
}
