import Dispatch
import PageStore
import Primitives

/// Files of which one durable write can be made to wait, before its bytes are written or after.
package final class PausingFiles: ForwardingFileSystem {
    private enum Pause { case none, beforeWriting, afterWriting }

    package let base: any FileSystem
    private let next = Mutex(Pause.none)
    private let hasPaused = DispatchSemaphore(value: 0)
    private let mayGoOn = DispatchSemaphore(value: 0)

    package init(_ base: any FileSystem = MemoryFileSystem()) { self.base = base }

    /// Makes the next durable write wait for ``goOn()``.
    ///
    /// - Parameter isWritten: whether others can read its bytes meanwhile.
    package func pauseNext(isWritten: Bool = false) {
        next.withLock { $0 = isWritten ? .afterWriting : .beforeWriting }
    }
    package func waitForPause() { hasPaused.wait() }
    package func goOn() { mayGoOn.signal() }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        PausingFile(try base.open(path, mode), self)
    }

    private func wait(_ pause: Pause) {
        let isDue = next.withLock { next in
            guard next == pause else { return false }
            next = .none
            return true
        }
        guard isDue else { return }
        hasPaused.signal()
        mayGoOn.wait()
    }

    fileprivate func pausing(_ write: () throws(StoreError) -> Void) throws(StoreError) {
        wait(.beforeWriting)
        try write()
        wait(.afterWriting)
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
        try files.pausing { () throws(StoreError) in
            try file.writeDurably(bytes, at: byteOffset)
        }
    }
}
