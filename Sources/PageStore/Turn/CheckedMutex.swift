#if TRELLIS_THREAD_CHECK
    import Dispatch
    import Synchronization

    /// A mutex for ThreadSanitizer, which does not see what Synchronization's does when threads
    /// contend for it. Where it runs, each room calls this one `Mutex`.
    package struct CheckedMutex<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: Synchronization.Mutex<Value>
        private let semaphore = DispatchSemaphore(value: 1)

        package init(_ value: consuming sending Value) {
            mutex = Synchronization.Mutex(value)
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            semaphore.wait()
            defer { semaphore.signal() }
            return try mutex.withLock(body)
        }
    }

    typealias Mutex = CheckedMutex
#endif
