import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import PageStore

/// A sync of one thread that fails while another one commits.
@Suite struct FailedSyncTests {
    /// Files whose next sync waits, loses the writes since the preceding one, and fails later;
    /// later syncs succeed, as those of the system do.
    private final class LateFiles: ForwardingFileSystem {
        let base: any FileSystem = MemoryFileSystem()
        let isFailing = Mutex(false)
        /// Whether durable writes are writes and syncs, as on systems without a flag for them.
        let syncsDurableWrites: Bool
        let hasBegun = DispatchSemaphore(value: 0)
        let mayFail = DispatchSemaphore(value: 0)
        let hasFailed = DispatchSemaphore(value: 0)

        init(syncsDurableWrites: Bool = false) { self.syncsDurableWrites = syncsDurableWrites }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            LateFile(try base.open(path, mode), self)
        }

        func sync(_ file: any StoreFile) throws(StoreError) {
            let isDue = isFailing.withLock { isFailing in
                defer { isFailing = false }
                return isFailing
            }
            guard isDue else { return try file.sync() }
            hasBegun.signal()
            mayFail.wait()
            hasFailed.signal()
            // The failure is returned after other threads had time to continue.
            usleep(200_000)
            throw StoreError(.io, "the test lets this sync fail")
        }
    }

    private final class LateFile: ForwardingFile {
        let file: any StoreFile
        private let files: LateFiles

        init(_ file: any StoreFile, _ files: LateFiles) {
            self.file = file
            self.files = files
        }

        var syncsDurableWrites: Bool { files.syncsDurableWrites }
        func sync() throws(StoreError) { try files.sync(file) }

        func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
            try file.write(bytes, at: byteOffset)
            if syncsDurableWrites { try sync() }
        }
    }

    private func commit(_ engine: Engine, _ durability: Durability) throws {
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit(durability)
    }

    /// The second thread's own sync succeeds without the writes that the failed one has lost.
    @Test func `no commit is acknowledged that another thread's failed sync may have lost`() throws
    {
        let files = LateFiles()
        var options = Engine.Options()
        options.checkpointsInBackground = false
        options.relaxedIntervalInMilliseconds = 3_600_000
        let engine = try Engine.open(path: "store", options: options, files: files)
        try commit(engine, .relaxed)
        files.isFailing.withLock { $0 = true }
        let copied = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: StoreError.self) { try engine.parts.context.sync() }
            copied.signal()
        }
        files.hasBegun.wait()
        try commit(engine, .relaxed)
        files.mayFail.signal()
        files.hasFailed.wait()
        let error = #expect(throws: StoreError.self) { try commit(engine, .durable) }
        #expect(error?.code == .commitUncertain)
        copied.wait()
    }

    /// A bug: where a durable write is a write and a sync, that sync's failure was not yet known to
    /// another thread, whose own sync then succeeded without the writes that were lost.
    @Test func `a sync waits for the outcome of a durable write that syncs`() throws {
        let files = LateFiles(syncsDurableWrites: true)
        var options = Engine.Options()
        options.checkpointsInBackground = false
        let engine = try Engine.open(path: "store", options: options, files: files)
        try commit(engine, .durable)
        files.isFailing.withLock { $0 = true }
        let failed = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: StoreError.self) { try commit(engine, .durable) }
            failed.signal()
        }
        files.hasBegun.wait()
        files.mayFail.signal()
        files.hasFailed.wait()
        #expect(throws: StoreError.self) { try engine.parts.context.sync() }
        failed.wait()
    }
}
