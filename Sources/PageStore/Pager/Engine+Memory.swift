/// The budget that all pages in memory share: those of the cache, those that commits made since the
/// last checkpoint, and the private copies of the transaction that runs.
extension Engine {
    /// How much must be freed at once before the system gets it back.
    private static let freedBytesMin = 4 << 20

    func noteDirtyBytes(_ bytes: Int) {
        lock.withLock { cache in
            state.dirtyBytes = bytes
            reserveMemory(&cache)
        }
    }

    /// Under the lock, when versions or private copies have changed: the cache gives way.
    func reserveMemory(_ cache: inout PageCache) {
        cache.reserve(state.generation.imageBytes + state.dirtyBytes)
    }

    /// After many pages were freed.
    func returnMemory(freed bytes: Int) {
        if bytes >= Self.freedBytesMin { FreedMemory.returnSoon() }
    }
}
