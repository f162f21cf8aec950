import CTrellis
import SystemPackage

/// The file system of the machine.
package struct DiskFileSystem: FileSystem {
    package static let shared = DiskFileSystem()

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        try DiskFile(path: path, mode: mode)
    }

    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        // Not by `stat`: it asks for the file's times too, and the system then gives the next write
        // a time of its own, so that each commit, which looks here first, waits for the inode.
        var identity = FileIdentity(device: 0, inode: 0)
        // Safety: the path ends with a zero, and both numbers outlive the call, which fills them.
        let reason = unsafe trellis_file_identity(path, &identity.device, &identity.inode)
        if Errno(rawValue: reason) == .noSuchFileOrDirectory { return nil }
        try requireSuccess(reason, "look at the file", path: path)
        return identity
    }

    package func target(of path: String) throws(StoreError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        // Safety: the path ends with a zero, the call keeps no pointer to it, and `text` outlives
        // the call, which sets it.
        try requireSuccess(
            unsafe trellis_resolve(path, &text), "follow the links of the path", path: path)
        guard let text = unsafe text else { return path }
        // Safety: the call has allocated the text, which ends with a zero, for its caller to free.
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    package func isLink(_ path: String) throws(StoreError) -> Bool {
        // Safety: the path ends with a zero, and the call keeps no pointer to it.
        unsafe trellis_is_link(path) == 1
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        // Safety: both paths end with a zero, and the call keeps no pointer to them.
        let reason = unsafe trellis_rename_exclusively(path, newPath)
        guard Errno(rawValue: reason) == .notSupported else {
            return try requireName(reason, newPath)
        }
        try link(path, as: newPath)
    }

    /// Gives a file a second name and then removes the first, where no rename spares the file that
    /// it meets. File systems without hard links have no other way than the rename.
    func link(_ path: String, as newPath: String) throws(StoreError) {
        // Safety: both paths end with a zero, and the call keeps no pointer to them.
        try requireName(unsafe trellis_link(path, newPath), newPath)
        // The file has its name: one that stays beside it is no failure.
        try? unlink(path)
    }

    private func requireName(_ reason: Int32, _ newPath: String) throws(StoreError) {
        if Errno(rawValue: reason) == .fileExists {
            throw StoreError(
                .invalidArgument, "there is a file of that name already", path: newPath)
        }
        try requireSuccess(reason, "name the file", path: newPath)
    }

    package func replace(_ path: String, with newPath: String) throws(StoreError) {
        // Safety: both paths end with a zero, and the call keeps no pointer to them.
        let refusal = unsafe trellis_take_access(path, newPath)
        try requireSuccess(refusal, "give the new file the old one's owner", path: path)
        // Safety: as above.
        let reason = unsafe trellis_rename(newPath, path)
        try requireSuccess(reason, "replace the file", path: path)
    }

    package func unlink(_ path: String) throws(StoreError) {
        // Safety: the path ends with a zero, and the call keeps no pointer to it.
        try requireSuccess(unsafe trellis_unlink(path), "remove the file", path: path)
    }

    package func syncDirectory(of path: String) throws(StoreError) {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = try systemCall("open the folder", path: folder) {
            // Safety: the path ends with a zero, and the call keeps no pointer to it.
            try unsafe FileDescriptor.open(
                folder, .readOnly, options: [.directory, .closeOnExec])
        }
        defer { try? descriptor.close() }
        try requireSuccess(
            trellis_sync(descriptor.rawValue), "synchronise the folder", path: folder)
    }

    package func freeBytes(at path: String) -> UInt64? {
        var bytes: UInt64 = 0
        // Safety: the path ends with a zero, and the number outlives the call, which sets it.
        return unsafe trellis_free_bytes(path, &bytes) == 0 ? bytes : nil
    }

    package func now() -> UInt64 { trellis_now() }

    package func random() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func processID() -> Int32 { trellis_process_id() }

    /// Of the path, the size and the time of its executable.
    package func programIdentity() -> UInt64 {
        var path: UnsafeMutablePointer<CChar>?
        var (size, time) = (UInt64(0), UInt64(0))
        // Safety: the variables outlive the call, which sets them.
        guard unsafe trellis_program(&path, &size, &time) == 0, let path = unsafe path else {
            return 0
        }
        // Safety: the call has allocated the text, which ends with a zero, for its caller to free.
        defer { unsafe free(path) }
        let words = unsafe "\(String(cString: path))|\(size)|\(time)"
        return Array(words.utf8).withView { Checksum.hash($0, seed: 0) }
    }
}

