import RecordStore

/// Runs the closure that finishes a migration step, as a transaction on the step's later version:
/// of a stack of its own, whose only store is the migrated one, before it is committed.
struct FinishingTransaction: Sendable {
    let schema: CoreStoreSchema
    let storage: any StorageInterface
    let task: CustomSchemaMappingProvider.Finishing

    /// - Parameter records: receives the changes, and is the caller's to commit or to roll back.
    func run(_ database: RecordDatabase, _ records: RecordTransaction) throws {
        let stack = DataStack(schemaHistory: SchemaHistory(schema))
        let store = AttachedStore(
            storage: storage, database: database, shared: nil,
            model: schema.model(for: storage.configuration))
        stack.attach(store)
        defer {
            // The store is not the stack's to close.
            store.noteDetached()
            _ = stack.detachAll()
        }
        try stack.run(task, in: records)
    }
}

extension DataStack {
    /// Runs a task in a write transaction of the caller's, who commits it.
    fileprivate func run(
        _ task: CustomSchemaMappingProvider.Finishing, in records: RecordTransaction
    ) throws {
        writerLock.take()
        defer { writerLock.release() }
        let context = TransactionContext(of: self, in: records)
        defer { context.end() }
        let transaction = SynchronousDataTransaction(
            stack: self, context: context, sourceIdentifier: nil)
        try task(transaction)
        if let failure = context.failure { throw failure }
        guard !context.changes.isEmpty else { return }
        try context.complete()
    }
}
