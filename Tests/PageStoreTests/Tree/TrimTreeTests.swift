import PageStore
import Testing

/// Trees that are deleted in pieces are valid after each.
@Suite struct TrimTreeTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        return options
    }

    /// A tree in which some values are overflow values.
    private func tree(_ count: Int, in engine: Engine) throws -> TreeID {
        let editor = try engine.beginWrite()
        let tree = try editor.createTree()
        for number in 0..<count {
            // Neighbours share much of their keys.
            let digits = "\(number)"
            let zeros = String(repeating: "0", count: 8 - digits.count)
            let key = Array("a long beginning of keys \(zeros)\(digits)".utf8)
            let size = number.isMultiple(of: 50) ? 700 : number % 20
            _ = try editor.insert(key.span, [UInt8](repeating: 7, count: size).span, into: tree)
        }
        try editor.commit()
        return tree
    }

    private func check(_ engine: Engine, _ trees: [TreeID]) throws {
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: trees) == [])
    }

    /// A level has about a dozen children here, so a piece is 150 pages at most.
    @Test(arguments: [0, 1, 20, 300, 4000])
    func `a tree is deleted in pieces, and each piece leaves it valid`(count: Int) throws {
        let engine = try Engine.inMemory(options: Self.options)
        let other = try tree(30, in: engine)
        let dropped = try tree(count, in: engine)
        var pieceCount = 0
        var isDone = false
        while !isDone {
            let editor = try engine.beginWrite()
            isDone = try editor.trimTree(dropped) { editor.freedPageCount < 10 }
            #expect(editor.freedPageCount < 10 + 400)
            try editor.commit()
            pieceCount += 1
            try check(engine, [other, dropped])
        }
        #expect(pieceCount > count / 500)
        let editor = try engine.beginWrite()
        #expect(try editor.trimTree(dropped) { false })
        try editor.deleteTree(dropped)
        #expect(editor.freedPageCount < 10)
        try editor.commit()
        try check(engine, [other])
        try engine.close()
    }

    @Test func `trimming a tree with no allowance changes nothing`() throws {
        let engine = try Engine.inMemory(options: Self.options)
        let tree = try tree(300, in: engine)
        let editor = try engine.beginWrite()
        #expect(try !editor.trimTree(tree) { false })
        #expect(!editor.hasChanges)
        editor.rollback()
        try engine.close()
    }
}
