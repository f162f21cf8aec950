/// Builds the content of an empty tree from entries in ascending order of their keys.
///
/// Each node is filled but for a little room, finished, and not touched again. When the tree is
/// final they are written to their places in the file at once: a large tree is written once. The
/// root alone stays in memory, for its name is the tree's. Between the first entry and
/// ``finish()`` nothing else may use the tree.
///
/// A value, because an object's properties are checked for exclusivity at each access, several
/// times an entry. It cannot be copied, because two would write the same tree.
package struct TreeBuilder: ~Copyable {
    /// The node of one level that is being filled.
    private struct Level {
        struct Entry {
            var start: Int
            var keyCount: Int
            var valueCount: Int
            var isOverflow: Bool
        }

        /// Keys and values, one after the other.
        var arena = ByteBuffer(capacity: 16_384)
        var entries: [Entry] = []
        /// The size of the entries with whole keys.
        var sizeInBytes = 0
        var lower: [UInt8] = []
        var firstChild: PageID?
        /// The last count of entries at which a node can end.
        var cutCount = 0

        mutating func append(_ key: ByteView, _ value: ByteView, isOverflow: Bool) {
            let start = arena.count
            arena.append(key)
            arena.append(value)
            entries.append(
                Entry(
                    start: start, keyCount: key.count, valueCount: value.count,
                    isOverflow: isOverflow))
            sizeInBytes += NodeLayout.entrySize(keySize: key.count, valueSize: value.count)
        }
    }

    /// Finished nodes are written in one run.
    private static let runPageCount = 64

    private let editor: PageEditor
    private let tree: TreeID
    private let isFinal: Bool
    private let fillMax: Int
    private var levels = [Level()]
    private var finished: [PageBuffer] = []

    /// The tree must be empty.
    ///
    /// - Parameter isFinal: whether the transaction will hardly change what is built; other nodes
    ///   stay in memory as long as there is room.
    package init(
        _ editor: PageEditor, tree: TreeID, isFinal: Bool = true
    ) throws(StoreError) {
        self.editor = editor
        self.tree = tree
        self.isFinal = isFinal
        fillMax = SplitPlan.fillMax(pageSizeInBytes: editor.pageSizeInBytes)
        guard try editor.isEmpty(tree) else {
            throw StoreError(.invalidArgument, "only an empty tree is built in one go")
        }
    }

    /// Adds an entry after all others.
    package mutating func append(_ key: ByteView, _ value: ByteView) throws(StoreError) {
        try editor.checkKeySize(key)
        guard
            value.count > Limits.inlineValueSizeInBytesMax(pageSizeInBytes: editor.pageSizeInBytes)
        else { return try add(key, value, isOverflow: false, level: 0) }
        let reference = try editor.createBlob(value).encoded()
        try reference.withView { reference throws(StoreError) in
            try add(key, reference, isOverflow: true, level: 0)
        }
    }

    /// Finishes every level; the tree can be used then.
    package mutating func finish() throws(StoreError) {
        var level = 0
        while level < levels.count {
            let isTop = level == levels.count - 1
            // Without an upper fence there is no prefix to leave out.
            let count = levels[level].entries.count
            let start = firstEntryOfLastNode(level)
            if start > 0 {
                try close(level, count: start, upper: separator(level, at: start))
            } else if isTop {
                let root = try editor.editablePage(tree.root)
                build(root, level, count: count, upper: [])
                levels.removeAll()
                break
            } else {
                try close(level, count: count, upper: [])
                level += 1
            }
        }
        try writeFinished()
    }

    // MARK: Filling

    private mutating func add(
        _ key: ByteView, _ value: ByteView, isOverflow: Bool, level: Int
    ) throws(StoreError) {
        if !levels[level].entries.isEmpty {
            let cut = levels[level].cutCount
            if cut > 0, isFull(level, before: key) {
                try close(level, count: cut, upper: separator(level, at: cut))
            }
            levels[level].cutCount = levels[level].entries.count
        }
        levels[level].append(key, value, isOverflow: isOverflow)
    }

    /// Whether a node of all entries that a level has, bounded before a key, is past its fill.
    private func isFull(_ level: Int, before key: ByteView) -> Bool {
        // An upper bound: each key is stored without the prefix that the fences share.
        let fencesSize = levels[level].lower.count + key.count
        let most = NodeLayout.slotsStart(fencesSize: fencesSize) + levels[level].sizeInBytes
        guard most > fillMax, let last = levels[level].entries.last else { return false }
        let fence =
            level == 0
            ? SplitPlan.shortestSeparator(between: self.key(last, level), and: key) : key.array()
        return builtSize(level, from: 0, upper: fence) > fillMax
    }

    private func key(_ entry: Level.Entry, _ level: Int) -> ByteView {
        levels[level].arena.view.slice(from: entry.start, count: entry.keyCount)
    }

    private func value(_ entry: Level.Entry, _ level: Int) -> ByteView {
        levels[level].arena.view.slice(
            from: entry.start + entry.keyCount, count: entry.valueCount)
    }

    private func entrySize(_ entry: Level.Entry) -> Int {
        NodeLayout.entrySize(keySize: entry.keyCount, valueSize: entry.valueCount)
    }

    /// The size of a node of the entries from one on.
    private func builtSize(_ level: Int, from start: Int, upper: [UInt8]) -> Int {
        let node = levels[level]
        let lower = start == 0 ? node.lower : separator(level, at: start)
        let skipped = node.entries[..<start].reduce(0) { $0 + entrySize($1) }
        let shared = lower.withView { lower in
            upper.withView { lower.sharedPrefixCount(with: $0) }
        }
        return NodeLayout.slotsStart(fencesSize: lower.count + upper.count) + node.sizeInBytes
            - skipped - shared * (node.entries.count - start)
    }

    /// Where the last node of a level begins, whose entries have no upper fence; 0 when all of
    /// them fit.
    private func firstEntryOfLastNode(_ level: Int) -> Int {
        var start = 0
        while builtSize(level, from: start, upper: []) > editor.pageSizeInBytes { start += 1 }
        return start
    }

    /// The fence between an entry and the one before it.
    private func separator(_ level: Int, at index: Int) -> [UInt8] {
        let entries = levels[level].entries
        let key = key(entries[index], level)
        guard level == 0 else { return key.array() }
        return SplitPlan.shortestSeparator(between: self.key(entries[index - 1], level), and: key)
    }

    // MARK: Finishing

    /// Finishes a node of the first entries of a level; the rest begins the next one.
    private mutating func close(_ level: Int, count: Int, upper: [UInt8]) throws(StoreError) {
        let page = try editor.allocatePage(level == 0 ? .treeLeaf : .treeBranch)
        build(page, level, count: count, upper: upper)
        if isFinal { finished.append(page) }
        let lower = levels[level].lower
        restart(level, behind: count, lower: upper)
        if level + 1 == levels.count {
            guard levels.count < Limits.treeDepthMax else {
                throw StoreError(.tooLarge, "a tree has more than \(Limits.treeDepthMax) levels")
            }
            var above = Level()
            above.firstChild = page.id
            levels.append(above)
        } else {
            let child = page.id.encoded()
            try lower.withView { lower throws(StoreError) in
                try child.withView { child throws(StoreError) in
                    try add(lower, child, isOverflow: false, level: level + 1)
                }
            }
        }
        if !isFinal || finished.count >= Self.runPageCount { try writeFinished() }
    }

    private func build(_ page: PageBuffer, _ level: Int, count: Int, upper: [UInt8]) {
        let node = levels[level]
        node.lower.withView { lower in
            upper.withView { upper in
                var builder = NodeBuilder(
                    page, level: level, lower: lower, upper: upper, firstChild: node.firstChild)
                for entry in node.entries.prefix(count) {
                    builder.append(
                        key(entry, level), value(entry, level), isOverflow: entry.isOverflow)
                }
                builder.finish()
            }
        }
    }

    /// Begins a level's next node with the entries that the last one did not take.
    private mutating func restart(_ level: Int, behind count: Int, lower: [UInt8]) {
        let old = levels[level]
        var new = Level()
        new.lower = lower
        var rest = old.entries[count...]
        if level > 0, let first = rest.popFirst() {
            // A branch sends this entry's key up and keeps its child.
            new.firstChild = PageID(value(first, level).uint64(at: 0))
        }
        for entry in rest {
            new.append(key(entry, level), value(entry, level), isOverflow: entry.isOverflow)
        }
        levels[level] = new
    }

    private mutating func writeFinished() throws(StoreError) {
        if !finished.isEmpty { try editor.writeOut(finished) }
        finished = []
        try editor.makeRoom()
    }
}
