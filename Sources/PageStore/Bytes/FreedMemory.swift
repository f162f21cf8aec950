import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Gives memory back to the system that was freed. The allocator keeps most of it otherwise: the
/// process stays as large as it ever was.
enum FreedMemory {
    private typealias Trim = @convention(c) (Int) -> Int32

    private static let isPlanned = Atomic<Bool>(false)
    /// Only some C libraries have it, and their Swift modules do not show it.
    private static let trim: Trim? = {
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return nil }
        // Safety: `int malloc_trim(size_t)`, wherever a library has a function of that name.
        return unsafe unsafeBitCast(symbol, to: Trim.self)
    }()

    /// Does it a little later, once for many calls: whoever frees much often takes it again.
    static func returnSoon() {
        guard !isPlanned.exchange(true, ordering: .relaxed) else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(250)) {
            isPlanned.store(false, ordering: .relaxed)
            _ = trim?(0)
        }
    }
}
