import TestSupport
import Testing

@testable import PageStore

/// A copy is whole with either of its superblocks: losing one loses no content.
@Suite struct CopySlotTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.checkpointsInBackground = false
        return options
    }

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

    private func content(_ engine: Engine) throws -> [[UInt8]: [UInt8]] {
        let snapshot = try engine.snapshot()
        var found: [[UInt8]: [UInt8]] = [:]
        guard let root = snapshot.catalogRoot else { return found }
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var isMore = try cursor.seekFirst()
        while isMore {
            found[cursor.key.array()] = try cursor.value().array()
            isMore = try cursor.next()
        }
        return found
    }

    /// Expects the content of the copy after one superblock is lost, from a reader and a writer.
    private func expectWhole(
        _ copies: MemoryFileSystem, _ path: String, _ expected: [[UInt8]: [UInt8]], _ slot: Int
    ) throws {
        let file = try copies.open(path, .readOnly)
        let buffer = ReadBuffer(count: Int(try file.size()))
        _ = try file.read(into: buffer, at: 0)
        file.close()
        var bytes = buffer.view.array()
        let size = SuperblockLayout.size
        bytes.replaceSubrange(
            slot * size..<(slot + 1) * size, with: repeatElement(0, count: size))
        for mode in [OpenMode.reading, .writing] {
            var options = Self.options
            options.mode = mode
            let copy = try Engine.open(
                path: path, options: options, files: FaultyFileSystem(bytes: bytes))
            #expect(try content(copy) == expected, "superblock \(slot) is lost, \(mode)")
            try copy.close()
        }
    }

    @Test(arguments: [0, 1]) func `a backup is whole without one of its superblocks`(
        slot: Int
    ) throws {
        var random = SeededRandom(for: "CopySlotTests")
        let copies = MemoryFileSystem()
        let engine = try Engine.open(
            path: "store", options: Self.options, files: MemoryFileSystem())
        for _ in 0..<5 { try change(engine, &random) }
        try engine.copy(to: "copy", files: copies)
        try expectWhole(copies, "copy", content(engine), slot)
    }

    @Test(arguments: [0, 1]) func `an updated copy is whole without one of its superblocks`(
        slot: Int
    ) throws {
        var random = SeededRandom(for: "CopySlotTests update")
        let copies = MemoryFileSystem()
        let engine = try Engine.open(
            path: "store", options: Self.options, files: MemoryFileSystem())
        try change(engine, &random)
        try engine.copy(to: "copy", files: copies)
        for _ in 0..<3 {
            for _ in 0..<3 { try change(engine, &random) }
            try engine.updateCopy(at: "copy", files: copies)
            try expectWhole(copies, "copy", content(engine), slot)
        }
    }
}
