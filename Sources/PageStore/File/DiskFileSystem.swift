import CFileIdentity

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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
        guard unsafe trellis_file_identity(path, &identity.device, &identity.inode) == 0 else {
            if errno == ENOENT { return nil }
            throw systemFailure("look at the file", path: path)
        }
        return identity
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        // A second name and the end of the first: unlike a rename, this replaces nothing.
        guard unsafe Glibc.link(path, newPath) == 0 else {
            if errno == EEXIST {
                throw StoreError(
                    .invalidArgument, "there is a file of that name already", path: newPath)
            }
            throw systemFailure("name the file", path: newPath)
        }
        try unlink(path)
    }

    package func unlink(_ path: String) throws(StoreError) {
        guard unsafe Glibc.unlink(path) == 0 else {
            throw systemFailure("remove the file", path: path)
        }
    }

    package func syncDirectory(of path: String) throws(StoreError) {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemFailure("open the folder", path: folder) }
        defer { _ = Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw systemFailure("synchronise the folder", path: folder)
        }
    }

    package func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    package func random() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func processID() -> Int32 { getpid() }
}

/// A file of the machine: one descriptor for buffered writes and reads, and one for the log, whose
/// writes are durable when they return. Both stay open for the store's life.
final class DiskFile: StoreFile, @unchecked Sendable {
    let identity: FileIdentity
    let path: String
    let data: Int32
    private let log: Int32
    private let isWritable: Bool
    private let processID = getpid()

    init(path: String, mode: FileMode) throws(StoreError) {
        let flags: Int32 =
            switch mode {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT
            }
        let data = unsafe Glibc.open(path, flags | O_CLOEXEC, mode_t(0o644))
        guard data >= 0 else { throw systemFailure("open the file", path: path) }
        var status = stat()
        guard unsafe fstat(data, &status) == 0 else {
            let failure = systemFailure("look at the file", path: path)
            _ = Glibc.close(data)
            throw failure
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            _ = Glibc.close(data)
            throw StoreError(.notAStore, "a store is a regular file, and this is not", path: path)
        }
        var log = data
        if case .readOnly = mode {
            isWritable = false
        } else {
            isWritable = true
            log = unsafe Glibc.open(path, O_RDWR | O_DSYNC | O_CLOEXEC)
            guard log >= 0 else {
                let failure = systemFailure("open the file for its log", path: path)
                _ = Glibc.close(data)
                throw failure
            }
        }
        self.path = path
        self.data = data
        self.log = log
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    deinit { close() }

    private var isClosed = false

    func close() {
        guard !isClosed else { return }
        isClosed = true
        // A process that is just being started shares the open file until it runs its program. One
        // that was forked gives nothing back: the locks are its parent's.
        if getpid() == processID { unlockAll() }
        if log != data { _ = Glibc.close(log) }
        _ = Glibc.close(data)
    }

    func willRead(to byteOffset: UInt64) {
        #if canImport(Glibc) || canImport(Musl)
            // A hint: where it fails, each read waits for itself.
            _ = posix_fadvise(data, 0, off_t(clamping: byteOffset), POSIX_FADV_WILLNEED)
        #endif
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        var filled = 0
        while filled < buffer.count {
            // Safety: the range from `filled` to `count` lies inside the buffer.
            let result = retryingInterrupts {
                unsafe pread(
                    data, buffer.base + filled, buffer.count - filled,
                    off_t(byteOffset) + off_t(filled))
            }
            if result < 0 { throw systemFailure("read", path: path, byteOffset: byteOffset) }
            if result == 0 { break }
            filled += result
        }
        return filled
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try write(bytes, at: byteOffset, through: data)
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try write(bytes, at: byteOffset, through: log)
    }

    private func write(
        _ bytes: ByteView, at byteOffset: UInt64, through descriptor: Int32
    ) throws(StoreError) {
        var written = 0
        while written < bytes.count {
            // Safety: the range from `written` to `count` lies inside the view.
            let result = retryingInterrupts {
                unsafe pwrite(
                    descriptor, bytes.base + written, bytes.count - written,
                    off_t(byteOffset) + off_t(written))
            }
            if result < 0 { throw systemFailure("write", path: path, byteOffset: byteOffset) }
            written += result
        }
    }

    func sync() throws(StoreError) {
        guard retryingInterrupts({ Int(fsync(data)) }) == 0 else {
            throw systemFailure("synchronise the file", path: path)
        }
    }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        guard retryingInterrupts({ Int(ftruncate(data, off_t(sizeInBytes))) }) == 0 else {
            throw systemFailure("set the size of the file", path: path)
        }
    }

    func size() throws(StoreError) -> UInt64 { UInt64(max(try status().st_size, 0)) }

    func nameCount() throws(StoreError) -> UInt64 { UInt64(try status().st_nlink) }

    private func status() throws(StoreError) -> stat {
        var status = stat()
        guard unsafe fstat(data, &status) == 0 else {
            throw systemFailure("look at the file", path: path)
        }
        return status
    }
}
