import PageStore

/// Private changes of records over one commit, which are never committed as they are: the state
/// that an unsafe transaction reads. Fetches, indexes and links see them as those of a transaction.
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

    /// Notes the state as it is now.
    package func mark() -> Mark { pages.mark() }

    /// Returns to a state of this scratch.
    package func restore(_ mark: Mark) {
        forgetBatches()
        pages.restore(mark)
    }

    /// The records as they are now, for any thread and for as long as they are wanted.
    package func frozen() -> FrozenRecords {
        FrozenRecords(
            schema: schema, view: pages.frozen(), catalog: catalog, trees: trees)
    }
}

/// A state of a ``RecordScratch``; many threads may read it.
package final class FrozenRecords: RecordReader, @unchecked Sendable {}
