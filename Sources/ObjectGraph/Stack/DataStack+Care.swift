import RecordStore

/// Taking care of files. All of it may be called from any thread, beside transactions and readers;
/// ``DataStack/checkpoint()`` and ``DataStack/vacuum(byteBudget:)`` throw inside a transaction.
extension DataStack {
    /// Makes the logs of all storages short, so that the next opening has nothing to replay.
    /// Happens by itself when a log has grown, and when a storage is removed.
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
    /// open as a ``LocalStore``; its objects have the same IDs. Transactions go on meanwhile and
    /// are no part of it.
    ///
    /// The file appears when it is whole and durable; what stands at the URL is never replaced.
    /// Takes about as long as reading the storage and writing the copy.
    ///
    /// An incremental backup brings a file up to date that an earlier backup of this storage made,
    /// and writes only what has changed since; without such a file it makes one. Whatever happens
    /// on the way, the file holds the state that it held or the new one. A file that is no backup
    /// of this storage, or that a program has changed, is refused with `invalidArgument`; one whose
    /// commits the storage does not have, because a crash took them or its file was put back from
    /// an earlier one, with `historyDiffers`, and so is one older than the last 240 openings for
    /// writing. Only a new backup helps then. What is copied is made durable first. While another
    /// backup goes to the same file, this one throws `alreadyOpen` or `lockedByOther`.
    ///
    /// - Parameters:
    ///   - storage: the storage to copy; nil for the only one.
    ///   - url: where the copy goes.
    ///   - isIncremental: whether an earlier backup there is brought up to date.
    public func backup(
        _ storage: (any StorageInterface)? = nil, to url: URL, isIncremental: Bool = false
    ) throws(CoreStoreError) {
        let found = stores.filter { storage == nil || $0.storage === storage }
        guard found.count == 1, let store = found.first else {
            throw .refusal("a backup is of one storage that the stack has open")
        }
        guard url.isFileURL else {
            throw .refusal("a backup goes to a file, and \(url) is none")
        }
        // What is in memory has no disk of its own.
        let files = store.storage is any LocalStorage ? nil : DiskFileSystem.shared
        let target = (store.storage as? LocalStore)?.files ?? DiskFileSystem.shared
        try caring("a backup failed.") { () throws(StoreError) in
            let found = isIncremental ? try target.identity(url.path) : nil
            if found != nil {
                try store.database.updateCopy(at: url.path, files: files)
            } else {
                try store.database.copy(to: url.path, files: files)
            }
        }
    }

    /// Moves data from the end of each file into gaps before it, and gives the end back to the
    /// system as far as no reader needs it.
    ///
    /// - Parameter byteBudget: about how many bytes to move at most: what bounds the time.
    /// - Returns: the bytes moved. Zero: there is nothing to gain.
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

    /// The view shows what it showed, from where a checkpoint has put it: what only it still needed
    /// of the generation before can be used again.
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
        guard !writerTurn.isHeldByCaller else {
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
