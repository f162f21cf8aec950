import PageStore

/// Keys that consist of two numbers, without values, which come in ascending order and are written
/// into one tree as they come: nothing is sorted, and each page of a tree that was empty is filled
/// once.
///
/// Between the first pair and ``finish()`` nothing else may use the tree.
struct AscendingPairs: ~Copyable {
    private var builder: TreeBuilder?
    /// Instead of the builder, where the tree has entries.
    private let writer: TreeWriter?
    private let key = ByteBuffer(capacity: 2 * MemoryLayout<UInt64>.size)
    private var last: (UInt64, UInt64)?

    /// - Parameter isFinal: see ``TreeBuilder``.
    init(_ editor: PageEditor, tree: TreeID, isFinal: Bool) throws(StoreError) {
        if try editor.isEmpty(tree) {
            builder = try TreeBuilder(editor, tree: tree, isFinal: isFinal)
            writer = nil
        } else {
            writer = TreeWriter(editor, tree: tree, isAscending: true)
        }
    }

    /// Throws `corrupt` for a pair that does not follow the one before: pairs come from records,
    /// whose numbers ascend.
    mutating func insert(_ first: ObjectNumber, _ second: ObjectNumber) throws(StoreError) {
        let pair = (first.rawValue, second.rawValue)
        if let last, last >= pair {
            throw .corrupt(nil, "the records are out of order at object \(first.rawValue)")
        }
        last = pair
        key.removeAll()
        key.appendUInt64(first.rawValue.byteSwapped)
        key.appendUInt64(second.rawValue.byteSwapped)
        let (key, noValue) = (key.view, key.view.slice(from: 0, count: 0))
        if let writer {
            _ = try writer.insert(key, noValue)
        } else {
            try builder?.append(key, noValue)
        }
    }

    /// Finishes the tree, which can be used then. Without a pair it changes nothing.
    mutating func finish() throws(StoreError) {
        if last != nil { try builder?.finish() }
    }
}
