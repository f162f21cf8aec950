import PageStore

/// Fills an empty index with the entries of the stored records, in memory that does not grow with
/// their number: entries are sorted in runs. If one run cannot hold them all, each run is written
/// as a tree of its own, and these trees are merged into the index.
struct IndexBuild {
    /// The memory limit of a run, in multiples of the size from which trees are built in bulk.
    private static let runSizeFactor = 64

    private let index: IndexLayout
    private let transaction: RecordTransaction
    private let runSizeInBytesMax: Int
    private let edits = TreeEdits()
    private var order = KeyOrder.Memory()
    private var runs: [TreeID] = []

    private var editor: PageEditor { transaction.editor }

    init(_ index: IndexLayout, in transaction: RecordTransaction) {
        self.index = index
        self.transaction = transaction
        let (size, isTooLarge) = transaction.editor.bulkBytesMin
            .multipliedReportingOverflow(by: Self.runSizeFactor)
        runSizeInBytesMax = isTooLarge ? .max : size
    }

    mutating func run() throws(StoreError) {
        try collect()
        let tree = transaction.trees.indexes[index.id]
        if runs.isEmpty {
            try edits.apply(to: tree, of: editor, with: &order)
        } else {
            if !edits.isEmpty { try endRun() }
            try merge(into: tree)
            for run in runs { try editor.deleteTree(run) }
        }
    }

    private mutating func collect() throws(StoreError) {
        let entity = transaction.schema.knownEntity(tag: index.entityTag)
        let cursor = transaction.recordCursor(entity.hierarchy, isScan: true)
        var key = transaction.keyEncoder(columnCount: index.columns.count)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            key.removeAll()
            try transaction.append(index.columns, of: row, to: &key)
            key.append(cursor.number)
            edits.insert(key.bytes)
            if edits.sizeInBytes >= runSizeInBytesMax { try endRun() }
        }
    }

    private mutating func endRun() throws(StoreError) {
        let run = try editor.createTree()
        try edits.build(run, of: editor, with: &order)
        runs.append(run)
    }

    private func merge(into tree: TreeID) throws(StoreError) {
        let builder = try TreeBuilder(editor, tree: tree)
        var heads = MergeHeads(capacity: runs.count)
        for run in runs {
            let cursor = Cursor(editor, tree: run, isScan: true)
            if try cursor.seekFirst() { heads.add(cursor) }
        }
        let noValue: [UInt8] = []
        try noValue.withView { noValue throws(StoreError) in
            while let key = heads.firstKey {
                try builder.append(key, noValue)
                try heads.advance()
            }
        }
        try builder.finish()
    }
}

/// The cursors of a merge, as a binary heap by their keys.
private struct MergeHeads {
    private struct Head {
        let cursor: Cursor
        /// The cursor's key, valid until it moves.
        var key: ByteView
    }

    private var heads: [Head] = []

    init(capacity: Int) { heads.reserveCapacity(capacity) }

    /// The smallest key, valid until the next call of ``advance()``; nil at the end of all runs.
    var firstKey: ByteView? { heads.first?.key }

    mutating func add(_ cursor: Cursor) {
        heads.append(Head(cursor: cursor, key: cursor.key))
        var child = heads.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { return }
            heads.swapAt(child, parent)
            child = parent
        }
    }

    /// Moves the cursor of the smallest key to its next one, and restores the heap.
    mutating func advance() throws(StoreError) {
        let cursor = heads[0].cursor
        if try cursor.next() {
            heads[0].key = cursor.key
        } else {
            heads.swapAt(0, heads.count - 1)
            heads.removeLast()
        }
        var parent = 0
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2)
            where child < heads.count && isBefore(child, least) { least = child }
            if least == parent { return }
            heads.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        heads[left].key.compare(heads[right].key) < 0
    }
}
