import TestSupport
import Testing

@testable import PageStore

/// Pages that a transaction allocates and frees again.
@Suite struct FreedPageTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.dirtyBytesMax = 16 * 512
        return options
    }

    @Test func `a page that is allocated, freed and allocated again is written once`() throws {
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let transaction = try engine.beginWrite()
        let root = try transaction.createTree()
        transaction.catalogRoot = root.root
        var trees = [root]
        for number in 0..<64 {
            // The next tree gets this one's page.
            let brief = try transaction.createTree()
            _ = try transaction.insert([1].span, [UInt8(number)].span, into: brief)
            try transaction.deleteTree(brief)
            let tree = try transaction.createTree()
            #expect(tree.root == brief.root)
            _ = try transaction.insert([2].span, [UInt8(number)].span, into: tree)
            trees.append(tree)
            try transaction.makeRoom()
        }
        try transaction.commit()
        try engine.close()
        try check(files, trees)
    }

    /// Checks that each unit of the file belongs to a page, is free, or is the store's own.
    private func check(_ files: MemoryFileSystem, _ trees: [TreeID]) throws {
        var options = Self.options
        options.mode = .reading
        let reader = try Engine.open(path: "store", options: options, files: files)
        #expect(StoreCheck.run(try reader.snapshot(), knownTrees: trees) == [])
        try reader.close()
    }
}
