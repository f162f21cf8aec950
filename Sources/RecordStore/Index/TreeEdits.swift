import PageStore

/// The entries that a batch inserts into one tree and removes from it, sorted once and applied by
/// one writer.
final class TreeEdits {
    private struct Edit {
        var keyStart: Int
        var keyCount: Int32
        /// Negative for a removal.
        var valueCount: Int32
        /// The index in `lent`; negative if the value follows its key.
        var lentIndex: Int32 = -1
    }

    /// One value, so that adding an edit is one access to a property: each is checked for
    /// exclusivity.
    private struct EditList {
        var edits: [Edit] = []
        /// Values that stay in their owners' memory, and are copied only into a page.
        var lent: [ByteView] = []
        var lentByteCount = 0
        var isSorted = true
        /// Whether no key has a value, as in an index.
        var hasKeysOnly = true

        mutating func append(_ edit: Edit, in arena: ByteBuffer) {
            if isSorted, let last = edits.last {
                let order = TreeEdits.key(last, in: arena).compare(TreeEdits.key(edit, in: arena))
                isSorted = order <= 0
            }
            if edit.valueCount > 0 { hasKeysOnly = false }
            edits.append(edit)
        }
    }

    private let arena = ByteBuffer(capacity: 4096)
    private var list = EditList()

    private var edits: [Edit] { list.edits }
    private var lent: [ByteView] { list.lent }
    private var isSorted: Bool { list.isSorted }
    private var hasKeysOnly: Bool { list.hasKeysOnly }

    var isEmpty: Bool { edits.isEmpty }

    func insert(_ key: [UInt8], value: ByteView? = nil) {
        let start = arena.count
        key.withView { arena.append($0) }
        add(start, key.count, value: value)
    }

    func remove(_ key: [UInt8]) {
        let start = arena.count
        key.withView { arena.append($0) }
        add(start, key.count, isRemoval: true)
    }

    /// Inserts a key of one or two numbers.
    func insert(_ first: UInt64, _ second: UInt64? = nil, value: ByteView? = nil) {
        let start = arena.count
        add(start, appendKey(first, second), value: value)
    }

    /// Inserts a value that the caller keeps valid until the edits are applied.
    func insert(_ number: UInt64, lending value: ByteView) {
        let start = arena.count
        let keyCount = appendKey(number, nil)
        list.append(
            Edit(
                keyStart: start, keyCount: Int32(keyCount), valueCount: Int32(value.count),
                lentIndex: Int32(lent.count)),
            in: arena)
        list.lent.append(value)
        list.lentByteCount += value.count
    }

    func remove(_ first: UInt64, _ second: UInt64? = nil) {
        let start = arena.count
        add(start, appendKey(first, second), isRemoval: true)
    }

    private func appendKey(_ first: UInt64, _ second: UInt64?) -> Int {
        arena.appendUInt64(first.byteSwapped)
        guard let second else { return 8 }
        arena.appendUInt64(second.byteSwapped)
        return 16
    }

    private func add(
        _ start: Int, _ keyCount: Int, value: ByteView? = nil, isRemoval: Bool = false
    ) {
        if let value { arena.append(value) }
        list.append(
            Edit(
                keyStart: start, keyCount: Int32(keyCount),
                valueCount: isRemoval ? -1 : Int32(value?.count ?? 0)),
            in: arena)
    }

    private static func key(_ edit: Edit, in arena: ByteBuffer) -> ByteView {
        arena.view.slice(from: edit.keyStart, count: Int(edit.keyCount))
    }

    private func key(_ edit: Edit) -> ByteView { Self.key(edit, in: arena) }

    private func value(_ edit: Edit) -> ByteView {
        guard edit.lentIndex < 0 else { return lent[Int(edit.lentIndex)] }
        return arena.view.slice(
            from: edit.keyStart + Int(edit.keyCount), count: Int(edit.valueCount))
    }

    /// Sorts by key; edits of equal keys keep their order.
    private func sort(with order: inout KeyOrder) {
        guard !isSorted else { return }
        order.removeAll()
        order.reserveCapacity(edits.count)
        for (index, edit) in edits.enumerated() {
            // Reading an edit is a random access, so the entry carries all that an edit without
            // value has.
            let place = hasKeysOnly ? Int(edit.valueCount) : index
            order.append(
                start: edit.keyStart, count: Int(edit.keyCount), index: place, in: arena.view)
        }
        order.sort(in: arena.view)
    }

    /// The edit at a position in key order.
    private func edit(_ position: Int, _ order: borrowing KeyOrder) -> Edit {
        guard !isSorted else { return edits[position] }
        let entry = order.entries[position]
        guard !hasKeysOnly else {
            return Edit(keyStart: entry.start, keyCount: entry.count, valueCount: entry.index)
        }
        return edits[Int(entry.index)]
    }

    /// Reads the key through the sort entry, which is contiguous; `edits` is not.
    private func key(_ position: Int, _ order: borrowing KeyOrder) -> ByteView {
        guard !isSorted else { return key(edits[position]) }
        let entry = order.entries[position]
        return arena.view.slice(from: entry.start, count: Int(entry.count))
    }

