import PageStore

/// A schedule of one thread: work for which another thread is asked is done before the caller goes
/// on, or never begins, as on a system whose threads all wait.
package final class DirectSchedule: Schedule {
    private let begins: Bool

    package init(begins: Bool) { self.begins = begins }

    package func meet(_ place: MeetingPlace) {}
    package func enter(_ place: MeetingPlace) {}
    package func leave() {}
    package func wait(at lock: ObjectIdentifier, until attempt: () -> Bool) {
        while !attempt() {}
    }
    package func wake(_ lock: ObjectIdentifier) {}
    package func begin(isTimed: Bool, _ work: @escaping @Sendable () -> Void) {
        if begins { work() }
    }
}
