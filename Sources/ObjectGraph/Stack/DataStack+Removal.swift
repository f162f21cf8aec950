import RecordStore

// Taking storages out of a stack.
extension DataStack {
    /// Closes one storage; the others stay as they are. Objects of it that were fetched keep their
    /// last values, and lists that are observed are fetched again without it. A file that another
    /// stack of the program has added stays open there.
    ///
    /// Waits for the transaction that runs. A storage that the stack has not added, and a call
    /// inside a transaction, fail an assertion.
    public func unsafeRemovePersistentStoreAndWait(_ storage: any StorageInterface) {
        guard !writerTurn.isHeldByCaller else {
            Log.assert(false, "a transaction cannot close the storages that it changes")
            return
        }
        writerTurn.take()
        defer { writerTurn.give() }
        guard let store = detach(storage) else {
            Log.assert(false, "a storage was removed from a stack that has not added it")
            return
        }
        forgetInView(store)
        close(store)
    }

    /// Closes one storage in the background; the completion is called where the view lives.
    @preconcurrency
    public func unsafeRemovePersistentStore(
        _ storage: any StorageInterface, completion: @escaping @Sendable () -> Void = {}
    ) {
        transactionQueue.async { [self] in
            unsafeRemovePersistentStoreAndWait(storage)
            viewExecutor.run(completion)
        }
    }

    /// Closes all storages. Objects that were fetched keep their last values; nothing new can be
    /// fetched.
    public func unsafeRemoveAllPersistentStoresAndWait() {
        guard !writerTurn.isHeldByCaller else {
            Log.assert(false, "a transaction cannot close the storages that it changes")
            return
        }
        writerTurn.take()
        defer { writerTurn.give() }
        let detached = detachAll()
        forgetView()
        for store in detached { close(store) }
    }

    /// Closes all storages in the background.
    @preconcurrency
    public func unsafeRemoveAllPersistentStores(
        completion: @escaping @Sendable () -> Void = {}
    ) {
        transactionQueue.async { [self] in
            unsafeRemoveAllPersistentStoresAndWait()
            viewExecutor.run(completion)
        }
    }

    private func close(_ store: AttachedStore) {
        do throws(StoreError) {
            try store.close()
        } catch {
            Log.error(CoreStoreError(error), "a storage could not be closed.")
        }
    }
}

extension LocalStore {
    /// Removes the store's file, with all that it holds, for ever. Nothing is done where there is
    /// none.
    ///
    /// Throws `.internalError` with its ``CoreStoreError/storeError``: `alreadyOpen` while a stack
    /// of the program has the store, `lockedByOther` while another process has it open for writing.
    /// A process that only reads the store goes on reading what it sees.
    public func eraseStorageAndWait() throws(CoreStoreError) {
        do throws(StoreError) {
            try RecordDatabase.erase(fileURL.path, files: files)
        } catch {
            let failure = CoreStoreError(error)
            Log.error(failure, "a storage could not be erased.")
            throw failure
        }
    }
}
