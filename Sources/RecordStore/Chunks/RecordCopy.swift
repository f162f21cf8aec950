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
        _ edits: TreeEdits, with order: inout KeyOrder.Memory
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

// MARK: In a migration

extension MigrationRun {
    /// The name of a copy until it is complete. There is one at a time.
    private static let copyName = "copied"

    /// Copies the trees of a hierarchy's indexes and to-one links, each in a pass, before a pass
    /// that changes its records and maintains them.
    ///
    /// - Parameter isNeeded: whether that pass changes any record.
    func copySharedTrees(
        of hierarchy: HierarchyID, if isNeeded: () throws(StoreError) -> Bool
    ) throws(StoreError) {
        let indexes = schema.indexes.filter { index in
            schema.knownEntity(tag: index.entityTag).hierarchy == hierarchy
        }
        let links = schema.relationships.filter { relationship in
            relationship.field != nil
                && schema.knownEntity(tag: relationship.sourceTag).hierarchy == hierarchy
        }
        for name in (indexes.map(\.treeName) + links.map(\.treeName)).sorted() {
            try TreeCopy(run: self, live: live).copyShared(name, if: isNeeded)
        }
    }

    /// Whether the records of a hierarchy are those of the file's model, which must not change: a
    /// pass that changes them copies them.
    func sharesRecords(of hierarchy: HierarchyID) throws(StoreError) -> Bool {
        try lentTrees.contains(transaction.trees.records(hierarchy))
    }

    /// Whether passes change a tree that the file's model has as well.
    func maintainsShared(_ name: String) throws(StoreError) -> Bool {
        guard !unmaintainedTrees.contains(name), let tree = try catalog.tree(name, of: editor)
        else { return false }
        return changingTrees.contains(tree)
    }

    /// The tree to which a pass copies another.
    ///
    /// - Parameter isNew: whether the pass begins.
    func targetOfCopy(isNew: Bool) throws(StoreError) -> TreeID {
        if isNew { return try catalog.createTree(Self.copyName, in: editor) }
        guard let target = try catalog.tree(Self.copyName, of: editor) else {
            throw .corrupt(catalog.root.root, "the catalog does not name the tree of a copy")
        }
        return target
    }

    /// Gives a complete copy the name of the tree that it was made from.
    func endCopy(of name: String) throws(StoreError) {
        try catalog.removeTree(name, in: editor)
        try catalog.renameTree(Self.copyName, to: name, in: editor)
        forgetTrees()
    }

    /// Begins a part of a pass that copies records.
    ///
    /// - Parameter first: the number to begin at; zero for the first part.
    func beginCopy(
        of hierarchy: HierarchyID, at first: ObjectNumber
    ) throws(StoreError) -> RecordCopy {
        let target = try targetOfCopy(isNew: first == ObjectNumber(0))
        let transaction = try transaction
        let copy = try RecordCopy(
            hierarchy, from: transaction.trees.records(hierarchy), to: target, in: editor,
            at: first)
        transaction.recordCopy = copy
        return copy
    }

    /// Ends a pass that has copied all records: from now on they are those of the later model.
    func endCopy(of hierarchy: HierarchyID) throws(StoreError) {
        let root = schema.knownEntity(tag: hierarchy.rootTag)
        try endCopy(of: TreeTable.recordsName(root.name))
    }
}
