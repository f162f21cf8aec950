import Primitives

/// Private changes over the pages of a snapshot, which are never committed as pages: for edits that
/// last an hour beside the writer. It takes no lock and allocates nothing of the store, and there
/// may be any number of them.
///
/// Invariants:
/// 1. A page is copied on its first touch, and again on the first one after a mark: an image that a
///    mark or a frozen view has never changes.
/// 2. New pages have names that no page of the store has, nor any page of the base.
///
/// One thread at a time, but any number may read a frozen state.
package final class ScratchPages: PageEditor {
    /// A state to return to.
    package struct Mark {
        fileprivate var pages: IntegerMap<PageBuffer>
        fileprivate var root: PageID?
        fileprivate var nextID: UInt64
        /// Of the pages that were copied since the mark before.
        package var sizeInBytes: Int
    }

    /// Above every name that a store gives (`Limits.pageCountMax`).
    private static let firstID: UInt64 = 1 << 52

    private let base: PageView
    private var pages = IntegerMap<PageBuffer>()
    /// The pages that no mark and no frozen view has.
    private var owned: Set<PageID> = []
    private var root: PageID?
    private var nextID: UInt64
    private var epoch = 0

    /// - Parameter base: a snapshot, or the frozen state of another scratch.
    package init(over base: PageView) {
        self.base = base
        root = base.catalogRoot
        nextID = (base as? FrozenPages)?.nextID ?? Self.firstID
        super.init(pageSizeInBytes: base.pageSizeInBytes)
    }

    package override var catalogRoot: PageID? {
        get { root }
        set { root = newValue }
    }

    package override var editEpoch: Int { epoch }

    package override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        if let page = pages[id] { return page }
        return try base.page(id)
    }

    package override func editablePage(_ id: PageID) throws(StoreError) -> PageBuffer {
        let page = try page(id)
        if owned.contains(id) { return page }
        let copy = PageBuffer(copying: page)
        pages[id] = copy
        owned.insert(id)
        return copy
    }

    package override func allocatePage(_ kind: PageKind) throws(StoreError) -> PageBuffer {
        let page = newPage(count: pageSizeInBytes)
        page[0] = kind.rawValue
        return page
    }

    package override func allocateChunk(_ bytes: ByteView) throws(StoreError) -> PageID {
        let page = newPage(count: bytes.count)
        page.copy(bytes, to: 0)
        return page.id
    }

    private func newPage(count: Int) -> PageBuffer {
        let page = PageBuffer(id: PageID(nextID), count: count)
        nextID += 1
        pages[page.id] = page
        owned.insert(page.id)
        return page
    }

    /// Nothing leads to the page any more. One of the base stays there.
    package override func freePage(_ id: PageID) throws(StoreError) {
        pages[id] = nil
        owned.remove(id)
    }

    // MARK: States

    /// Notes the state as it is now.
    package func mark() -> Mark {
        let size = owned.reduce(0) { $0 + (pages[$1]?.count ?? 0) }
        owned = []
        epoch += 1
        return Mark(pages: pages, root: root, nextID: nextID, sizeInBytes: size)
    }

    /// Returns to a state of this scratch, any number of times.
    package func restore(_ mark: Mark) {
        (pages, root) = (mark.pages, mark.root)
        // A state frozen since may use later IDs, and no other page may have one of them.
        nextID = max(nextID, mark.nextID)
        owned = []
        epoch += 1
    }

    /// The state as it is now, for any thread and for as long as it is wanted.
    package func frozen() -> PageView {
        let mark = mark()
        return FrozenPages(base, mark.pages, mark.root, nextID: nextID)
    }
}

/// A state of a ``ScratchPages``. Many threads may read it.
private final class FrozenPages: PageView, @unchecked Sendable {
    private let base: PageView
    private let pages: IntegerMap<PageBuffer>
    private let root: PageID?
    let nextID: UInt64

    init(_ base: PageView, _ pages: IntegerMap<PageBuffer>, _ root: PageID?, nextID: UInt64) {
        self.base = base
        self.pages = pages
        self.root = root
        self.nextID = nextID
        super.init(pageSizeInBytes: base.pageSizeInBytes)
    }

    override var catalogRoot: PageID? { root }

    override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        if let page = pages[id] { return page }
        return try base.page(id)
    }
}
