import Dispatch
import Synchronization

/// Logs once that nothing serves the main queue: a program without a main loop that leaves the
/// view on the main queue never receives a completion, and would not learn why.
package enum MainQueueWatch {
    private static let delayInMilliseconds = Atomic<Int>(5_000)
    /// How many blocks the main queue has begun.
    private static let begunCount = Atomic<Int>(0)
    private static let isArmed = Atomic<Bool>(false)
    private static let hasWarned = Atomic<Bool>(false)

    /// For tests, which do not wait for as long.
    package static func setDelay(inMilliseconds delay: Int) {
        delayInMilliseconds.store(delay, ordering: .relaxed)
    }

    /// Runs work on the main queue.
    static func run(_ work: @escaping @Sendable () -> Void) {
        arm()
        DispatchQueue.main.async {
            begunCount.wrappingAdd(1, ordering: .relaxed)
            work()
        }
    }

    /// One timer runs at a time: what is enqueued meanwhile needs none of its own.
    private static func arm() {
        guard !hasWarned.load(ordering: .relaxed),
            !isArmed.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        let count = begunCount.load(ordering: .relaxed)
        let delay = DispatchTimeInterval.milliseconds(delayInMilliseconds.load(ordering: .relaxed))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) {
            isArmed.store(false, ordering: .releasing)
            guard begunCount.load(ordering: .relaxed) == count,
                !hasWarned.exchange(true, ordering: .acquiringAndReleasing)
            else { return }
            Log.message(
                .fatal,
                "nothing serves the main queue, on which completions are called and the view "
                    + "lives: give DataStack a viewContext of your own, or run a main loop")
        }
    }
}
