import Testing

@testable import PageStore

@Suite struct PageCheckTests {
    private func page(_ change: (WriteTransaction, TreeID) throws -> Void) throws -> PageBuffer {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 128
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        try change(transaction, tree)
        return PageBuffer(copying: try transaction.page(tree.root))
    }

    private func leaf() throws -> PageBuffer {
        try page { transaction, tree in
            for word in ["", "a", "aardvark", "zebra"] {
                try transaction.insert(word.utf8.span, "value".utf8.span, into: tree)
            }
            try transaction.remove("a".utf8.span, from: tree)
        }
    }

    private func branch() throws -> PageBuffer {
        try page { transaction, tree in
            for number in 100..<300 {
                try transaction.insert("\(number)".utf8.span, "value".utf8.span, into: tree)
            }
        }
    }

    @Test func `a leaf and a branch that the tree wrote pass`() throws {
        try PageCheck.validate(leaf())
        try PageCheck.validate(branch())
    }

    @Test func `a summary shows what a page holds, and of a damaged page its kind`() throws {
        let page = try leaf()
        let summary = PageSummary(page)
        #expect(summary.kind == .treeLeaf)
        #expect(summary.fields.contains { $0.name == "slotCount" && $0.value == 3 })
        #expect(
            summary.entries.map { String(decoding: $0.key, as: UTF8.self) } == [
                "", "aardvark", "zebra",
            ])
        #expect(summary.entries[1].content == .value(Array("value".utf8)))
        let above = PageSummary(try branch())
        #expect(above.kind == .treeBranch && above.entries.count > 2)
        for entry in above.entries {
            guard case .child = entry.content else {
                Issue.record("a branch has children only")
                continue
            }
        }
        page.setUInt16(9999, at: NodeLayout.slotCount)
        #expect(PageSummary(page).kind == .treeLeaf && PageSummary(page).entries.isEmpty)
    }

    /// Whatever value one byte gets, the page is refused or is still safe to search and to change.
    @Test(arguments: [true, false])
    func `a node with any one byte changed is refused or safe`(_ isLeaf: Bool) throws {
        let original = isLeaf ? try leaf() : try branch()
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        var refusedCount = 0
        for offset in 0..<original.count {
            for change in [1, 0x80, 0xFF, 0x10] as [UInt8] {
                let copy = PageBuffer(copying: original)
                copy[offset] ^= change
                do throws(StoreError) {
                    try PageCheck.validate(copy)
                } catch {
                    #expect(error.code == .corrupt && error.byteOffset != nil)
                    refusedCount += 1
                    continue
                }
                try transaction.editablePage(tree.root).copy(copy.view, to: 0)
                useTree(tree, in: transaction)
            }
        }
        // Most bytes of these pages are empty space that must be zero, or are checked one by one.
        #expect(refusedCount > original.count * 2)
    }

    private var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 128
        return options
    }

    private func useTree(_ tree: TreeID, in transaction: WriteTransaction) {
        let cursor = Cursor(transaction, tree: tree)
        if (try? cursor.seekFirst()) == true {
            repeat {
                _ = cursor.key.array()
                _ = try? cursor.value().array()
            } while (try? cursor.next()) == true
        }
        for word in ["", "a", "b", "aardvark", "150"] {
            _ = try? transaction.insert(word.utf8.span, "another value".utf8.span, into: tree)
            _ = try? transaction.remove(word.utf8.span, from: tree)
        }
    }

    /// One entry's value contains a possible cell, and a slot is made to point to it.
    @Test(arguments: [["a", "b"], ["b", "a"]], ["a", "b"])
    func `a cell inside another is refused, in any order of cells`(
        _ order: [String], _ outer: String
    ) throws {
        let inner = outer == "a" ? "b" : "a"
        let small: [UInt8] = [1, 2, 3, 4, 5]
        let large: [UInt8] = [0, 0, 0, 5, 0] + Array(inner.utf8) + small
        let page = try leaf(order.map { Entry(key: $0, value: $0 == outer ? large : small) })
        try PageCheck.validate(page)
        let cell = Int(page.uint16(at: slot(of: outer) + NodeLayout.slotCell))
        let within = cell + NodeLayout.cellKey + 1 + 3
        page.setUInt16(UInt16(within), at: slot(of: inner) + NodeLayout.slotCell)
        let error = #expect(throws: StoreError.self) { try PageCheck.validate(page) }
        #expect(error?.message == "two cells overlap")
    }

    private struct Entry {
        var key: String
        var value: [UInt8]
    }

    private func leaf(_ entries: [Entry]) throws -> PageBuffer {
        try page { transaction, tree in
            for entry in entries {
                let (key, value) = (Array(entry.key.utf8), entry.value)
                try transaction.insert(key.span, value.span, into: tree)
            }
        }
    }

    /// The slot in a leaf without fences that holds the keys a and b.
    private func slot(of key: String) -> Int {
        NodeLayout.slotsStart(fencesSize: 0) + (key == "a" ? 0 : NodeLayout.slotSize)
    }

    @Test func `the largest keys leave room for four in a branch`() throws {
        for size in [512, 1024, 4096, 16_384, 65_536] {
            let key = Limits.keySizeInBytesMax(pageSizeInBytes: size)
            let value = Limits.inlineValueSizeInBytesMax(pageSizeInBytes: size)
            let entry = NodeLayout.slotSize + NodeLayout.cellKey + key
            #expect(4 * (entry + 8) + NodeLayout.fences + 2 * key <= size)
            // The rule by which every leaf can be split: see spec/04-tree.md.
            #expect(entry + value + NodeLayout.fences + 8 + 3 * key <= size)
        }
    }
}
