import PageStore

/// The entries that a batch adds to one tree and takes from it, sorted once and applied through
/// one writer.
struct TreeEdits {
    private struct Edit {
        /// The key's first eight bytes, big-endian: most comparisons end here.
        var head: UInt64
        var keyStart: Int
        var keyCount: Int
        var valueCount: Int
        var isRemoval: Bool
        var order: Int
    }

    private let arena = ByteBuffer(capacity: 4096)
    private var edits: [Edit] = []
    private var isSorted = true

    var isEmpty: Bool { edits.isEmpty }

    mutating func insert(_ key: [UInt8], value: ByteView? = nil) {
        add(key, value: value, isRemoval: false)
    }

    mutating func remove(_ key: [UInt8]) { add(key, value: nil, isRemoval: true) }

    private mutating func add(_ key: [UInt8], value: ByteView?, isRemoval: Bool) {
        let start = arena.count
        key.withView { arena.append($0) }
        if let value { arena.append(value) }
        let edit = Edit(
            head: Self.head(key), keyStart: start, keyCount: key.count,
            valueCount: value?.count ?? 0,
            isRemoval: isRemoval, order: edits.count)
        if isSorted, let last = edits.last { isSorted = precedes(last, edit) }
        edits.append(edit)
    }

    private static func head(_ key: [UInt8]) -> UInt64 {
        var head: UInt64 = 0
        for index in 0..<8 { head = head << 8 | UInt64(index < key.count ? key[index] : 0) }
        return head
    }

    /// By key; edits of one key keep their order.
    private func precedes(_ left: Edit, _ right: Edit) -> Bool {
        if left.head != right.head { return left.head < right.head }
        let view = arena.view
        let order = view.slice(from: left.keyStart, count: left.keyCount)
            .compare(view.slice(from: right.keyStart, count: right.keyCount))
        return order != 0 ? order < 0 : left.order < right.order
    }

    /// Applies all edits in key order and forgets them.
    mutating func apply(to tree: TreeID, of editor: PageEditor) throws(StoreError) {
        guard !edits.isEmpty else { return }
        let sorted = isSorted ? edits : edits.sorted { precedes($0, $1) }
        let writer = TreeWriter(editor, tree: tree)
        let view = arena.view
        for edit in sorted {
            let key = view.slice(from: edit.keyStart, count: edit.keyCount)
            let value = view.slice(from: edit.keyStart + edit.keyCount, count: edit.valueCount)
            try key.withSpan { key throws(StoreError) in
                if edit.isRemoval {
                    _ = try writer.remove(key)
                } else {
                    try value.withSpan { value throws(StoreError) in
                        _ = try writer.insert(key, value)
                    }
                }
            }
        }
        edits = []
        arena.removeAll()
        isSorted = true
    }
}
