/// The private copies of a transaction by page id.
package struct PageTable {
    private var table = NumberTable<PageBuffer>()

    package init() {}

    package var count: Int { table.count }
    package var isEmpty: Bool { table.count == 0 }

    /// In no particular order.
    package var values: [PageBuffer] { table.values }

    package subscript(id: PageID) -> PageBuffer? {
        get { table[id.rawValue] }
        set { table[id.rawValue] = newValue }
    }
}
