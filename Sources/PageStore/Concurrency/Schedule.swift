/// Decides who goes on where threads of one store meet. Beside the file system it is the only seam
/// that tests replace; without one the system decides, and every meeting costs one comparison.
package protocol Schedule: AnyObject, Sendable {
    /// The thread is about to look at or change what threads share. Others may go on before.
    func meet(_ place: MeetingPlace)
    /// From now on until ``leave()`` the thread holds a lock: no other one goes on.
    func enter(_ place: MeetingPlace)
    func leave()
    /// Lets others go on until `attempt` succeeds. It is tried again after each ``wake(_:)``.
    func wait(at lock: ObjectIdentifier, until attempt: () -> Bool)
    func wake(_ lock: ObjectIdentifier)
    /// Begins work on a thread of its own; work that is timed begins at any time, or never.
    func begin(isTimed: Bool, _ work: @escaping @Sendable () -> Void)
}

/// A point at which threads meet.
package enum MeetingPlace: Sendable {
    /// The state that readers and the writer share.
    case state
    /// Which parts of the file are taken.
    case space
    /// A lock that is handed from thread to thread.
    case gate
    /// A file, where the tests' own makes meetings of its calls.
    case file
}
