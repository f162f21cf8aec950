import PageStore

/// A file over another one, for tests that change a few of its calls. Locks are not forwarded:
/// unless it implements them, no other process can reach the file.
package protocol ForwardingFile: StoreFile {
    var file: any StoreFile { get }
}

extension ForwardingFile {
    package var identity: FileIdentity { file.identity }

    package func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        try file.read(into: buffer, at: byteOffset)
    }

    package func willRead(to byteOffset: UInt64) { file.willRead(to: byteOffset) }
    package func nextData(from byteOffset: UInt64) -> UInt64 { file.nextData(from: byteOffset) }
    package func nextHole(from byteOffset: UInt64) -> UInt64 { file.nextHole(from: byteOffset) }

    package func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.write(bytes, at: byteOffset)
    }

    package func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try file.writeDurably(bytes, at: byteOffset)
    }

    package func sync() throws(StoreError) { try file.sync() }

    package func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        try file.truncate(to: sizeInBytes)
    }

    package func size() throws(StoreError) -> UInt64 { try file.size() }
    package func close() { file.close() }
}

/// A file system over another one; methods that open files return the wrapped type.
package protocol ForwardingFileSystem: FileSystem {
    var base: any FileSystem { get }
}

extension ForwardingFileSystem {
    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        try base.identity(path)
    }

    package func isLink(_ path: String) throws(StoreError) -> Bool { try base.isLink(path) }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        try base.rename(path, to: newPath)
    }

    package func replace(_ path: String, with newPath: String) throws(StoreError) {
        try base.replace(path, with: newPath)
    }

    package func unlink(_ path: String) throws(StoreError) { try base.unlink(path) }

    package func syncDirectory(of path: String) throws(StoreError) {
        try base.syncDirectory(of: path)
    }

    package func freeBytes(at path: String) -> UInt64? { base.freeBytes(at: path) }
    package func now() -> UInt64 { base.now() }
    package func random() -> UInt64 { base.random() }
    package func processID() -> Int32 { base.processID() }
    package func programIdentity() -> UInt64 { base.programIdentity() }
}
