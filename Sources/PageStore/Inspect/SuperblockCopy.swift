/// One of a file's two superblocks as it was found: for tools, also where neither opens the store.
package struct SuperblockCopy: Sendable {
    package var byteOffset: UInt64
    package var outcome: Result<Superblock, StoreError>

    /// Both copies of the file at a path, and its size. Throws when the file cannot be opened.
    package static func read(
        path: String, files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> (copies: [SuperblockCopy], fileSizeInBytes: UInt64) {
        let file = try files.open(path, .readOnly)
        defer { file.close() }
        var copies: [SuperblockCopy] = []
        for slot in 0..<2 {
            let start = UInt64(slot * SuperblockLayout.size)
            let buffer = ReadBuffer(count: SuperblockLayout.size)
            let outcome: Result<Superblock, StoreError>
            do throws(StoreError) {
                let count = try file.read(into: buffer, at: start)
                let bytes = buffer.view.slice(from: 0, count: count)
                outcome = .success(try Superblock.decode(bytes, slot: slot))
            } catch {
                outcome = .failure(error)
            }
            copies.append(SuperblockCopy(byteOffset: start, outcome: outcome))
        }
        return (copies, try file.size())
    }
}
