import CTrellis
import Dispatch
import Synchronization

/// Returns freed memory to the system. The allocator keeps most of it otherwise: the process stays
/// as large as it ever was.
enum AllocatorTrim {
    private static let delay = DispatchTimeInterval.milliseconds(250)
    private static let isScheduled = Atomic<Bool>(false)
    /// Whether memory was freed since the trim that comes next was scheduled. That trim may be too
    /// early for it, so another one follows.
    private static let isRepeated = Atomic<Bool>(false)

    /// Trims a little later, and not once for each call: who frees much often allocates it again.
    static func schedule() {
        if isScheduled.exchange(true, ordering: .relaxed) {
            isRepeated.store(true, ordering: .relaxed)
            return
        }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) {
            isScheduled.store(false, ordering: .relaxed)
            trellis_trim_allocator()
            if isRepeated.exchange(false, ordering: .relaxed) { schedule() }
        }
    }
}
