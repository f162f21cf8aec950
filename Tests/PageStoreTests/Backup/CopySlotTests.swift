import TestSupport
import Testing

@testable import PageStore

/// A copy is whole with either of its superblocks: losing one loses no content.
@Suite struct CopySlotTests {
    private func change(_ engine: Engine, _ random: inout SeededRandom) throws {
        let transaction = try engine.beginWrite()
        let tree: TreeID
        if let root = transaction.catalogRoot {
            tree = TreeID(root: root)
        } else {
            tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
        }
        for _ in 0..<20 {
            let key = [UInt8(random.below(200))]
            try transaction.insert(key.span, random.bytes(100).span, into: tree)
        }
        _ = try transaction.commit()
    }

    /// Expects the content of the copy after one superblock is lost, from a reader and a writer.
    private func expectWhole(
        _ copies: MemoryFileSystem, _ path: String, _ expected: [[UInt8]: [UInt8]], _ slot: Int
    ) throws {
        var bytes = try copies.bytes(of: path)
        let size = SuperblockLayout.size
        bytes.replaceSubrange(
            slot * size..<(slot + 1) * size, with: repeatElement(0, count: size))
        for mode in [OpenMode.reading, .writing] {
            var options = Engine.Options.small
            options.mode = mode
            let copy = try Engine.open(
                path: path, options: options, files: FaultyFileSystem(bytes: bytes))
            #expect(try copy.catalogEntries() == expected, "superblock \(slot) is lost, \(mode)")
            try copy.close()
        }
    }

    @Test(arguments: [0, 1]) func `a backup is whole without one of its superblocks`(
        slot: Int
    ) throws {
        var random = SeededRandom(for: "CopySlotTests")
        let copies = MemoryFileSystem()
        let engine = try Engine.open(
            path: "store", options: .small, files: MemoryFileSystem())
        for _ in 0..<5 { try change(engine, &random) }
        try engine.copy(to: "copy", files: copies)
        try expectWhole(copies, "copy", engine.catalogEntries(), slot)
    }

    @Test(arguments: [0, 1]) func `an updated copy is whole without one of its superblocks`(
        slot: Int
    ) throws {
        var random = SeededRandom(for: "CopySlotTests update")
        let copies = MemoryFileSystem()
        let engine = try Engine.open(
            path: "store", options: .small, files: MemoryFileSystem())
        try change(engine, &random)
        try engine.copy(to: "copy", files: copies)
        for _ in 0..<3 {
            for _ in 0..<3 { try change(engine, &random) }
            try engine.updateCopy(at: "copy", files: copies)
            try expectWhole(copies, "copy", engine.catalogEntries(), slot)
        }
    }

    /// A program that does not know the features must not write to the copy either.
    @Test func `a copy has the features of its store`() throws {
        let files = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: .small, files: files)
        engine.parts.pager.withPublished {
            $0.superblock.featuresCompatible = 5
            $0.superblock.featuresReadOnly = 6
        }
        try engine.copy(to: "copy")
        let copy = try Engine.open(path: "copy", options: .small, files: files)
        #expect(copy.superblock.featuresCompatible == 5)
        #expect(copy.superblock.featuresReadOnly == 6)
        #expect(throws: StoreError.self) { try copy.beginWrite() }
    }
}
