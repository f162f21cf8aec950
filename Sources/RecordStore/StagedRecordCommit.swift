import PageStore

/// A transaction of records that has ended and waits for the log.
package final class StagedRecordCommit: Sendable {
    private let commit: StagedCommit
    private let schema: Schema
    private let catalog: Catalog
    private let trees: TreeTable
    /// Nil if the transaction did not record changes.
    package let changes: ChangeSet?

    init(
        _ commit: StagedCommit, schema: Schema, catalog: Catalog, trees: TreeTable,
        changes: ChangeSet?
    ) {
        self.commit = commit
        self.schema = schema
        self.catalog = catalog
        self.trees = trees
        self.changes = changes
    }

    package var number: UInt64 { commit.number }

    /// Waits until the commit is as durable as requested and readers see it.
    package func finish() throws(StoreError) { try commit.finish() }

    /// The records as exactly this commit left them: see ``StagedCommit/snapshot()``.
    package func snapshot() throws(StoreError) -> RecordSnapshot {
        RecordSnapshot(
            schema: schema, snapshot: try commit.snapshot(), catalog: catalog, trees: trees)
    }
}
