import PageStore

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
