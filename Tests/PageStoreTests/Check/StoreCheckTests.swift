import PageStore
import TestSupport
import Testing

/// A whole file in which one byte is wrong.
@Suite struct StoreCheckTests {
    private struct Sample {
        let files = MemoryFileSystem()
        /// The states after the last commit and before it: damage to the last group of the log
        /// cannot be distinguished from a torn commit.
        let states: [[[UInt8]]]
        let blob: BlobID
        let tree: TreeID

        /// A checkpoint, and a few commits in the log after it.
        init() throws {
            let engine = try Engine.open(
                path: "store", options: StoreCheckTests.options(isReadOnly: false), files: files)
            let transaction = try engine.beginWrite()
            tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
            for number in 0..<500 {
                let key = Array("key \(number)".utf8)
                let value = Array(repeating: UInt8(number % 251), count: number % 50)
                try transaction.insert(key.span, value.span, into: tree)
            }
            blob = try transaction.createBlob([UInt8](repeating: 3, count: 5000).span)
            _ = try transaction.commit()
            try engine.checkpointNow()
            var states: [[[UInt8]]] = []
            for number in 0..<5 {
                let transaction = try engine.beginWrite()
                let key = Array("late \(number)".utf8)
                try transaction.insert(key.span, key.span, into: tree)
                _ = try transaction.commit()
                states.append(try StoreCheckTests.read(engine.snapshot(), tree, blob))
            }
            self.states = states.suffix(2)
        }
    }

    private static func options(isReadOnly: Bool) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.mode = isReadOnly ? .reading : .writing
        return options
    }

    private static func read(
        _ view: PageView, _ tree: TreeID, _ blob: BlobID
    ) throws -> [[UInt8]] {
        let cursor = Cursor(view, tree: tree)
        var content: [[UInt8]] = []
        var isMore = try cursor.seekFirst()
        while isMore {
            content.append(cursor.key.array())
            content.append(try cursor.value().array())
            isMore = try cursor.next()
        }
        content.append(try view.readBlob(blob))
        return content
    }

    private func flip(_ file: any StoreFile, at byteOffset: UInt64, _ mask: UInt8) throws {
        let buffer = ReadBuffer(count: 1)
        _ = try file.read(into: buffer, at: byteOffset)
        let changed = [buffer.view[0] ^ mask]
        try changed.withView { view throws(StoreError) in try file.write(view, at: byteOffset) }
    }

    @Test func `a flipped bit is found, or is in unused space`() throws {
        var random = SeededRandom(for: "StoreCheckTests")
        let sample = try Sample()
        let file = try sample.files.open("store", .readWrite)
        let size = Int(try file.size())
        var foundCount = 0
        let count = 1500 / Sweep.step
        for _ in 0..<count {
            let offset = UInt64(random.below(size))
            let mask = 1 << UInt8(random.below(8)) as UInt8
            try flip(file, at: offset, mask)
            defer { try? flip(file, at: offset, mask) }
            do {
                let engine = try Engine.open(
                    path: "store", options: Self.options(isReadOnly: true), files: sample.files)
                let snapshot = try engine.snapshot()
                let findings = StoreCheck.run(snapshot)
                guard findings.isEmpty else {
                    #expect(findings.allSatisfy { $0.code == .corrupt || $0.code == .truncated })
                    foundCount += 1
                    continue
                }
                let content = try Self.read(snapshot, sample.tree, sample.blob)
                let isKnown = sample.states.contains(content)
                #expect(isKnown, "byte \(offset), mask \(mask)")
            } catch let error as StoreError {
                #expect(error.path != nil || error.byteOffset != nil)
                foundCount += 1
            }
        }
        print("StoreCheckTests: \(foundCount) of \(count) flips in \(size) bytes were found")
        #expect(foundCount > count / 10)
    }

    @Test func `a file cut short is reported, or holds what it held`() throws {
        let sample = try Sample()
        let original = try sample.files.open("store", .readOnly)
        let size = Int(try original.size())
        let bytes = ReadBuffer(count: size)
        _ = try original.read(into: bytes, at: 0)
        for length in stride(from: 0, to: size, by: 97) {
            let files = MemoryFileSystem()
            try files.open("store", .create).write(bytes.view.slice(from: 0, count: length), at: 0)
            do {
                let engine = try Engine.open(
                    path: "store", options: Self.options(isReadOnly: true), files: files)
                let snapshot = try engine.snapshot()
                guard StoreCheck.run(snapshot).isEmpty else { continue }
                let content = try Self.read(snapshot, sample.tree, sample.blob)
                let isKnown = sample.states.contains(content)
                #expect(isKnown, "\(length) of \(size) bytes")
            } catch let error as StoreError {
                #expect(error.code != .io)
            }
        }
    }
}
