/// The private copies of a transaction by page id: open addressing with one multiplication, for
/// each step of each descent asks here.
package struct PageTable {
    /// 0 is never a page, so it marks a free slot.
    private var ids: [UInt64] = Array(repeating: 0, count: 16)
    private var pages: [PageBuffer?] = Array(repeating: nil, count: 16)
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// In no particular order.
    package var values: [PageBuffer] { pages.compactMap(\.self) }

    private func home(_ id: UInt64) -> Int {
        // Page ids are small and dense: the product's high bits spread them.
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 32) & (ids.count &- 1)
    }

    /// The slot of an id, or the free one where it would go.
    private func slot(_ id: UInt64) -> Int {
        var slot = home(id)
        while ids[slot] != id && ids[slot] != 0 { slot = (slot &+ 1) & (ids.count &- 1) }
        return slot
    }

    package subscript(id: PageID) -> PageBuffer? {
        get { pages[slot(id.rawValue)] }
        set {
            if let newValue {
                insert(newValue, id.rawValue)
            } else {
                remove(id.rawValue)
            }
        }
    }

    private mutating func insert(_ page: PageBuffer, _ id: UInt64) {
        let place = slot(id)
        if ids[place] == 0 {
            count += 1
            ids[place] = id
        }
        pages[place] = page
        if count * 2 > ids.count { grow() }
    }

    private mutating func grow() {
        let old = values
        ids = Array(repeating: 0, count: ids.count * 2)
        pages = Array(repeating: nil, count: ids.count)
        for page in old {
            let place = slot(page.id.rawValue)
            ids[place] = page.id.rawValue
            pages[place] = page
        }
    }

    private mutating func remove(_ id: UInt64) {
        var hole = slot(id)
        guard ids[hole] != 0 else { return }
        count -= 1
        // Entries behind the hole move up when their search would have passed it.
        var next = hole
        while true {
            ids[hole] = 0
            pages[hole] = nil
            while true {
                next = (next &+ 1) & (ids.count &- 1)
                guard ids[next] != 0 else { return }
                let distance = (next &- home(ids[next])) & (ids.count &- 1)
                if distance >= (next &- hole) & (ids.count &- 1) { break }
            }
            ids[hole] = ids[next]
            pages[hole] = pages[next]
            hole = next
        }
    }
}
