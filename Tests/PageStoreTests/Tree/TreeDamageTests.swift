import PageStore
import Testing

/// Damage with correct hashes: wrong pages that a transaction wrote.
@Suite struct TreeDamageTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        return options
    }

    /// A tree of three levels in a file, after `lie` has changed its pages.
    private func store(
        _ lie: (WriteTransaction, TreeID) throws -> Void
    ) throws -> (MemoryFileSystem, TreeID) {
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        for number in 0..<2000 {
            let key = Array("key \(number)".utf8)
            try transaction.insert(key.span, key.span, into: tree)
        }
        try #require(try transaction.page(tree.root)[NodeLayout.level] == 2)
        try lie(transaction, tree)
        _ = try transaction.commit()
        try engine.close()
        return (files, tree)
    }

    private static func child(_ page: PageBuffer, _ index: Int) -> PageID {
        if index < 0 { return PageID(page.uint64(at: NodeLayout.firstChild)) }
        return PageID(page.uint64(at: childOffset(page, index)))
    }

    private static func slotOffset(_ page: PageBuffer, _ index: Int) -> Int {
        let fences =
            Int(page.uint16(at: NodeLayout.lowerFenceSize))
            + Int(page.uint16(at: NodeLayout.upperFenceSize))
        return (NodeLayout.fences + fences + 7) / 8 * 8 + index * NodeLayout.slotSize
    }

    private static func childOffset(_ page: PageBuffer, _ index: Int) -> Int {
        let slot = slotOffset(page, index)
        let cell = Int(page.uint16(at: slot + NodeLayout.slotCell))
        return cell + NodeLayout.cellKey + Int(page.uint16(at: slot + NodeLayout.slotKeySize))
    }

    struct Lie: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Writes damage that a full scan surely meets; wrong content is found only by a check.
        var tell: @Sendable (WriteTransaction, TreeID) throws -> Void

        init(
            _ name: String, _ tell: @escaping @Sendable (WriteTransaction, TreeID) throws -> Void
        ) {
            testDescription = name
            self.tell = tell
        }
    }

    private static func editRoot(
        _ change: @escaping @Sendable (PageBuffer) throws -> Void
    ) -> @Sendable (WriteTransaction, TreeID) throws -> Void {
        { transaction, tree in try change(transaction.editablePage(tree.root)) }
    }

    /// Changes the leftmost leaf.
    private static func editLeaf(
        _ change: @escaping @Sendable (PageBuffer) -> Void
    ) -> @Sendable (WriteTransaction, TreeID) throws -> Void {
        { transaction, tree in
            let branch = try transaction.page(child(transaction.page(tree.root), -1))
            change(try transaction.editablePage(child(branch, -1)))
        }
    }

    static let lies: [Lie] = [
        Lie(
            "a cycle to the root",
            { transaction, tree in
                let branch = try transaction.editablePage(
                    child(transaction.page(tree.root), -1))
                branch.setUInt64(tree.root.rawValue, at: NodeLayout.firstChild)
            }),
        Lie(
            "a node that is its own child",
            editRoot { $0.setUInt64($0.id.rawValue, at: NodeLayout.firstChild) }),
        Lie(
            "a child that two slots share",
            editRoot { $0.setUInt64(child($0, -1).rawValue, at: childOffset($0, 0)) }),
        Lie(
            "a child that is no page", editRoot { $0.setUInt64(1 << 40, at: NodeLayout.firstChild) }
        ),
        Lie("a child of number zero", editRoot { $0.setUInt64(0, at: NodeLayout.firstChild) }),
        Lie("a level too high", editRoot { $0.setUInt8(23, at: NodeLayout.level) }),
        Lie("a level past the limit", editRoot { $0.setUInt8(255, at: NodeLayout.level) }),
        Lie("a leaf with a level", editLeaf { $0.setUInt8(1, at: NodeLayout.level) }),
        Lie(
            "two keys out of order",
            editLeaf {
                let (first, second) = (slotOffset($0, 0), slotOffset($0, 1))
                let word = $0.uint64(at: first)
                $0.setUInt64($0.uint64(at: second), at: first)
                $0.setUInt64(word, at: second)
            }),
        Lie(
            "a slot twice",
            editLeaf { $0.setUInt64($0.uint64(at: slotOffset($0, 0)), at: slotOffset($0, 1)) }),
        Lie(
            "a head that is not its key's",
            editLeaf { $0.setUInt32($0.uint32(at: slotOffset($0, 2)) ^ 1, at: slotOffset($0, 2)) }),
        Lie(
            "a cell behind the page",
            editLeaf { $0.setUInt16(511, at: slotOffset($0, 0) + NodeLayout.slotCell) }),
        Lie(
            "a key longer than the page",
            editLeaf { $0.setUInt16(0xFFFF, at: slotOffset($0, 0) + NodeLayout.slotKeySize) }),
        Lie("more slots than fit", editLeaf { $0.setUInt16(0xFFFF, at: NodeLayout.slotCount) }),
        Lie(
            "fewer slots than cells",
            editLeaf { page in
                let count = Int(page.uint16(at: NodeLayout.slotCount))
                page.setUInt64(0, at: slotOffset(page, count - 1))
                page.setUInt16(UInt16(count - 1), at: NodeLayout.slotCount)
            }),
        Lie(
            "a heap larger than the page",
            editLeaf { $0.setUInt16(0xFFFF, at: NodeLayout.heapSize) }),
        Lie("a wrong count of garbage", editLeaf { $0.setUInt16(3, at: NodeLayout.garbageSize) }),
        Lie(
            "a fence longer than a key",
            editLeaf { $0.setUInt16(400, at: NodeLayout.upperFenceSize) }),
        Lie(
            "a prefix that the fences do not share",
            editLeaf { $0.setUInt16(3, at: NodeLayout.prefixSize) }),
        Lie(
            "a fence below the keys",
            editLeaf { $0.setUInt8(1, at: NodeLayout.fences) }),
        Lie("a reserved field in use", editLeaf { $0.setUInt16(1, at: NodeLayout.zero) }),
        Lie("a leaf with a child", editLeaf { $0.setUInt64(7, at: NodeLayout.firstChild) }),
        Lie("an unknown kind", editLeaf { $0.setUInt8(200, at: NodeLayout.kind) }),
        Lie(
            "an overflow page for a leaf",
            editLeaf { $0.setUInt8(PageKind.overflow.rawValue, at: 0) }),
        Lie(
            "a leaf of another place",
            { transaction, tree in
                let root = try transaction.page(tree.root)
                let first = try transaction.page(child(root, -1))
                let second = try transaction.page(child(root, 0))
                let leaf = try transaction.editablePage(child(first, 0))
                leaf.copy(try transaction.page(child(second, 0)).view, to: 0)
            }),
    ]

    @Test(arguments: lies)
    func `damage in a tree is reported as a typed error with the page`(_ lie: Lie) throws {
        let (files, tree) = try store(lie.tell)
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let snapshot = try engine.snapshot()
        let findings = StoreCheck.run(snapshot)
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.code == .corrupt })
        #expect(findings.contains { $0.page != nil })

        for isForward in [true, false] {
            let cursor = Cursor(snapshot, tree: tree)
            let error = #expect(throws: StoreError.self) {
                var isMore = isForward ? try cursor.seekFirst() : try cursor.seekLast()
                while isMore { isMore = isForward ? try cursor.next() : try cursor.previous() }
            }
            #expect(error?.code == .corrupt)
            #expect(error?.page != nil)
            #expect(!cursor.isValid)
            #expect(try !cursor.next() && !cursor.previous())
        }
    }

    @Test(arguments: lies)
    func `changes to a damaged tree end in typed errors too`(_ lie: Lie) throws {
        let (files, tree) = try store(lie.tell)
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let transaction = try engine.beginWrite()
        for number in 0..<2000 {
            let key = Array("key \(number)".utf8)
            let other = Array("key \(number) and more".utf8)
            // The test requires that nothing traps or loops forever, and that errors are `corrupt`
            // or `truncated`.
            do throws(StoreError) {
                if number % 2 == 0 { try transaction.remove(key.span, from: tree) }
                try transaction.insert(other.span, key.span, into: tree)
            } catch {
                #expect(error.code == .corrupt || error.code == .truncated)
            }
        }
        #expect(throws: StoreError.self) { try transaction.deleteTree(tree) }
    }

    @Test func `an undamaged tree has no findings, and neither has the store without it`() throws {
        let (files, tree) = try store { _, _ in }
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        #expect(StoreCheck.run(try engine.snapshot()) == [])
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: [tree]) == [])
        let transaction = try engine.beginWrite()
        try transaction.deleteTree(tree)
        transaction.catalogRoot = nil
        _ = try transaction.commit()
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: []) == [])
    }

    @Test func `unreachable pages are found`() throws {
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let orphan = try transaction.allocatePage(.overflow)
        _ = try transaction.commit()
        let snapshot = try engine.snapshot()
        #expect(StoreCheck.run(snapshot).map(\.page) == [orphan.id])
        #expect(
            Set(StoreCheck.run(snapshot, knownTrees: []).map(\.page)) == [tree.root, orphan.id])
    }
}