/// A file of the machine: one descriptor for buffered writes and reads, and one for the log, whose
/// writes are durable when they return, where the system has such. Both stay open for the store's
/// life.
final class DiskFile: StoreFile, @unchecked Sendable {
    let identity: FileIdentity
    let path: String
    let data: FileDescriptor
    private let log: FileDescriptor
    /// Whether a durable write takes a second call, which brings it to the medium.
    let syncsDurableWrites: Bool
    private let isReadOnly: Bool
    private let processID = trellis_process_id()
    private let use = DescriptorUse()

    init(path: String, mode: FileMode) throws(StoreError) {
        let (data, identity) = try Self.open(path, mode)
        self.data = data
        self.identity = identity
        self.path = path
        isReadOnly = mode == .readOnly
        if isReadOnly {
            log = data
            syncsDurableWrites = false
            return
        }
        guard let options = DurableWrites.openOptions else {
            log = data
            syncsDurableWrites = true
            return
        }
        syncsDurableWrites = false
        do throws(StoreError) {
            log = try Self.openLog(path, options, of: identity)
        } catch {
            try? data.close()
            throw error
        }
    }

    /// Opens the file a second time, by its path, which another file may have taken meanwhile: its
    /// log would be that one's.
    private static func openLog(
        _ path: String, _ options: FileDescriptor.OpenOptions, of identity: FileIdentity
    ) throws(StoreError) -> FileDescriptor {
        let replaced = StoreError(
            .fileReplaced, "another file took the path while it was opened", path: path)
        var log: FileDescriptor?
        do throws(StoreError) {
            let opened = try systemCall("open the file for its log", path: path) {
                // Safety: as for the folder's path.
                try unsafe FileDescriptor.open(
                    path, .readWrite, options: options.union(.closeOnExec))
            }
            log = opened
            guard try Self.identity(of: opened, path) == identity else { throw replaced }
            return opened
        } catch {
            try? log?.close()
            // The file was there a moment ago.
            throw error.code == .notFound ? replaced : error
        }
    }

    private static func open(
        _ path: String, _ mode: FileMode
    ) throws(StoreError) -> (FileDescriptor, FileIdentity) {
        let access: FileDescriptor.AccessMode
        var options: FileDescriptor.OpenOptions = .closeOnExec
        var permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
        switch mode {
        case .readOnly:
            access = .readOnly
            // Without it a pipe is opened only when another process opens its other end.
            options.insert(.nonBlocking)
        case .readWrite: access = .readWrite
        case .create:
            access = .readWrite
            options.insert(.create)
        case .createNew:
            access = .readWrite
            options.insert([.create, .exclusiveCreate])
            permissions = .ownerReadWrite
        }
        let data = try systemCall("open the file", path: path) {
            // Safety: as for the folder's path.
            try unsafe FileDescriptor.open(
                path, access, options: options, permissions: permissions)
        }
        do throws(StoreError) {
            return (data, try identity(of: data, path))
        } catch {
            try? data.close()
            throw error
        }
    }

    private static func identity(
        of descriptor: FileDescriptor, _ path: String
    ) throws(StoreError) -> FileIdentity {
        let status = try systemCall("look at the file", path: path) { try descriptor.stat() }
        guard status.type == .regular else {
            throw StoreError(.notAStore, "a store is a regular file, and this is not", path: path)
        }
        return FileIdentity(
            device: UInt64(status.deviceID.rawValue), inode: UInt64(status.inode.rawValue))
    }

    deinit { close() }

