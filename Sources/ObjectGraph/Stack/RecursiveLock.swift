import RecordStore
import struct Synchronization.Atomic

/// A lock that its holder may take again. Where there is a schedule it decides who waits.
final class RecursiveLock: Sendable {
    private let own = NSRecursiveLock()
    private let schedule: (any Schedule)?
    /// How often the holder has taken it; only the holder changes it.
    private let depth = Atomic<Int>(0)

    init(_ schedule: (any Schedule)?) { self.schedule = schedule }

    func lock() {
        take()
        depth.store(depth.load(ordering: .relaxed) + 1, ordering: .relaxed)
    }

    private func take() {
        guard let schedule else { return own.lock() }
        schedule.meet(.state)
        if !own.try() { schedule.wait(at: ObjectIdentifier(self)) { own.try() } }
    }

    /// - Returns: whether the caller holds it no longer.
    @discardableResult
    func unlock() -> Bool {
        let count = depth.load(ordering: .relaxed) - 1
        depth.store(count, ordering: .relaxed)
        own.unlock()
        schedule?.wake(ObjectIdentifier(self))
        return count == 0
    }
}
