import Foundation

/// What was done in a time, by one thread.
struct Work: Sendable {
    var operations = 0
    var wall = 0.0
    var cpu = 0.0

    /// Does one thing after the other until the time is over.
    static func measure(seconds: Double, _ body: (Int) throws -> Void) rethrows -> Work {
        let wallStart = clock(CLOCK_MONOTONIC)
        let cpuStart = clock(CLOCK_THREAD_CPUTIME_ID)
        var count = 0
        while clock(CLOCK_MONOTONIC) - wallStart < seconds {
            try body(count)
            count += 1
        }
        return Work(
            operations: count, wall: clock(CLOCK_MONOTONIC) - wallStart,
            cpu: clock(CLOCK_THREAD_CPUTIME_ID) - cpuStart)
    }

    private static func clock(_ id: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(id, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Commits a hundred updates at a time on a thread of its own.
final class WriterThread<Store: Contender>: @unchecked Sendable {
    private let store: Store
    private let persons: [Store.Handle]
    // The thread writes these before it signals, the caller reads them after it waited.
    private var work = Work()
    private var failure: (any Error)?

    init(store: Store, persons: [Store.Handle]) {
        self.store = store
        self.persons = persons
    }

    /// Writes for a time while the calling thread does something else.
    func run(seconds: Double, beside body: () throws -> Void) throws -> Work {
        let done = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            write(seconds)
            done.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
        let result = Result { try body() }
        done.wait()
        try result.get()
        if let failure { throw failure }
        return work
    }

    private func write(_ seconds: Double) {
        var random = SplitMix64(state: 99)
        do {
            work = try Work.measure(seconds: seconds) { _ in
                try store.update(
                    ages: (0..<100).map { _ in
                        (
                            person: persons[Int(random.next() % UInt64(persons.count))],
                            age: 18 + Int(random.next() % 73)
                        )
                    })
            }
        } catch {
            failure = error
        }
    }
}
