import RecordStore

// Taking storages out of a stack.
extension DataStack {
    /// Closes one storage; the others stay as they are. Objects of it that were fetched keep their
    /// last values, and observed lists are fetched again without it. A file that another stack of
    /// the program has added stays open there.
    ///
    /// It waits for the transaction that runs. No other thread may use objects of the view
    /// meanwhile; ``unsafeRemovePersistentStore(_:completion:)`` ensures that. A storage that the
    /// stack has not added, and a call inside a transaction, fail an assertion.
    public func unsafeRemovePersistentStoreAndWait(_ storage: any StorageInterface) {
        guard !writerLock.isHeldByCaller else {
            Log.assert(false, "a transaction cannot close the storages that it changes")
            return
        }
        guard let store = detachInTurn(storage) else { return }
        forgetInView(store)
        close(store)
        storesChanged()
    }

    /// Nil when the stack has not added the storage. No transaction runs while it goes, and none
    /// that comes later has it.
    private func detachInTurn(_ storage: any StorageInterface) -> AttachedStore? {
        writerLock.take()
        defer { writerLock.release() }
        guard let store = detach(storage) else {
            Log.assert(false, "a storage was removed from a stack that has not added it")
            return nil
        }
        store.noteDetached()
        return store
    }

    /// Closes one storage in the background; the others stay as they are. The view forgets it where
    /// it lives.
    ///
    /// - Parameters:
    ///   - storage: a storage that the stack has added; any other fails an assertion.
    ///   - completion: called where the view lives, after the file was closed.
    @preconcurrency
    public func unsafeRemovePersistentStore(
        _ storage: any StorageInterface, completion: @escaping @Sendable () -> Void = {}
    ) {
        transactionQueue.async { [self] in
            guard let store = detachInTurn(storage) else { return viewExecutor.run(completion) }
            viewExecutor.run { [self] in
                forgetInView(store)
                storesChanged()
                transactionQueue.async { [self] in
                    close(store)
                    viewExecutor.run(completion)
                }
            }
        }
    }

    /// Closes all storages, and reports a failure to close one. Objects that were fetched keep
    /// their last values; nothing new can be fetched. It waits for the transaction that runs. No
    /// other thread may use objects of the view meanwhile.
    ///
    /// Commits that returned are durable, except relaxed ones: those are made durable here. Where
    /// another stack of the program has the file open, it stays open there. All storages are closed
    /// even when this throws: the error is that of the first one that failed, and the errors of the
    /// others are logged.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``. The code
    ///   `commitUncertain` means that making relaxed commits durable failed, here or in the
    ///   background before; its message names the first commit that may be lost. Another code, such
    ///   as `diskFull`, means that all commits are stored and the next opening has more to read.
    ///   Inside a transaction, which would wait for itself, it throws at once and closes nothing.
    public func close() throws(CoreStoreError) {
        guard !writerLock.isHeldByCaller else {
            throw .refusal("close() was called inside a transaction")
        }
        if let failure = closeAll() { throw failure }
    }

    /// Closes all storages. Objects that were fetched keep their last values; nothing new can be
    /// fetched. No other thread may use objects of the view meanwhile. A failure is logged, also in
    /// release builds; ``close()`` throws it.
    public func unsafeRemoveAllPersistentStoresAndWait() {
        guard !writerLock.isHeldByCaller else {
            Log.assert(false, "a transaction cannot close the storages that it changes")
            return
        }
        _ = closeAll()
    }

    /// No transaction runs while they go, and none that comes later has them. The caller has the
    /// writer lock.
    private func detachAllInTurn() -> [AttachedStore] {
        let detached = detachAll()
        for store in detached { store.noteDetached() }
        return detached
    }

    /// Returns the error of the first storage that could not be closed; all are logged.
    private func closeAll() -> CoreStoreError? {
        writerLock.take()
        let detached = detachAllInTurn()
        forgetView()
        let failures = detached.compactMap { close($0) }
        writerLock.release()
        // Observers may begin transactions.
        storesChanged()
        return failures.first
    }

    /// Closes all storages in the background. A failure is logged, also in release builds. The view
    /// forgets them where it lives.
    ///
    /// - Parameter completion: called where the view lives, after the files were closed.
    @preconcurrency
    public func unsafeRemoveAllPersistentStores(
        completion: @escaping @Sendable () -> Void = {}
    ) {
        transactionQueue.async { [self] in
            writerLock.take()
            let detached = detachAllInTurn()
            writerLock.release()
            viewExecutor.run { [self] in
                forgetView()
                storesChanged()
                transactionQueue.async { [self] in
                    for store in detached { close(store) }
                    viewExecutor.run(completion)
                }
            }
        }
    }

    @discardableResult
    private func close(_ store: AttachedStore) -> CoreStoreError? {
        do throws(StoreError) {
            try store.close()
            return nil
        } catch {
            let failure = CoreStoreError(error)
            faults.report(failure, "a storage could not be closed.")
            return failure
        }
    }
}

extension LocalStore {
    /// Removes the store's file with all of its content, for ever. Nothing is done where there is
    /// none.
    ///
    /// A process that only reads the store continues to read its state.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``: `alreadyOpen` while a
    ///   stack of the program has the store, `lockedByOther` while another process has it open for
    ///   writing.
    public func eraseStorageAndWait() throws(CoreStoreError) {
        guard fileURL.isFileURL else {
            throw .refusal("\(fileURL) is no file, and nothing is erased")
        }
        do throws(StoreError) {
            try RecordDatabase.erase(fileURL.path, files: files)
        } catch {
            let failure = CoreStoreError(error)
            Log.error(failure, "a storage could not be erased.")
            throw failure
        }
    }
}
