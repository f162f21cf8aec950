import Dispatch
import PageStore
import Primitives
import TestSupport

/// Files in memory; one of their durable writes can be made to wait, so that later commits share
/// the next one.
final class PausingFiles: ForwardingFileSystem {
    let base: any FileSystem = MemoryFileSystem()
    private let isPausing = Mutex(false)
    private let hasPaused = DispatchSemaphore(value: 0)
    private let mayGoOn = DispatchSemaphore(value: 0)

    /// Makes the next durable write wait for ``goOn()``.
    func pauseNext() { isPausing.withLock { $0 = true } }
    func waitForPause() { hasPaused.wait() }
    func goOn() { mayGoOn.signal() }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        PausingFile(try base.open(path, mode), self)
    }

    fileprivate func waitIfPausing() {
        let isDue = isPausing.withLock { isPausing in
            defer { isPausing = false }
            return isPausing
        }
        guard isDue else { return }
        hasPaused.signal()
        mayGoOn.wait()
    }
}

private final class PausingFile: ForwardingFile {
    let file: any StoreFile
    private let files: PausingFiles

    init(_ file: any StoreFile, _ files: PausingFiles) {
        self.file = file
        self.files = files
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        files.waitIfPausing()
        try file.writeDurably(bytes, at: byteOffset)
    }
}