    /// Prefetches the parts of an edit that are not contiguous with those of its neighbours.
    private func prefetch(_ position: Int, _ order: borrowing KeyOrder) {
        guard position < edits.count else { return }
        guard isSorted else { return key(position, order).prefetch() }
        let place = edits[position].lentIndex
        if place >= 0 { lent[Int(place)].prefetch() }
    }

    /// How many edits ahead are prefetched.
    private static let prefetchDistance = 4

    /// Applies all edits in key order and clears them. For a unique index, whose keys have no
    /// values, returns the objects whose new entries may have the same columns as another object's:
    /// of each group of equal columns, all new objects or all but one. Some conflict only with an
    /// entry that a later edit removes.
    ///
    /// - Parameter order: memory for sorting.
    @discardableResult
    func apply(
        to tree: TreeID, of editor: PageEditor, isUnique: Bool = false,
        with order: inout KeyOrder
    ) throws(StoreError) -> [ObjectNumber] {
        guard !edits.isEmpty else { return [] }
        sort(with: &order)
        defer { removeAll() }
        if arena.count + list.lentByteCount >= editor.bulkBytesMin, try editor.isEmpty(tree) {
            // Unsorted edits belong to an index, into which the transaction's next batch will
            // insert more.
            return try build(tree, of: editor, isUnique: isUnique, isFinal: isSorted, order)
        }
        let writer = TreeWriter(editor, tree: tree, isAscending: true)
        if hasKeysOnly { return try apply(to: writer, isUnique: isUnique, order) }
        for position in edits.indices {
            prefetch(position + Self.prefetchDistance, order)
            let key = key(position, order)
            let edit = edit(position, order)
            if edit.valueCount < 0 {
                _ = try writer.remove(key)
            } else {
                _ = try writer.insert(key, value(edit))
            }
        }
        return []
    }

    /// Passes all edits to the body in key order, with nil for a removal, and clears them.
    func forEach(
        with order: inout KeyOrder,
        _ body: (_ key: ByteView, _ value: ByteView?) throws(StoreError) -> Void
    ) throws(StoreError) {
        sort(with: &order)
        defer { removeAll() }
        for position in edits.indices {
            prefetch(position + Self.prefetchDistance, order)
            let edit = edit(position, order)
            try body(key(position, order), edit.valueCount < 0 ? nil : value(edit))
        }
    }

    private func removeAll() {
        list.edits.removeAll(keepingCapacity: true)
        list.lent.removeAll(keepingCapacity: true)
        list.lentByteCount = 0
        (list.isSorted, list.hasKeysOnly) = (true, true)
        arena.removeAll()
    }

    /// How many keys are passed to the writer at once: the edits of a few leaves.
    private static let keysCount = 4096

    /// Applies edits of keys without values.
    private func apply(
        to writer: TreeWriter, isUnique: Bool, _ order: borrowing KeyOrder
    ) throws(StoreError) -> [ObjectNumber] {
        var conflictCandidates: [ObjectNumber] = []
        var keys: [KeyEdit] = []
        keys.reserveCapacity(min(edits.count, Self.keysCount))
        for position in edits.indices {
            prefetch(position + Self.prefetchDistance, order)
            let isRemoval = edit(position, order).valueCount < 0
            keys.append(KeyEdit(key(position, order), isRemoval: isRemoval))
            guard keys.count == Self.keysCount || position + 1 == edits.count else { continue }
            let candidates = try writer.apply(keys, conflictsBy: isUnique ? .numbered : nil)
            for candidate in candidates {
                conflictCandidates.append(Self.number(keys[candidate].key))
            }
            keys.removeAll(keepingCapacity: true)
        }
        return conflictCandidates
    }

    /// Builds an empty tree from the edits in bulk: each page is filled and written once.
    private func build(
        _ tree: TreeID, of editor: PageEditor, isUnique: Bool, isFinal: Bool,
        _ order: borrowing KeyOrder
    ) throws(StoreError) -> [ObjectNumber] {
        var conflictCandidates: [ObjectNumber] = []
        var builder = try TreeBuilder(editor, tree: tree, isFinal: isFinal)
        var last: ByteView?
        for position in edits.indices {
            prefetch(position + Self.prefetchDistance, order)
            let key = key(position, order)
            let edit = edit(position, order)
            // Only the last edit of a key counts; removals from an empty tree have no effect.
            let isLast =
                position + 1 == edits.count || !(self.key(position + 1, order) == key)
            guard isLast, edit.valueCount >= 0 else { continue }
            try builder.append(key, value(edit))
            guard isUnique else { continue }
            if let last, Self.columns(last) == Self.columns(key) {
                conflictCandidates.append(Self.number(key))
            }
            last = key
        }
        try builder.finish()
        return conflictCandidates
    }

    // MARK: Entries of indexes

    /// The size of the object's number, which follows the columns.
    private static let numberSize = KeyShape.numbered.suffixSizeInBytes

    private static func columns(_ key: ByteView) -> ByteView {
        key.slice(from: 0, count: key.count - numberSize)
    }

    private static func number(_ key: ByteView) -> ObjectNumber {
        ObjectNumber(key.bigEndianUInt64(at: key.count - numberSize))
    }
}
