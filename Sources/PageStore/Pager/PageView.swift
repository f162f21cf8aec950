/// Pages as one commit left them, or as a transaction is changing them.
///
/// A view is used by one thread at a time, except a ``Snapshot``, which many threads may read.
package class PageView {
    package final let pageSizeInBytes: Int

    package init(pageSizeInBytes: Int) {
        self.pageSizeInBytes = pageSizeInBytes
    }

    /// The image of a page, checked: its hash, and once its structure. Throws `corrupt` for a page
    /// that is damaged or does not exist.
    package func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        throw .corrupt(id, "the page does not exist")
    }

    /// Returns the image of a page and prefetches the entry that the hint names as soon as the
    /// page is located.
    func page(
        _ id: PageID, expecting prefetchHint: CellPrefetchHint?
    ) throws(StoreError) -> PageBuffer {
        try page(id)
    }

    /// The part of a descent to a key that needs no page to be found; nil for none.
    func cachedDescent(to key: ByteView, in tree: TreeID) -> TreeStep? { nil }

    /// Returns the page if it is in memory and does not change.
    func pageInMemory(_ id: PageID) -> PageBuffer? { nil }

    /// Prefetches a leaf that will be read soon, when it is in memory.
    func prefetchLeaf(_ id: PageID) {}

    /// The root of the catalog, nil in a store that has none yet.
    package var catalogRoot: PageID? { nil }

    /// The budget of the columns that scans keep with its pages; nil where pages change.
    var keptBytes: ColumnCacheBudget? { nil }
}

/// Pages that can be changed.
package class PageEditor: PageView {
    /// The page's private copy, made on the first touch.
    package func editablePage(_ id: PageID) throws(StoreError) -> PageBuffer {
        throw .corrupt(id, "the page does not exist")
    }

    /// Called when a private copy will not be changed any more, unless it is asked for again.
    package func finishEditing(_ page: PageBuffer) {}

    /// Called between two changes, when no page is held: a transaction that has outgrown its
    /// share of memory writes pages out.
    package func makeRoom() throws(StoreError) {}

    /// From how many bytes of entries in a batch on an empty tree is built by ``TreeBuilder``.
    package var bulkBytesMin: Int { .max }

    /// Writes new pages to their places, once: they are not changed any more. Leaves out those that
    /// ``makeRoom()`` has written.
    package func writeOut(_ pages: [PageBuffer]) throws(StoreError) {}

    /// Marks a leaf filled by appends. Later keys mostly leave it unchanged, so that a large
    /// transaction writes it out first; a leaf in the middle of an index may be changed again, and
    /// is read back then.
    func noteFilled(_ id: PageID) {}

    /// Changes when private copies were written out or left: one that was remembered is to be
    /// looked up again before it is changed.
    package var editEpoch: Int { 0 }

    /// A new page of zeros but for its kind.
    package func allocatePage(_ kind: PageKind) throws(StoreError) -> PageBuffer {
        throw StoreError(.readOnly, "this view cannot allocate pages")
    }

    /// Frees a page; its name may be given to another page later.
    package func freePage(_ id: PageID) throws(StoreError) {
        throw StoreError(.readOnly, "this view cannot free pages")
    }

    /// Writes a page of up to 1 MiB straight to free space, once. Its first byte is its kind.
    package func allocateChunk(_ bytes: ByteView) throws(StoreError) -> PageID {
        throw StoreError(.readOnly, "this view cannot allocate pages")
    }
}
