import Primitives
import TestSupport
import Testing

@testable import PageStore

/// Segments of the log in parts of the file that an earlier opening took and never wrote.
@Suite struct SegmentHoleTests {
    /// A file in memory all of which is a hole except for what was written since it was sparse.
    private final class SparseFiles: ForwardingFileSystem {
        struct State {
            var isSparse = false
            var written: [Range<UInt64>] = []
            /// Durable writes after the superblocks, and those of them that met a hole.
            var durableCount = 0
            var holes: [UInt64] = []

            /// The end of the written part that an offset is in.
            func end(_ byteOffset: UInt64) -> UInt64? {
                written.first { $0.contains(byteOffset) }?.upperBound
            }
        }

        let base: any FileSystem
        let state = Mutex(State())

        init(_ base: any FileSystem) { self.base = base }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            SparseFile(try base.open(path, mode), self)
        }
    }

    private final class SparseFile: ForwardingFile {
        let file: any StoreFile
        private let files: SparseFiles

        init(_ file: any StoreFile, _ files: SparseFiles) {
            self.file = file
            self.files = files
        }

        private func size(after byteOffset: UInt64) -> UInt64 {
            max((try? file.size()) ?? 0, byteOffset)
        }

        func nextHole(from byteOffset: UInt64) -> UInt64 {
            files.state.withLock { state in
                guard state.isSparse else { return size(after: byteOffset) }
                var position = byteOffset
                while let end = state.end(position) { position = end }
                return min(position, size(after: byteOffset))
            }
        }

        func nextData(from byteOffset: UInt64) -> UInt64 {
            files.state.withLock { state in
                guard state.isSparse, state.end(byteOffset) == nil else { return byteOffset }
                let starts = state.written.map(\.lowerBound).filter { $0 > byteOffset }
                return starts.min() ?? size(after: byteOffset)
            }
        }

        func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
            try file.write(bytes, at: byteOffset)
            files.state.withLock {
                $0.written.append(byteOffset..<byteOffset + UInt64(bytes.count))
            }
        }

        func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
            files.state.withLock { state in
                guard state.isSparse, byteOffset >= 2 * UInt64(SuperblockLayout.size) else {
                    return
                }
                state.durableCount += 1
                let last = byteOffset + UInt64(bytes.count) - 1
                for place in [byteOffset, last] where state.end(place) == nil {
                    state.holes.append(place)
                }
            }
            try write(bytes, at: byteOffset)
        }
    }

    private func commit(_ engine: Engine, _ count: Int) throws {
        var random = SeededRandom(for: "SegmentHoleTests")
        for _ in 0..<count {
            let transaction = try engine.beginWrite()
            let page = try transaction.allocatePage(.overflow)
            random.bytes(900).withView { page.copy($0, to: 100) }
            _ = try transaction.commit()
        }
    }

    /// A bug: the free space below the file's end was taken for written, so that a disk that was
    /// full at the wrong moment poisoned the store in the middle of a commit.
    @Test func `no commit is written into a hole of the file`() throws {
        let base = MemoryFileSystem()
        let engine = try Engine.open(path: "store", options: .small, files: base)
        for _ in 0..<4 {
            try commit(engine, 60)
            try engine.checkpointNow()
        }
        try engine.close()
        let files = SparseFiles(base)
        let again = try Engine.open(path: "store", options: .small, files: files)
        files.state.withLock { $0.isSparse = true }
        try commit(again, 40)
        let (count, holes) = files.state.withLock { ($0.durableCount, $0.holes) }
        #expect(count >= 40)
        #expect(holes == [])
        try again.close()
    }
}
