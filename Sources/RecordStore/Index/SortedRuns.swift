import PageStore

/// Keys without values that are collected in any order and written into one tree in ascending
/// order, in memory that does not grow with their number: they are sorted in runs. If one run
/// cannot hold them all, each run is written as a tree of its own, and these trees are merged.
struct SortedRuns {
    /// The memory limit of a run, in multiples of the size from which trees are built in bulk.
    private static let runSizeFactor = 64

    private let editor: PageEditor
    private let runSizeInBytesMax: Int
    private let edits = TreeEdits()
    private var order = KeyOrder.Memory()
    private var runs: [TreeID] = []

    /// - Parameter shareCount: how many sets of runs are collected at the same time, which share
    ///   the memory.
    init(_ editor: PageEditor, shareCount: Int = 1) {
        self.editor = editor
        let (size, isTooLarge) = editor.bulkBytesMin
            .multipliedReportingOverflow(by: Self.runSizeFactor)
        runSizeInBytesMax = (isTooLarge ? .max : size) / shareCount
    }

    mutating func insert(_ key: [UInt8]) throws(StoreError) {
        edits.insert(key)
        try endRunIfFull()
    }

    /// Inserts a key of two numbers.
    mutating func insert(_ first: ObjectNumber, _ second: ObjectNumber) throws(StoreError) {
        edits.insert(first.rawValue, second.rawValue)
        try endRunIfFull()
    }

    /// Writes all keys into a tree, and forgets them. An empty tree is built in bulk: each page is
    /// written once.
    mutating func write(to tree: TreeID) throws(StoreError) {
        guard !runs.isEmpty else {
            try edits.apply(to: tree, of: editor, with: &order)
            return
        }
        if !edits.isEmpty { try endRun() }
        if try editor.isEmpty(tree) {
            var builder = try TreeBuilder(editor, tree: tree)
            try merge { key, value throws(StoreError) in try builder.append(key, value) }
            try builder.finish()
        } else {
            let writer = TreeWriter(editor, tree: tree, isAscending: true)
            try merge { key, value throws(StoreError) in _ = try writer.insert(key, value) }
        }
        for run in runs { try editor.deleteTree(run) }
        runs = []
    }

    private mutating func endRunIfFull() throws(StoreError) {
        if edits.sizeInBytes >= runSizeInBytesMax { try endRun() }
    }

    private mutating func endRun() throws(StoreError) {
        let run = try editor.createTree()
        try edits.build(run, of: editor, with: &order)
        runs.append(run)
    }

    private func merge(
        _ body: (ByteView, ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        var heads = MergeHeads(capacity: runs.count)
        for run in runs {
            let cursor = Cursor(editor, tree: run, isScan: true)
            if try cursor.seekFirst() { heads.add(cursor) }
        }
        let noValue: [UInt8] = []
        try noValue.withView { noValue throws(StoreError) in
            while let key = heads.firstKey {
                try body(key, noValue)
                try heads.advance()
            }
        }
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
