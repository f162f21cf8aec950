/// Whether the store may still be written. After a failed write or sync nothing more is: the
/// system may have dropped what it could not write, and a second try would succeed without it.
final class StoreHealth: Sendable {
    private let cause = Guarded<StoreError?>(nil)

    var isPoisoned: Bool { cause.withLock { $0 != nil } }

    func poison(_ error: StoreError) {
        cause.withLock { if $0 == nil { $0 = error } }
    }

    func check(_ path: String) throws(StoreError) {
        guard let cause = cause.withLock({ $0 }) else { return }
        throw StoreError(
            .poisoned, cause.message, byteOffset: cause.byteOffset, path: path,
            systemError: cause.systemError)
    }

    /// Throws `poisoned` with the first error, before a new transaction or checkpoint begins.
    func checkBeforeWriting(_ path: String) throws(StoreError) {
        guard let cause = cause.withLock({ $0 }) else { return }
        throw StoreError(
            .poisoned,
            "an earlier write failed, so the store must be opened anew: \(cause.message)",
            byteOffset: cause.byteOffset, path: path, systemError: cause.systemError)
    }
}
