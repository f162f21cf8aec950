import Primitives
import TestSupport
import Testing

@testable import PageStore

/// Files of a process that may be told that it was forked.
private final class ForkedFiles: ForwardingFileSystem {
    let base: any FileSystem
    let readers = ReaderFile.Counter()
    private let child = Mutex(false)

    init(_ base: any FileSystem) { self.base = base }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        ReaderFile(try base.open(path, mode), readers)
    }

    func fork() { child.withLock { $0 = true } }
    func processID() -> Int32 { child.withLock { $0 ? 2 : 1 } }
}

/// Files whose readers' locks are counted.
private final class ReaderFile: ForwardingFile {
    let file: any StoreFile
    let count: Counter

    final class Counter: Sendable {
        let value = Mutex(0)
    }

    init(_ file: any StoreFile, _ count: Counter) { (self.file, self.count) = (file, count) }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        count.value.withLock { $0 += 1 }
        return true
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        count.value.withLock { $0 -= 1 }
    }
}

/// A child that was forked shares its parent's open file, and must not write to it.
@Suite struct ForkTests {
    @Test func `a child that was forked writes nothing to its parent's store`() throws {
        let disk = FaultyFileSystem()
        let files = ForkedFiles(disk)
        var options = Engine.Options.small
        options.relaxedIntervalInMilliseconds = 3_600_000
        let engine = try Engine.open(path: "store", options: options, files: files)
        let first = try engine.beginWrite()
        first.catalogRoot = try first.allocatePage(.overflow).id
        _ = try first.commit(.relaxed)
        let second = try engine.beginWrite()
        _ = try second.allocatePage(.overflow)
        let staged = try second.stage()
        let third = try engine.beginWrite()

        files.fork()
        let callCount = disk.callCount
        func isRefused(_ body: () throws -> Void) -> Bool {
            let error = #expect(throws: StoreError.self) { try body() }
            return error?.code == .invalidArgument || error?.code == .commitUncertain
        }
        #expect(isRefused { _ = try engine.beginWrite() })
        #expect(isRefused { try engine.checkpointNow() })
        #expect(isRefused { _ = try engine.vacuum(byteBudget: 1 << 20) })
        #expect(isRefused { try engine.secureRelaxedCommits() })
        #expect(isRefused { try engine.copy(to: "copy", files: MemoryFileSystem()) })
        #expect(isRefused { try staged.finish() })
        // Chunks go to the file at once.
        #expect(isRefused { _ = try third.createBlob([UInt8](repeating: 1, count: 1 << 17).span) })
        third.rollback()
        try engine.close()
        #expect(disk.callCount == callCount)
    }

    @Test func `a child that drops a snapshot keeps its parent's lock`() throws {
        let files = ForkedFiles(FaultyFileSystem())
        let writer = try Engine.open(path: "store", options: .small, files: files.base)
        var options = Engine.Options.small
        options.mode = .reading
        let reader = try Engine.open(path: "store", options: options, files: files)
        var held: Snapshot? = try reader.snapshot()
        let transaction = try writer.beginWrite()
        transaction.catalogRoot = try transaction.allocatePage(.overflow).id
        _ = try transaction.commit()
        try writer.checkpointNow()
        #expect(try reader.advance())
        let count = files.readers.value.withLock { $0 }
        #expect(count >= 2)
        files.fork()
        #expect(held?.commitNumber == 0)
        held = nil
        #expect(files.readers.value.withLock { $0 } == count)
        try reader.close()
    }
}
