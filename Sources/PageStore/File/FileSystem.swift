import Dispatch

/// How a file is opened.
package enum FileMode: Sendable {
    case readOnly
    case readWrite
    /// Read and write; the file is created when it is not there.
    case create
    /// Read and write; the file is created for its owner alone. Throws `invalidArgument` when
    /// something has that name.
    case createNew
}

/// The system's identity of a file, whatever its path is.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// Who may use a file: its owner, its group and what each is permitted, in the system's numbers.
package struct FileAccess: Hashable, Sendable {
    package var user: UInt32
    package var group: UInt32
    package var permissions: UInt32
}

/// Everything by which the engine touches the world outside. Tests replace it, and ``Schedule``,
/// and nothing else.
package protocol FileSystem: Sendable {
    /// Opens a file. Throws `notFound`, `permissionDenied` or `io`.
    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile
    /// The identity of the file at a path now, nil when there is none.
    func identity(_ path: String) throws(StoreError) -> FileIdentity?
    /// The path of the file itself, where a path leads to it by a symbolic link.
    func target(of path: String) throws(StoreError) -> String
    /// Whether the path names a symbolic link, whatever it leads to.
    func isLink(_ path: String) throws(StoreError) -> Bool
    /// Gives a file another name. Throws `invalidArgument` when something has that name: nothing is
    /// ever replaced. The earlier name may stay where the file system cannot rename in one step.
    func rename(_ path: String, to newPath: String) throws(StoreError)
    /// Gives a file the name of another one, which loses it, in one step: at every moment the path
    /// leads to the one or the other. The file gets the other one's owner and permissions first,
    /// or nothing is replaced.
    func replace(_ path: String, with newPath: String) throws(StoreError)
    func unlink(_ path: String) throws(StoreError)
    /// Makes the folder's entry of a file durable.
    func syncDirectory(of path: String) throws(StoreError)
    /// The bytes that files at a path may still take; nil where the system cannot tell.
    func freeBytes(at path: String) -> UInt64?
    /// Nanoseconds since 1970.
    func now() -> UInt64
    func random() -> UInt64
    /// The process that asks: another number than before means a fork.
    func processID() -> Int32
    /// A number that tells the running program from other programs, and from other builds of it.
    func programIdentity() -> UInt64
}

/// A file system without symbolic links and without an end, in which no program lies.
extension FileSystem {
    package func freeBytes(at path: String) -> UInt64? { nil }
    package func target(of path: String) throws(StoreError) -> String { path }
    package func isLink(_ path: String) throws(StoreError) -> Bool { false }
    package func programIdentity() -> UInt64 { 0 }
}

/// One open file. Calls are synchronous and may come from any thread.
package protocol StoreFile: AnyObject, Sendable {
    var identity: FileIdentity { get }
    /// Fills the buffer from an offset; returns how many bytes there were, fewer only at the end.
    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int
    /// Tells the system that the file will be read up to an offset.
    func willRead(to byteOffset: UInt64)
    /// The first byte from an offset on that the system keeps: those before it were never written,
    /// and are zeros. The file's size where there is none; the offset itself where the system
    /// cannot tell.
    func nextData(from byteOffset: UInt64) -> UInt64
    /// The first byte from an offset on that the system does not keep; the file's size, or the
    /// offset where that is larger, where there is none or the system cannot tell.
    func nextHole(from byteOffset: UInt64) -> UInt64
    /// Writes into the system's cache.
    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError)
    /// Writes through to the medium: the bytes are durable when the call returns.
    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError)
    /// Whether ``writeDurably(_:at:)`` syncs the file, for want of a flag for the write alone.
    var syncsDurableWrites: Bool { get }
    /// Makes all that was written durable, the file's size included.
    func sync() throws(StoreError)
    func truncate(to sizeInBytes: UInt64) throws(StoreError)
    func size() throws(StoreError) -> UInt64
    /// How many names the file has; none once it has been removed.
    func nameCount() throws(StoreError) -> UInt64
    /// Who may use the file; nil where files have no owners.
    func access() throws(StoreError) -> FileAccess?
    /// Makes the file accessible to the same users and groups as another one, or to fewer, where
    /// this process may not give it away.
    func give(_ access: FileAccess) throws(StoreError)
    /// Takes the writer's lock; false when another open file holds it.
    func lockWriter() throws(StoreError) -> Bool
    /// Whether another open file holds the writer's lock; nil where that cannot be told.
    func isLockedByWriter() throws(StoreError) -> Bool?
    /// Takes a share of a generation's lock. False where there are no locks: nothing is kept for
    /// the reader then.
    func lockReader(of generation: UInt64) throws(StoreError) -> Bool
    /// Gives the share back.
    func unlockReader(of generation: UInt64) throws(StoreError)
    /// The generations before `end` that readers hold by other open files; in no order.
    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>]
    /// Calls back on a queue soon after each change of the file by anyone, its names included; nil
    /// where the system cannot tell.
    func watch(
        on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
    ) -> (any FileWatch)?
    func close()
}

/// Ends when it is told so, or with its owner.
package protocol FileWatch: AnyObject, Sendable {
    func cancel()
}

/// A file that no other process can reach.
extension StoreFile {
    package func watch(
        on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
    ) -> (any FileWatch)? { nil }
    package func willRead(to byteOffset: UInt64) {}
    package func nextData(from byteOffset: UInt64) -> UInt64 { byteOffset }
    package func nextHole(from byteOffset: UInt64) -> UInt64 {
        max((try? size()) ?? byteOffset, byteOffset)
    }
    package func nameCount() throws(StoreError) -> UInt64 { 1 }
    package var syncsDurableWrites: Bool { false }
    package func access() throws(StoreError) -> FileAccess? { nil }
    package func give(_ access: FileAccess) throws(StoreError) {}
    package func lockWriter() throws(StoreError) -> Bool { true }
    package func isLockedByWriter() throws(StoreError) -> Bool? { false }
    package func lockReader(of generation: UInt64) throws(StoreError) -> Bool { false }
    package func unlockReader(of generation: UInt64) throws(StoreError) {}
    package func heldGenerations(
        before end: UInt64
    ) throws(StoreError) -> [Range<UInt64>] { [] }
}
