import RecordStore

/// Taking care of files. All of it may be called from any thread, beside transactions and readers;
/// ``DataStack/checkpoint()`` and ``DataStack/vacuum(byteBudget:)`` throw inside a transaction.
extension DataStack {
    /// Makes checkpoints of all storages, which shortens their logs, so that the next opening has
    /// nothing to replay. The engine makes one itself when a log has grown, and when a storage is
    /// removed.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``, and inside a transaction.
    public func checkpoint() throws(CoreStoreError) {
        try requireNoTransaction("checkpoint()")
        for store in stores {
            try caring("a checkpoint failed.") { () throws(StoreError) in
                try store.database.checkpoint()
            }
        }
        moveViewToNewestGeneration()
    }

    /// Writes the newest commit of a storage into a new file without gaps, which any program can
    /// open as a ``LocalStore``; its objects have equal IDs. Transactions continue meanwhile and
    /// are not part of the copy.
    ///
    /// The file appears when it is complete and durable; an existing file at the URL is never
    /// replaced. It takes about as long as reading the storage and writing the copy.
    ///
    /// An incremental backup updates a file that an earlier backup of this storage made, and writes
    /// only the changes since; without such a file it makes one. The commits that it copies are
    /// made durable first. After a failure or a crash the file holds its earlier state or the new
    /// one.
    ///
    /// - Parameters:
    ///   - storage: the storage to copy; nil for the only one.
    ///   - url: the location of the copy, a file URL.
    ///   - isIncremental: whether an earlier backup there is updated.
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``: `invalidArgument` for a
    ///   file that is no backup of this storage, or that a program has changed; `historyDiffers`
    ///   for a backup with commits that the storage does not have, because a crash took them or its
    ///   file was restored from an earlier one, and for one older than the last 240 openings for
    ///   writing: these need a new backup; `alreadyOpen` or `lockedByOther` while another backup
    ///   writes the file.
    public func backup(
        _ storage: (any StorageInterface)? = nil, to url: URL, isIncremental: Bool = false
    ) throws(CoreStoreError) {
        let found = stores.filter { storage == nil || $0.storage === storage }
        guard found.count == 1, let store = found.first else {
            throw .refusal("a backup is of one storage that the stack has open")
        }
        let path = try Self.backupPath(url)
        // A store in memory has no disk of its own.
        let files = store.storage is any LocalStorage ? nil : DiskFileSystem.shared
        let target = (store.storage as? LocalStore)?.files ?? DiskFileSystem.shared
        try caring("a backup failed.") { () throws(StoreError) in
            let found = isIncremental ? try target.identity(path) : nil
            if found != nil {
                try store.database.updateCopy(at: path, files: files)
            } else {
                try store.database.copy(to: path, files: files)
            }
        }
    }

    static func backupPath(_ url: URL) throws(CoreStoreError) -> String {
        guard url.isFileURL else {
            throw .refusal("a backup goes to a file, and \(url) is none")
        }
        return url.path
    }

    /// Moves data from the end of each file into gaps before it, and truncates the file as far as
    /// no reader needs its end.
    ///
    /// - Parameter byteBudget: about how many bytes to move at most, which bounds the time.
    /// - Returns: the number of bytes moved; zero when nothing can be gained.
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``, and inside a transaction.
    @discardableResult
    public func vacuum(byteBudget: Int = 64 << 20) throws(CoreStoreError) -> Int {
        try requireNoTransaction("vacuum()")
        moveViewToNewestGeneration()
        defer { moveViewToNewestGeneration() }
        var moved = 0
        for store in stores {
            try caring("a vacuum failed.") { () throws(StoreError) in
                moved += try store.database.vacuum(byteBudget: byteBudget)
            }
        }
        return moved
    }

    /// Moves the view to the newest generation, with the same content, so that the space that only
    /// it still needed of the generation before can be reused.
    private func moveViewToNewestGeneration() {
        var stacks = [self]
        for user in stores.flatMap({ $0.shared?.others(than: steps) ?? [] }) {
            guard let stack = user.link.object, !stacks.contains(stack) else { continue }
            stacks.append(stack)
        }
        for stack in stacks {
            stack.publishNewest(.relocation)
            stack.viewSteps.deliverSoon()
        }
    }

    /// They would wait for the caller's own transaction.
    private func requireNoTransaction(_ name: String) throws(CoreStoreError) {
        guard !writerLock.isHeldByCaller else {
            throw .refusal("\(name) was called inside a transaction")
        }
    }

    private func caring(
        _ message: String, _ body: () throws(StoreError) -> Void
    ) throws(CoreStoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            let failure = CoreStoreError(error)
            Log.error(failure, message)
            throw failure
        }
    }
}
