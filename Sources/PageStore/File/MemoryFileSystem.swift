import Synchronization

/// Files that live in memory: the in-memory store is the same engine over one of these.
package final class MemoryFileSystem: FileSystem {
    private struct State {
        var files: [String: MemoryFile] = [:]
        var nextInode: UInt64 = 1
    }

    private static let nextDevice = Atomic<UInt64>(1 << 63)

    private let state = Guarded(State())
    private let device: UInt64

    package init() {
        device = Self.nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        let found: MemoryFile? = try state.withLock { state throws(StoreError) in
            if let file = state.files[path] {
                if case .createNew = mode { throw Self.taken(path) }
                return file
            }
            switch mode {
            case .readOnly, .readWrite: return nil
            case .create, .createNew: break
            }
            let file = MemoryFile(identity: FileIdentity(device: device, inode: state.nextInode))
            state.nextInode += 1
            state.files[path] = file
            return file
        }
        guard let found else {
            throw StoreError(.notFound, "there is no such file in memory", path: path)
        }
        return found
    }

    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        state.withLock { $0.files[path]?.identity }
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        let isFree = state.withLock { state in
            guard state.files[newPath] == nil else { return false }
            state.files[newPath] = state.files.removeValue(forKey: path)
            return true
        }
        guard isFree else { throw Self.taken(newPath) }
    }

    private static func taken(_ path: String) -> StoreError {
        StoreError(.invalidArgument, "there is a file of that name already", path: path)
    }

    package func replace(_ path: String, with newPath: String) throws(StoreError) {
        let isFound = state.withLock { state in
            guard let file = state.files.removeValue(forKey: newPath) else { return false }
            state.files[path] = file
            return true
        }
        guard isFound else {
            throw StoreError(.notFound, "there is no such file in memory", path: newPath)
        }
    }

    package func unlink(_ path: String) throws(StoreError) {
        state.withLock { _ = $0.files.removeValue(forKey: path) }
    }

    package func syncDirectory(of path: String) throws(StoreError) {}
    package func now() -> UInt64 { DiskFileSystem.shared.now() }
    package func random() -> UInt64 { DiskFileSystem.shared.random() }
    package func processID() -> Int32 { DiskFileSystem.shared.processID() }
    package func programIdentity() -> UInt64 { DiskFileSystem.shared.programIdentity() }
}

/// A file of blocks in memory; a block never moves while the file grows.
package final class MemoryFile: StoreFile {
    private struct Content {
        var blocks: [ReadBuffer] = []
        var sizeInBytes: UInt64 = 0
    }

    private static let blockSizeInBytes = 65_536

    package let identity: FileIdentity
    private let content = Guarded(Content())

    package init(identity: FileIdentity) {
        self.identity = identity
    }

    package func close() {}

    package func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        content.withLock { content in
            guard byteOffset < content.sizeInBytes else { return 0 }
            let available = Int(min(UInt64(buffer.count), content.sizeInBytes - byteOffset))
            Self.forEachBlock(of: available, at: byteOffset) { block, inside, done, count in
                buffer.copy(
                    content.blocks[block].view.slice(from: inside, count: count), to: done)
            }
            return available
        }
    }

    package func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        content.withLock { content in
            Self.grow(&content, to: byteOffset + UInt64(bytes.count))
            Self.forEachBlock(of: bytes.count, at: byteOffset) { block, inside, done, count in
                content.blocks[block].copy(bytes.slice(from: done, count: count), to: inside)
            }
        }
    }

    package func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try write(bytes, at: byteOffset)
    }

    package func sync() throws(StoreError) {}

    package func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        content.withLock { content in
            if sizeInBytes >= content.sizeInBytes {
                Self.grow(&content, to: sizeInBytes)
                return
            }
            content.sizeInBytes = sizeInBytes
            let size = UInt64(Self.blockSizeInBytes)
            let blockCount = Int((sizeInBytes + size - 1) / size)
            content.blocks.removeLast(content.blocks.count - blockCount)
            // Bytes past the new end read as zeros when the file grows again.
            let tail = Int(sizeInBytes % size)
            if tail > 0, let last = content.blocks.last {
                let zeros = [UInt8](repeating: 0, count: Self.blockSizeInBytes - tail)
                zeros.withView { last.copy($0, to: tail) }
            }
        }
    }

    package func size() throws(StoreError) -> UInt64 { content.withLock { $0.sizeInBytes } }

    private static func grow(_ content: inout Content, to sizeInBytes: UInt64) {
        guard sizeInBytes > content.sizeInBytes else { return }
        content.sizeInBytes = sizeInBytes
        let zeros = [UInt8](repeating: 0, count: blockSizeInBytes)
        while UInt64(content.blocks.count) * UInt64(blockSizeInBytes) < sizeInBytes {
            let block = ReadBuffer(count: blockSizeInBytes)
            zeros.withView { block.copy($0, to: 0) }
            content.blocks.append(block)
        }
    }

    private static func forEachBlock(
        of count: Int, at byteOffset: UInt64,
        _ body: (_ block: Int, _ inside: Int, _ done: Int, _ count: Int) -> Void
    ) {
        var done = 0
        while done < count {
            let position = byteOffset + UInt64(done)
            let inside = Int(position % UInt64(blockSizeInBytes))
            let part = min(blockSizeInBytes - inside, count - done)
            body(Int(position / UInt64(blockSizeInBytes)), inside, done, part)
            done += part
        }
    }
}
