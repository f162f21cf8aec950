import Synchronization

#if TRELLIS_THREAD_CHECK
    import Dispatch
#endif

/// A value behind a lock that is held for short.
struct Guarded<Value>: ~Copyable {
    private let mutex: Mutex<Value>
    private let place: MeetingPlace
    private let schedule: (any Schedule)?
    #if TRELLIS_THREAD_CHECK
        // ThreadSanitizer does not see what a mutex does when threads contend for it.
        private let semaphore = DispatchSemaphore(value: 1)
    #endif

    init(
        _ value: sending Value, at place: MeetingPlace = .state, _ schedule: (any Schedule)? = nil
    ) {
        mutex = Mutex(value)
        self.place = place
        self.schedule = schedule
    }

    @inline(__always)
    borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if TRELLIS_THREAD_CHECK
            semaphore.wait()
            defer { semaphore.signal() }
        #endif
        guard let schedule else { return try mutex.withLock(body) }
        schedule.enter(place)
        defer { schedule.leave() }
        return try mutex.withLock(body)
    }
}
