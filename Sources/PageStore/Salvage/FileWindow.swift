/// Bytes of a file, a few megabytes of them in memory. Unreadable bytes count as zeros, so that a
/// salvage continues after them.
final class FileWindow {
    private static let sizeInBytes = 4 << 20

    let fileSizeInBytes: UInt64
    private(set) var unreadableBytes: UInt64 = 0
    private let file: any StoreFile
    private let buffer = ReadBuffer(count: sizeInBytes)
    private var start: UInt64 = 0
    private var count = 0

    init(_ file: any StoreFile) throws(StoreError) {
        self.file = file
        fileSizeInBytes = try file.size()
    }

    /// The bytes of a range, fewer where the file or the window ends. Valid until the next call.
    func view(at byteOffset: UInt64, count wanted: Int) -> ByteView {
        guard byteOffset < fileSizeInBytes else { return buffer.view.slice(from: 0, count: 0) }
        let available = Int(
            min(UInt64(min(wanted, Self.sizeInBytes)), fileSizeInBytes - byteOffset))
        if byteOffset < start || byteOffset + UInt64(available) > start + UInt64(count) {
            load(from: byteOffset)
        }
        return buffer.view.slice(from: Int(byteOffset - start), count: available)
    }

    /// A copy of the bytes of a range, fewer where the file ends. Leaves the window where it is.
    func read(at byteOffset: UInt64, count wanted: Int) -> ReadBuffer {
        let available = byteOffset < fileSizeInBytes ? fileSizeInBytes - byteOffset : 0
        let buffer = ReadBuffer(count: Int(min(UInt64(wanted), available)))
        if let read = try? file.read(into: buffer, at: byteOffset), read == buffer.count {
            return buffer
        }
        // Block by block, past what cannot be read.
        buffer.copy(view(at: byteOffset, count: buffer.count), to: 0)
        return buffer
    }

    /// Where a search of a file with holes goes on: at a position, or at the first block behind it
    /// that is in no hole, where there are only zeros.
    func pastHole(_ position: UInt64) -> UInt64 {
        if position >= start, position < start + UInt64(count) { return position }
        let block = UInt64(Limits.blockSizeInBytes)
        return max(position, file.nextData(from: position) / block * block)
    }

    private func load(from byteOffset: UInt64) {
        start = byteOffset
        count = Int(min(UInt64(Self.sizeInBytes), fileSizeInBytes - byteOffset))
        if let read = try? file.read(into: buffer, at: byteOffset), read == count { return }
        let block = ReadBuffer(count: Limits.blockSizeInBytes)
        let zeros = [UInt8](repeating: 0, count: block.count)
        for offset in stride(from: 0, to: count, by: block.count) {
            let part = min(block.count, count - offset)
            if let read = try? file.read(into: block, at: byteOffset + UInt64(offset)), read >= part
            {
                buffer.copy(block.view.slice(from: 0, count: part), to: offset)
            } else {
                unreadableBytes += UInt64(part)
                zeros.withView { buffer.copy($0.slice(from: 0, count: part), to: offset) }
            }
        }
    }
}
