import PageStore

/// Keys without values that are collected in any order and written into one tree in ascending
/// order, in memory that does not grow with their number: they are sorted in runs. If one run
/// cannot hold them all, each run is written as a tree of its own, and these trees are merged.
///
/// A key takes its bytes and an entry of the order, which is sorted in place.
struct SortedRuns {
    private let editor: PageEditor
    private let isFinal: Bool
    private let runSizeInBytesMax: Int
    private var keys = ByteBuffer(capacity: 4096)
    /// The index of a key is 1 if it may equal others.
    private var order = KeyOrder()
    private var isSorted = true
    private var runs: RunTrees

    /// - Parameter isFinal: whether the transaction will hardly change what is built: see
    ///   ``TreeBuilder``. What is merged of several runs is final.
    init(_ editor: PageEditor, isFinal: Bool) {
        self.editor = editor
        self.isFinal = isFinal
        runSizeInBytesMax = RunTrees.runSizeInBytesMax(of: editor)
        runs = RunTrees(editor)
    }

    /// No key comes twice.
    ///
    /// - Parameter isComparable: whether ``hasEqualColumns()`` compares it.
    mutating func insert(_ key: [UInt8], isComparable: Bool = false) {
        let start = keys.count
        key.withView { keys.append($0) }
        order.append(start: start, count: key.count, index: isComparable ? 1 : 0, in: keys.view)
        isSorted = false
    }

    /// Whether the run has to end before more keys come.
    var isRunFull: Bool {
        let orderSize = order.entries.count * MemoryLayout<KeyOrder.Entry>.stride
        return keys.count + orderSize >= runSizeInBytesMax
    }

    /// Writes the run. Before the first one nothing is written.
    mutating func endRun() throws(StoreError) { try writeRun(to: runs.addTree(), isFinal: true) }

    /// Forgets the run, and frees its memory.
    mutating func removeRun() {
        keys = ByteBuffer(capacity: 4096)
        order = KeyOrder()
        isSorted = true
    }

    /// Writes all keys into an empty tree, and forgets them. Each page is written once.
    mutating func write(to tree: TreeID) throws(StoreError) {
        guard !runs.isEmpty else { return try writeRun(to: tree, isFinal: isFinal) }
        if keys.count > 0 { try endRun() }
        try runs.merge(into: tree)
    }

    /// Whether two comparable keys of the run differ only in the object's number at their ends.
    mutating func hasEqualColumns() -> Bool {
        sort()
        var isFound = false
        var last: ByteView?
        forEachKey { key, isComparable in
            guard isComparable else { return }
            let columns = key.slice(from: 0, count: key.count - Self.numberSize)
            if let last, last == columns { isFound = true }
            last = columns
        }
        return isFound
    }

    private static let numberSize = KeyShape.numbered.suffixSizeInBytes

    // MARK: The run

    private mutating func sort() {
        guard !isSorted else { return }
        order.sort(in: keys.view)
        isSorted = true
    }

    private mutating func writeRun(to tree: TreeID, isFinal: Bool) throws(StoreError) {
        guard keys.count > 0 else { return }
        sort()
        let noValue = keys.view.slice(from: 0, count: 0)
        var builder = try TreeBuilder(editor, tree: tree, isFinal: isFinal)
        try forEachKey { key, _ throws(StoreError) in try builder.append(key, noValue) }
        try builder.finish()
        order.removeAll()
        keys.removeAll()
    }

    /// How many keys ahead are prefetched.
    private static let prefetchDistance = 8

    @inline(__always) private func forEachKey<E: Error>(
        _ body: (_ key: ByteView, _ isComparable: Bool) throws(E) -> Void
    ) throws(E) {
        let (bytes, entries) = (keys.view, order.entries)
        for (position, entry) in entries.enumerated() {
            let next = position + Self.prefetchDistance
            if next < entries.count { Self.key(entries[next], bytes).prefetch() }
            try body(Self.key(entry, bytes), entry.index == 1)
        }
    }

    private static func key(_ entry: KeyOrder.Entry, _ bytes: ByteView) -> ByteView {
        bytes.slice(from: entry.start, count: Int(entry.count))
    }
}

/// The trees of sorted runs, whose keys have no values and are all different, until they are merged
/// into one.
struct RunTrees {
    /// The memory limit of a run, in multiples of the size from which trees are built in bulk.
    private static let runSizeFactor = 64

    private let editor: PageEditor
    private var trees: [TreeID] = []

    init(_ editor: PageEditor) { self.editor = editor }

    static func runSizeInBytesMax(of editor: PageEditor) -> Int {
        let (size, isTooLarge) = editor.bulkBytesMin
            .multipliedReportingOverflow(by: runSizeFactor)
        return isTooLarge ? .max : size
    }

    var isEmpty: Bool { trees.isEmpty }

    /// An empty tree for another run.
    mutating func addTree() throws(StoreError) -> TreeID {
        let tree = try editor.createTree()
        trees.append(tree)
        return tree
    }

    /// Writes all keys into a tree, which is built in bulk if it is empty, and deletes the runs.
    mutating func merge(into tree: TreeID) throws(StoreError) {
        if try editor.isEmpty(tree) {
            var builder = try TreeBuilder(editor, tree: tree)
            try merge { key, value throws(StoreError) in try builder.append(key, value) }
            try builder.finish()
        } else {
            let writer = TreeWriter(editor, tree: tree, isAscending: true)
            try merge { key, value throws(StoreError) in _ = try writer.insert(key, value) }
        }
        for tree in trees { try editor.deleteTree(tree) }
        trees = []
    }

    private func merge(
        _ body: (ByteView, ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        var heads = MergeHeads(capacity: trees.count)
        for tree in trees {
            let cursor = Cursor(editor, tree: tree, isScan: true)
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
