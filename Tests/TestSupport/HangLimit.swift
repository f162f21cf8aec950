#if TRELLIS_THREAD_CHECK
    /// After how many minutes a test hangs for certain. ThreadSanitizer makes all tests a multiple
    /// slower, and those that wait share two threads with those that compute.
    public let hangMinutes = 30
#else
    /// After how many minutes a test hangs for certain, on a machine that does other things too.
    public let hangMinutes = 5
#endif
