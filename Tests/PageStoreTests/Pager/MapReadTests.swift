import Dispatch
import Primitives
import TestSupport
import Testing

import struct Synchronization.Atomic

@testable import PageStore

/// Which threads wait while a node of the page map is read.
@Suite(.timeLimit(.minutes(hangMinutes))) struct MapReadTests {
    /// A bug: readers that had all their pages in memory waited while another one read the map,
    /// because it held the lock that they take.
    @Test func `readers of cached pages do not wait for a read of the map`() throws {
        let files = SlowFileSystem()
        var options = Engine.Options()
        // Small enough that the map has two levels.
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        let ids = try Self.createPages(200, options, files)
        let engine = try Engine.open(path: "store", options: options, files: files)
        let snapshot = try engine.snapshot()
        #expect(snapshot.generation.map.depth == 2)
        #expect(try snapshot.page(ids[0])[100] == 0)
        files.pausesNext()
        let isRead = DispatchSemaphore(value: 0)
        let byte = Mutex<UInt8?>(nil)
        DispatchQueue.global().async {
            let found = try? snapshot.page(ids[150])[100]
            byte.withLock { $0 = found }
            isRead.signal()
        }
        files.waitForPause()
        #expect(try snapshot.page(ids[0])[100] == 0)
        #expect(try engine.snapshot().page(ids[0])[100] == 0)
        files.goOn()
        isRead.wait()
        #expect(byte.withLock { $0 } == 150)
    }

    private static func createPages(
        _ count: UInt8, _ options: Engine.Options, _ files: any FileSystem
    ) throws -> [PageID] {
        let engine = try Engine.open(path: "store", options: options, files: files)
        let transaction = try engine.beginWrite()
        var ids: [PageID] = []
        for byte in 0..<count {
            let page = try transaction.allocatePage(.overflow)
            page[100] = byte
            ids.append(page.id)
        }
        try transaction.commit()
        try engine.close()
        return ids
    }
}

/// A file in memory; one of its reads can be made to wait.
private final class SlowFileSystem: ForwardingFileSystem {
    let base: any FileSystem = MemoryFileSystem()
    let isPausing = Atomic<Bool>(false)
    let hasPaused = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)

    func pausesNext() { isPausing.store(true, ordering: .sequentiallyConsistent) }
    func waitForPause() { hasPaused.wait() }
    func goOn() { mayGoOn.signal() }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        SlowFile(try base.open(path, mode), self)
    }
}

private final class SlowFile: ForwardingFile {
    let file: any StoreFile
    private let files: SlowFileSystem

    init(_ file: any StoreFile, _ files: SlowFileSystem) {
        self.file = file
        self.files = files
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        if files.isPausing.exchange(false, ordering: .sequentiallyConsistent) {
            files.hasPaused.signal()
            files.mayGoOn.wait()
        }
        return try file.read(into: buffer, at: byteOffset)
    }
}
