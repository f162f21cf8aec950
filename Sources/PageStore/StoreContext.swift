/// The immutable parts of an open store: its file, its geometry and the options of its opening.
struct StoreContext: Sendable {
    let path: String
    private let opened: OpenFile
    let file: MeteredFile
    let files: any FileSystem
    let uuid: StoreUUID
    let geometry: Geometry
    let options: StoreOptions
    let health = StoreHealth()
    /// One sync at a time, until its outcome is known to the others.
    private let syncTurn: HandoffLock
    private let processID: Int32

    init(
        path: String, _ opened: OpenFile, files: any FileSystem, uuid: StoreUUID,
        geometry: Geometry, options: StoreOptions
    ) {
        self.path = path
        self.opened = opened
        file = opened.file
        self.files = files
        self.uuid = uuid
        self.geometry = geometry
        var options = options
        options.pageSizeInBytes = geometry.pageSizeInBytes
        options.unitSizeInBytes = geometry.unitSizeInBytes
        self.options = options
        syncTurn = HandoffLock(options.schedule)
        processID = files.processID()
    }

    /// Closes the file before the last part of the store is gone.
    func close() { opened.close() }

    var isOwnProcess: Bool { files.processID() == processID }

    /// A child shares the parent's open file and its locks, so it must open the store itself.
    func checkProcess() throws(StoreError) {
        guard isOwnProcess else {
            throw StoreError(
                .invalidArgument, "the store was opened before this process was forked",
                path: path)
        }
    }

    /// Throws `fileReplaced`, `fileRenamed` or `fileRemoved` when the path does not lead to the
    /// open file any more.
    func checkPathIdentity() throws(StoreError) {
        do throws(StoreError) {
            try PathIdentity.check(file, at: path, in: files)
        } catch {
            throw error.at(path: path)
        }
    }

    /// A number past the format's limit would make a file that nothing can open.
    func numbersUsedUp() -> StoreError {
        StoreError(
            .tooLarge, "the store's numbers are used up: copy its objects to a new store",
            path: path)
    }

    // MARK: Writes that poison

    /// Runs a write whose failure leaves the file's content unknown: the store is poisoned then,
    /// and also fails when an earlier write of another thread did. The error is never `diskFull`,
    /// after which a store is usable.
    func poisoning(_ write: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try write()
        } catch {
            var failure = error
            if error.code == .diskFull { failure.code = .io }
            health.poison(failure)
            throw failure
        }
        try health.check(path)
    }

    /// Makes all that was written durable.
    ///
    /// A sync that fails may lose the writes of other threads, and the next one succeeds all the
    /// same: it must find the store poisoned.
    func sync() throws(StoreError) {
        syncTurn.lock()
        defer { syncTurn.unlock() }
        try poisoning { () throws(StoreError) in try file.sync() }
    }

    /// Writes through to the medium; the caller poisons the store if that fails.
    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        guard file.syncsDurableWrites else {
            return try file.writeDurably(bytes, at: byteOffset)
        }
        // A sync like any other: see ``sync()``.
        syncTurn.lock()
        defer { syncTurn.unlock() }
        try poisoning { () throws(StoreError) in
            try file.writeDurably(bytes, at: byteOffset)
        }
    }

    func writeSuperblock(_ superblock: Superblock) throws(StoreError) {
        let encoded = superblock.encoded()
        try poisoning { () throws(StoreError) in
            try writeDurably(encoded.view, at: superblock.byteOffset)
        }
    }

    /// Lack of space before a frame or a superblock is written fails the work alone; any other
    /// error poisons the store.
    func failedBeforeCommit(_ error: StoreError) -> StoreError {
        let located = error.at(path: path)
        if !error.isForLackOfSpace { health.poison(located) }
        return located
    }
}

extension StoreError {
    /// Whether there is no room, on the disk or in the format, for what was to be written. Before a
    /// frame or a superblock names it, that fails the work alone.
    var isForLackOfSpace: Bool { code == .diskFull || code == .tooLarge }
}
