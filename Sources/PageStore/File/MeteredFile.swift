import Dispatch
import Synchronization

/// A file that counts the bytes read and written.
final class MeteredFile: StoreFile {
    private let file: any StoreFile
    private let read = Atomic<UInt64>(0)
    private let written = Atomic<UInt64>(0)

    init(_ file: any StoreFile) {
        self.file = file
    }

    var bytesRead: UInt64 { read.load(ordering: .relaxed) }
    var bytesWritten: UInt64 { written.load(ordering: .relaxed) }

    var identity: FileIdentity { file.identity }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        let count = try file.read(into: buffer, at: byteOffset)
        read.wrappingAdd(UInt64(count), ordering: .relaxed)
        return count
    }

    func willRead(to byteOffset: UInt64) { file.willRead(to: byteOffset) }
    func nextData(from byteOffset: UInt64) -> UInt64 { file.nextData(from: byteOffset) }
    func nextHole(from byteOffset: UInt64) -> UInt64 { file.nextHole(from: byteOffset) }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.write(bytes, at: byteOffset)
        written.wrappingAdd(UInt64(bytes.count), ordering: .relaxed)
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.writeDurably(bytes, at: byteOffset)
        written.wrappingAdd(UInt64(bytes.count), ordering: .relaxed)
    }

    var syncsDurableWrites: Bool { file.syncsDurableWrites }
    func sync() throws(StoreError) { try file.sync() }
    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        try file.truncate(to: sizeInBytes)
    }
    func size() throws(StoreError) -> UInt64 { try file.size() }
    func nameCount() throws(StoreError) -> UInt64 { try file.nameCount() }
    func access() throws(StoreError) -> FileAccess? { try file.access() }
    func give(_ access: FileAccess) throws(StoreError) { try file.give(access) }
    func lockWriter() throws(StoreError) -> Bool { try file.lockWriter() }
    func isLockedByWriter() throws(StoreError) -> Bool? { try file.isLockedByWriter() }
    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        try file.lockReader(of: generation)
    }
    func unlockReader(of generation: UInt64) throws(StoreError) {
        try file.unlockReader(of: generation)
    }
    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        try file.heldGenerations(before: end)
    }
    func watch(
        on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
    ) -> (any FileWatch)? { file.watch(on: queue, changed) }
    func close() { file.close() }
}
