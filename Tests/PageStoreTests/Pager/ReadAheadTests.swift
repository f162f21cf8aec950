import Synchronization
import TestSupport
import Testing

@testable import PageStore

/// When the system is told that the rest of a file will be read.
@Suite struct ReadAheadTests {
    /// A reopened store of 64 pages that hardly compress, and its pages.
    private func reopened(
        _ files: AskedFileSystem, cacheSizeInBytes: Int
    ) throws -> (Engine, [PageID]) {
        var options = Engine.Options()
        options.checkpointsInBackground = false
        let engine = try Engine.open(path: "store", options: options, files: files)
        let transaction = try engine.beginWrite()
        var random = SeededRandom(for: "ReadAheadTests")
        let ids = try (0..<64).map { _ in
            let page = try transaction.allocatePage(.overflow)
            random.bytes(16_000).withView { page.copy($0, to: 300) }
            return page.id
        }
        _ = try transaction.commit()
        try engine.checkpointNow()
        try engine.close()
        options.cacheSizeInBytes = cacheSizeInBytes
        return (try Engine.open(path: "store", options: options, files: files), ids)
    }

    @Test func `a store that fits into the cache is read ahead after a part was read`() throws {
        let files = AskedFileSystem()
        let (engine, ids) = try reopened(files, cacheSizeInBytes: 4 << 20)
        let snapshot = try engine.snapshot()
        for id in ids.prefix(12) { _ = try snapshot.page(id) }
        #expect(files.asked.load(ordering: .relaxed) == 0)
        for id in ids { _ = try snapshot.page(id) }
        #expect(files.count.load(ordering: .relaxed) == 1)
        #expect(files.asked.load(ordering: .relaxed) == engine.superblock.requiredLength)
    }

    @Test func `a store that is larger than the cache is not read ahead`() throws {
        let files = AskedFileSystem()
        let (engine, ids) = try reopened(files, cacheSizeInBytes: 512 << 10)
        let snapshot = try engine.snapshot()
        for id in ids { _ = try snapshot.page(id) }
        #expect(files.count.load(ordering: .relaxed) == 0)
    }
}

private final class AskedFileSystem: ForwardingFileSystem {
    let base: any FileSystem = MemoryFileSystem()
    /// The length of the last read-ahead request, and the number of requests.
    let asked = Atomic<UInt64>(0)
    let count = Atomic<Int>(0)

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        AskedFile(try base.open(path, mode), self)
    }
}

private final class AskedFile: ForwardingFile {
    let file: any StoreFile
    private let files: AskedFileSystem

    init(_ file: any StoreFile, _ files: AskedFileSystem) {
        self.file = file
        self.files = files
    }

    func willRead(to byteOffset: UInt64) {
        files.asked.store(byteOffset, ordering: .relaxed)
        files.count.wrappingAdd(1, ordering: .relaxed)
    }
}
