import PageStore

/// Private changes of records on top of one commit, which are never committed themselves: the state
/// that an unsafe transaction reads. Fetches, indexes and links see them like those of a
/// transaction.
///
/// One thread at a time.
package final class RecordScratch: RecordEditor {
    package typealias Mark = ScratchPages.Mark

    /// The records without the changes.
    package let base: RecordReader
    private let pages: ScratchPages

    /// - Parameter base: a snapshot, or another scratch's frozen state.
    package init(over base: RecordReader) {
        self.base = base
        pages = ScratchPages(over: base.view)
        super.init(
            schema: base.schema, editor: pages, catalog: base.catalog, trees: base.trees,
            notes: nil)
    }

    package override var before: RecordReader { base }

    /// Marks the current state, for ``restore(_:)``.
    package func mark() -> Mark { pages.mark() }

    /// Returns to a marked state of this scratch.
    package func restore(_ mark: Mark) {
        forgetBatches()
        pages.restore(mark)
    }

    /// The records in their current state, for any thread and any length of time.
    package func frozen() -> FrozenRecords {
        FrozenRecords(
            schema: schema, view: pages.frozen(), catalog: catalog, trees: trees)
    }
}

/// A state of a ``RecordScratch``; many threads may read it.
package final class FrozenRecords: RecordReader, @unchecked Sendable {}
