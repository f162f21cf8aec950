import PageStore

/// Copies the records of a hierarchy into the shadow copy while a pass changes them, so that each
/// is written once. Until the pass ends, readers see the records of the file's model.
final class RecordCopy {
    let hierarchy: HierarchyID
    let target: TreeID
    private let source: Cursor
    /// The first record of the source that is not copied yet; nil at the end.
    private var next: ObjectNumber?
    /// Builds the tree bottom-up, which costs half as much; nil if the tree has entries already.
    private var builder: TreeBuilder?
    private let writer: TreeWriter

    /// - Parameter first: the number to begin at; zero for an empty target.
    init(
        _ hierarchy: HierarchyID, from source: TreeID, to target: TreeID,
        in editor: WriteTransaction, at first: ObjectNumber
    ) throws(StoreError) {
        self.hierarchy = hierarchy
        self.target = target
        self.source = Cursor(try editor.before, tree: source, isScan: true)
        writer = TreeWriter(editor, tree: target, isAscending: true)
        if first == ObjectNumber(0) {
            builder = try TreeBuilder(editor, tree: target, isFinal: false)
        }
        _ = try self.source.seek(RecordKey.bytes(first).span)
        try readNumber()
    }

    /// Writes the changed records of a batch, and those between them as they are.
    func apply(
        _ edits: TreeEdits, with order: inout KeyOrder
    ) throws(StoreError) {
        try edits.forEach(with: &order) { key, value throws(StoreError) in
            try replace(ObjectNumber(key.bigEndianUInt64(at: 0)), by: value)
        }
    }

    /// Writes a changed record, and those before it as they are.
    ///
    /// - Parameter value: nil for a record that is deleted.
    func replace(_ number: ObjectNumber, by value: ByteView?) throws(StoreError) {
        try copy(before: number)
        // A pass changes each record once, and inserts none.
        guard next == number else {
            throw .corrupt(
                target.root, "record \(number.rawValue) is changed after it was copied")
        }
        if let value { try append(number, value) }
        try advance()
    }

    /// Copies the records up to a number, and that one unless it was replaced or deleted.
    func copy(through number: ObjectNumber) throws(StoreError) {
        try copy(before: number)
        guard next == number else { return }
        try append(number, source.value())
        try advance()
    }

    private func copy(before number: ObjectNumber) throws(StoreError) {
        while let next, next < number {
            try append(next, source.value())
            try advance()
        }
    }

    /// Ends a part of the pass.
    func finish() throws(StoreError) {
        try builder?.finish()
        builder = nil
    }

    private func append(_ number: ObjectNumber, _ value: ByteView) throws(StoreError) {
        try RecordKey.inline(number).span.withView { key throws(StoreError) in
            if builder != nil {
                try builder?.append(key, value)
            } else {
                _ = try writer.insert(key, value)
            }
        }
    }

    private func advance() throws(StoreError) {
        _ = try source.next()
        try readNumber()
    }

    private func readNumber() throws(StoreError) {
        next = nil
        guard source.isValid else { return }
        let key = source.key
        guard key.count == 8 else {
            throw .corrupt(source.pageID, "the key of a record has \(key.count) bytes")
        }
        next = ObjectNumber(key.bigEndianUInt64(at: 0))
    }
}
