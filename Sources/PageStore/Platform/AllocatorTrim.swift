import CTrellis
import Dispatch
import Synchronization

/// Returns freed memory to the system. The allocator keeps most of it otherwise: the process stays
/// as large as it ever was.
enum AllocatorTrim {
    private static let isScheduled = Atomic<Bool>(false)

    /// Trims a little later, once for many calls: who frees much often allocates it again.
    static func schedule() {
        guard !isScheduled.exchange(true, ordering: .relaxed) else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(250)) {
            isScheduled.store(false, ordering: .relaxed)
            trellis_trim_allocator()
        }
    }
}
