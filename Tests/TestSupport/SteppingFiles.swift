import PageStore
import Primitives

/// Files between whose calls a step of the test runs: by default the machine's.
package final class SteppingFiles: ForwardingFileSystem {
    /// When a step runs.
    package enum Moment: Hashable, Sendable {
        /// Before a reader takes a generation's lock.
        case lock
        /// Between the file's size and whoever asked for it.
        case size
        /// Before a superblock is read.
        case superblockRead
        /// Before a superblock is written.
        case superblockWrite
    }

    package typealias Step = @Sendable () throws(StoreError) -> Void

    package let base: any FileSystem
    private let steps = Mutex<[Moment: Step]>([:])

    package init(base: any FileSystem = DiskFileSystem.shared) { self.base = base }

    /// Runs a step once, at the next such moment. What it throws the call throws.
    package func at(_ moment: Moment, _ step: @escaping Step) {
        steps.withLock { $0[moment] = step }
    }

    /// Whether every step has begun.
    package var isIdle: Bool { steps.withLock { $0.isEmpty } }

    fileprivate func run(_ moment: Moment) throws(StoreError) {
        let step = steps.withLock { $0.removeValue(forKey: moment) }
        try step?()
    }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        SteppingFile(try base.open(path, mode), self)
    }
}

private final class SteppingFile: ForwardingFile {
    let file: any StoreFile
    private let files: SteppingFiles

    init(_ file: any StoreFile, _ files: SteppingFiles) {
        self.file = file
        self.files = files
    }

    private func isSuperblock(_ byteOffset: UInt64) -> Bool {
        byteOffset < 2 * UInt64(SuperblockLayout.size)
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        if isSuperblock(byteOffset) { try files.run(.superblockRead) }
        return try file.read(into: buffer, at: byteOffset)
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        if isSuperblock(byteOffset) { try files.run(.superblockWrite) }
        try file.writeDurably(bytes, at: byteOffset)
    }

    func size() throws(StoreError) -> UInt64 {
        let size = try file.size()
        try files.run(.size)
        return size
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        try files.run(.lock)
        return try file.lockReader(of: generation)
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        try file.unlockReader(of: generation)
    }

    func lockWriter() throws(StoreError) -> Bool { try file.lockWriter() }
    func isLockedByWriter() throws(StoreError) -> Bool? { try file.isLockedByWriter() }
    func nameCount() throws(StoreError) -> UInt64 { try file.nameCount() }

    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        try file.heldGenerations(before: end)
    }
}
