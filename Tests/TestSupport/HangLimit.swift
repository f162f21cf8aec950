#if TRELLIS_THREAD_CHECK
    /// After how many minutes a test hangs for certain. ThreadSanitizer makes all tests a multiple
    /// slower, and those that wait share two threads with those that compute.
    public let hangMinutes = 30
#else
    /// After how many minutes a test hangs for certain. The time that a test waits for one of two
    /// threads counts: on a busy machine that was up to 13 minutes.
    public let hangMinutes = 20
#endif
