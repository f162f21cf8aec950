/// The entries of one leaf whose keys are numbers, found once: a scan then steps through them
/// without a call for each.
///
/// What it lends is valid until it is filled anew.
@safe
package final class LeafEntries {
    @safe @frozen @usableFromInline
    struct Entry {
        @usableFromInline let number: UInt64
        @usableFromInline let base: UnsafeRawPointer
        @usableFromInline let size: Int

        init(number: UInt64, value: ByteView) {
            self.number = number
            unsafe self.base = value.base
            self.size = value.count
        }
    }

    // Read once an entry by loops that change nothing else: a check of exclusivity for each of
    // them would cost more than the read.
    @exclusivity(unchecked) @usableFromInline var entries: ContiguousArray<Entry> = []
    /// The leaf, so that it lives as long as its bytes are lent.
    package fileprivate(set) var page: PageBuffer?
    /// Values that lie in pages of their own.
    fileprivate var large: [ByteBuffer] = []

    package init() {}

    @inlinable @inline(__always)
    package var count: Int {
        // Safety: whoever fills the entries does it between two loops over them.
        unsafe entries.count
    }

    /// The key of an entry.
    @inlinable @inline(__always)
    package func number(_ index: Int) -> UInt64 { unsafe entries[index].number }

    /// The value of an entry.
    @inlinable @inline(__always)
    package func value(_ index: Int) -> ByteView {
        // Safety: the page or the buffer that holds the bytes lives until the next filling.
        unsafe ByteView(unsafeBase: entries[index].base, count: entries[index].size)
    }

    /// Whether some values lie outside the page.
    package var hasLargeValues: Bool { !large.isEmpty }
}

extension LeafEntries {
    /// Takes over the entries of a leaf from a slot on. False when a key has not eight bytes.
    func fill(from node: NodeView, at first: Int, _ view: PageView) throws(StoreError) -> Bool {
        // Out of the object while it grows, so that nothing is asked about it at each step.
        var list = unsafe entries
        unsafe entries = []
        list.removeAll(keepingCapacity: true)
        defer { unsafe entries = list }
        large = []
        page = node.page
        let end = node.slotCount
        list.reserveCapacity(end - first)
        let prefix = node.prefix
        guard prefix.count <= 8 else { return false }
        var high: UInt64 = 0
        for index in 0..<prefix.count { high = high << 8 | UInt64(prefix[index]) }
        for index in first..<end {
            let (low, size) = node.suffixNumber(index)
            guard prefix.count + size == 8 else { return false }
            let number = high << UInt64(8 * size) | low
            let value =
                node.isValueElsewhere(index)
                ? try largeValue(node.storedValue(index), view) : node.storedValue(index)
            list.append(Entry(number: number, value: value))
        }
        return true
    }

    private func largeValue(_ stored: ByteView, _ view: PageView) throws(StoreError) -> ByteView {
        let buffer = ByteBuffer(capacity: 64)
        try view.readBlob(BlobID(stored), into: buffer)
        large.append(buffer)
        return buffer.view
    }
}
