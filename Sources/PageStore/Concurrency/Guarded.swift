import Primitives

/// A value protected by a lock for short critical sections.
struct Guarded<Value: ~Copyable>: ~Copyable {
    private let mutex: Mutex<Value>
    private let place: MeetingPlace
    private let schedule: (any Schedule)?

    init(
        _ value: consuming sending Value, at place: MeetingPlace = .state,
        _ schedule: (any Schedule)? = nil
    ) {
        mutex = Mutex(value)
        self.place = place
        self.schedule = schedule
    }

    @inline(__always)
    borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        guard let schedule else { return try mutex.withLock(body) }
        schedule.enter(place)
        defer { schedule.leave() }
        return try mutex.withLock(body)
    }
}
