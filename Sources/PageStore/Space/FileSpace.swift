/// Which parts of the file are taken: shared by everything that writes to it.
final class FileSpace: Sendable {
    private let map: Guarded<SpaceMap>

    init(_ context: StoreContext) {
        map = Guarded(
            SpaceMap(pageSizeInBytes: context.geometry.pageSizeInBytes), at: .space,
            context.options.schedule)
    }

    /// Lends the map. Readers of pages never take its lock.
    func withSpace<Result, Failure: Error>(
        _ body: (inout sending SpaceMap) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try map.withLock(body)
    }

    /// Gives an extent back that no commit names.
    func free(_ address: ExtentAddress) { map.withLock { $0.free(address) } }

    /// Frees space that neither the superblocks nor readers need any more.
    func release(previous: UInt64, held: [Range<UInt64>]) {
        map.withLock { $0.release(previous: previous, held: held) }
    }
}