    func close() {
        guard trellis_process_id() == processID else {
            // A process that was forked gives nothing back, because the locks are its parent's. The
            // threads whose calls are counted may be the parent's too, and do not end here.
            if use.close() { closeDescriptors() }
            return
        }
        guard use.begin() else { return }
        // A process that is just being started shares the open file until it runs its program.
        if use.close() { unlockAll() }
        if use.end() { closeDescriptors() }
    }

    private func closeDescriptors() {
        if log != data { try? log.close() }
        try? data.close()
    }

    /// Makes a call that uses the descriptors. Throws `closed` when the file has been closed.
    func withDescriptors<Result>(
        _ call: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard use.begin() else {
            throw StoreError(.closed, "the store has been closed", path: path)
        }
        defer { if use.end() { closeDescriptors() } }
        return try call()
    }

    func willRead(to byteOffset: UInt64) {
        try? withDescriptors { trellis_will_read(data.rawValue, byteOffset) }
    }

    func nextData(from byteOffset: UInt64) -> UInt64 {
        let found = try? withDescriptors { trellis_next_data(data.rawValue, byteOffset) }
        return found ?? byteOffset
    }

    func nextHole(from byteOffset: UInt64) -> UInt64 {
        let found = try? withDescriptors { trellis_next_hole(data.rawValue, byteOffset) }
        return found ?? byteOffset
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        try call("read", byteOffset: byteOffset) {
            var filled = 0
            while filled < buffer.count {
                // Safety: the buffer has as many bytes as it says, from `filled` on one or more.
                let count = try unsafe data.read(
                    fromAbsoluteOffset: Int64(byteOffset) + Int64(filled),
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer.mutableBytes[filled...]))
                if count == 0 { break }
                filled += count
            }
            return filled
        }
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try write(bytes, at: byteOffset, through: data)
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try write(bytes, at: byteOffset, through: log)
        if syncsDurableWrites { try sync() }
    }

    private func write(
        _ bytes: ByteView, at byteOffset: UInt64, through descriptor: FileDescriptor
    ) throws(StoreError) {
        try call("write", byteOffset: byteOffset) {
            var (written, emptyCount) = (0, 0)
            while written < bytes.count {
                // Safety: the view shows as many bytes as it says, from `written` on one or more.
                let count = try unsafe descriptor.write(
                    toAbsoluteOffset: Int64(byteOffset) + Int64(written),
                    UnsafeRawBufferPointer(
                        start: bytes.base + written, count: bytes.count - written))
                written += count
                // A device that takes nothing again and again would be tried for ever.
                emptyCount = count == 0 ? emptyCount + 1 : 0
                if emptyCount == 8 { throw Errno.ioError }
            }
        }
    }

    func sync() throws(StoreError) {
        let reason = try withDescriptors { trellis_sync(data.rawValue) }
        // A medium that nothing writes has nothing to make durable, and need not know how.
        let refusals: [Errno] = [.invalidArgument, .readOnlyFileSystem, .notSupported]
        if isReadOnly, refusals.contains(Errno(rawValue: reason)) { return }
        try requireSuccess(reason, "synchronise the file", path: path)
    }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        try call("set the size of the file") { try data.resize(to: Int64(sizeInBytes)) }
    }

    func size() throws(StoreError) -> UInt64 { UInt64(max(try status().size, 0)) }

    func nameCount() throws(StoreError) -> UInt64 { UInt64(try status().linkCount) }

    func access() throws(StoreError) -> FileAccess? {
        let status = try status()
        return FileAccess(
            user: UInt32(status.userID.rawValue), group: UInt32(status.groupID.rawValue),
            permissions: UInt32(status.permissions.rawValue))
    }

    func give(_ access: FileAccess) throws(StoreError) {
        try withDescriptors {
            trellis_give_access(data.rawValue, access.user, access.group, access.permissions)
        }
    }

    private func status() throws(StoreError) -> Stat {
        try call("look at the file") { try data.stat() }
    }

    @inline(__always)
    private func call<Result>(
        _ action: @autoclosure () -> String, byteOffset: UInt64? = nil,
        _ call: () throws -> Result
    ) throws(StoreError) -> Result {
        try withDescriptors { () throws(StoreError) in
            try systemCall(action(), path: path, byteOffset: byteOffset, call)
        }
    }
}
