#if TRELLIS_THREAD_CHECK
    import RecordStore

    /// The one that ThreadSanitizer sees.
    typealias Mutex = CheckedMutex
#endif
