import Primitives
import TestSupport
import Testing

@testable import PageStore

/// Files of a process that may be told that it was forked.
private final class ForkedFiles: ForwardingFileSystem {
    let base: any FileSystem
    private let child = Mutex(false)

    init(_ base: any FileSystem) { self.base = base }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        try base.open(path, mode)
    }

    func fork() { child.withLock { $0 = true } }
    func processID() -> Int32 { child.withLock { $0 ? 2 : 1 } }
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
}
