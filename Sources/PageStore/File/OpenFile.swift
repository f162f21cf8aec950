/// The file of a store for as long as any part of the store is there: work in the background and
/// snapshots may outlive the engine.
final class OpenFile: Sendable {
    let file: MeteredFile
    private let isWritten: Bool
    private let isClosed = Guarded(false)

    /// Opens a file. One that will be written is registered, so that this process opens it once.
    init(_ path: String, _ mode: FileMode, in files: any FileSystem) throws(StoreError) {
        file = MeteredFile(try files.open(path, mode))
        isWritten = mode != .readOnly
        guard isWritten else { return }
        do throws(StoreError) {
            try OpenStores.register(file.identity, path: path)
        } catch {
            // It is the other opening's from here on.
            isClosed.withLock { $0 = true }
            file.close()
            throw error
        }
    }

    deinit { close() }

    func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        if isWritten { OpenStores.unregister(file.identity) }
        file.close()
    }
}
