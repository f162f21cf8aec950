import Dispatch
import PageStore
import Primitives
import TestSupport

import struct Synchronization.Atomic

/// Files over others with the locks and notices that several processes have: each open file is a
/// process of its own, so that a store can be written by one stack and followed by another.
final class LockingFiles: ForwardingFileSystem {
    /// The locks that the open files of one file hold.
    fileprivate struct Locks {
        var writer: Int?
        /// The count of locks by open file and generation.
        var readers: [Int: [UInt64: Int]] = [:]
        var watches: [Int: (queue: DispatchQueue, changed: @Sendable () -> Void)] = [:]
    }

    private static let nextHolder = Atomic<Int>(1)

    let base: any FileSystem
    fileprivate let locks = Mutex<[FileIdentity: Locks]>([:])
    fileprivate let notifiesAtOnce: Bool

    /// - Parameter notifiesAtOnce: whether notices of changes come on the thread that makes them,
    ///   for a schedule of which no other thread may be part.
    init(_ base: any FileSystem, notifiesAtOnce: Bool = false) {
        self.base = base
        self.notifiesAtOnce = notifiesAtOnce
    }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        let holder = Self.nextHolder.wrappingAdd(1, ordering: .relaxed).oldValue
        return LockingFile(try base.open(path, mode), self, holder)
    }
}

private final class LockingWatch: FileWatch {
    private let files: LockingFiles
    private let identity: FileIdentity
    private let holder: Int

    init(_ files: LockingFiles, _ identity: FileIdentity, _ holder: Int) {
        self.files = files
        self.identity = identity
        self.holder = holder
    }

    deinit { cancel() }

    func cancel() { files.locks.withLock { $0[identity]?.watches[holder] = nil } }
}

private final class LockingFile: ForwardingFile {
    let file: any StoreFile
    private let files: LockingFiles
    private let holder: Int

    init(_ file: any StoreFile, _ files: LockingFiles, _ holder: Int) {
        self.file = file
        self.files = files
        self.holder = holder
    }

    deinit { release() }

    func close() {
        release()
        file.close()
    }

    private func release() {
        files.locks.withLock { locks in
            if locks[identity]?.writer == holder { locks[identity]?.writer = nil }
            locks[identity]?.readers[holder] = nil
        }
    }

    func watch(
        on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
    ) -> (any FileWatch)? {
        files.locks.withLock { locks in
            locks[identity, default: LockingFiles.Locks()].watches[holder] = (queue, changed)
        }
        return LockingWatch(files, identity, holder)
    }

    private func tell() {
        let watches = files.locks.withLock { $0[identity]?.watches ?? [:] }
        for (_, watch) in watches.sorted(by: { $0.key < $1.key }) {
            if files.notifiesAtOnce {
                watch.changed()
            } else {
                watch.queue.async(execute: watch.changed)
            }
        }
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.write(bytes, at: byteOffset)
        tell()
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.writeDurably(bytes, at: byteOffset)
        tell()
    }

    func nameCount() throws(StoreError) -> UInt64 { try file.nameCount() }

    func lockWriter() throws(StoreError) -> Bool {
        files.locks.withLock { locks in
            let writer = locks[identity]?.writer
            guard writer == nil || writer == holder else { return false }
            locks[identity, default: LockingFiles.Locks()].writer = holder
            return true
        }
    }

    func isLockedByWriter() throws(StoreError) -> Bool? {
        files.locks.withLock { locks in
            locks[identity]?.writer.map { $0 != holder } ?? false
        }
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        files.locks.withLock { locks in
            locks[identity, default: LockingFiles.Locks()]
                .readers[holder, default: [:]][generation, default: 0] += 1
        }
        return true
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        files.locks.withLock { locks in
            let count = (locks[identity]?.readers[holder]?[generation] ?? 0) - 1
            locks[identity]?.readers[holder]?[generation] = count > 0 ? count : nil
        }
    }

    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        files.locks.withLock { locks in
            (locks[identity]?.readers ?? [:]).filter { $0.key != holder }
                .flatMap(\.value.keys).filter { $0 < end }.map { $0..<($0 + 1) }
        }
    }
}
