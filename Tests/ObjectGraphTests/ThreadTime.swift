import Foundation

/// The processor time of a piece of work, independent of other load.
enum ThreadTime {
    /// Seconds that the calling thread has worked.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Seconds that the calling thread works on `body`, which may not suspend.
    static func of<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
        let start = now
        try body()
        return now - start
    }
}
