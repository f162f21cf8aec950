import Synchronization

// Files import this module for `Mutex`, and Synchronization for atomics alone.
#if TRELLIS_THREAD_CHECK
    import Dispatch

    /// A mutex for ThreadSanitizer, which does not see that of Synchronization when threads contend
    /// for it.
    package struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
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
#else
    package typealias Mutex<Value: ~Copyable> = Synchronization.Mutex<Value>
#endif
