import PageStore
import Proof
import RecordStore

/// Changes entries of a store's trees by transactions of the engine, so that pages, hashes and
/// trees are sound and only what the entries say is not.
///
/// Each change is five bytes: the tree, the entry, an offset of two bytes, and a byte. With the
/// highest bit of the tree the key is changed, otherwise the value. The highest byte of the offset
/// says how: 0xFF removes the entry, 0xFE cuts the bytes off there, 0xFD adds a byte at the end,
/// anything else stores the byte there.
struct FuzzedEntries {
    private static let path = "store"
    private let bytes: [UInt8]
    /// The catalog first.
    private let trees: [TreeID]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        let engine = try Engine.open(
            path: Self.path, options: Self.readingOptions, files: Self.disk(bytes))
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        guard let root = snapshot.catalogRoot.map({ TreeID(root: $0) }) else {
            throw ProofFailure("the store has no catalog")
        }
        var trees = [root]
        let cursor = Cursor(snapshot, tree: root)
        var isMore = try cursor.seekFirst()
        while isMore {
            let name = cursor.key.array()
            if name.starts(with: "tree/".utf8) || name == Array("counters".utf8) {
                trees.append(TreeID(root: PageID(try cursor.value().uint64(at: 0))))
            }
            isMore = try cursor.next()
        }
        self.trees = trees
    }

    private static var readingOptions: Engine.Options {
        var options = Engine.Options()
        options.mode = .reading
        return options
    }

    private static func disk(_ bytes: [UInt8]) -> SimulatedDisk {
        var image = DiskImage()
        image.files[1] = bytes
        image.names[path] = 1
        return SimulatedDisk(image, seed: 5)
    }

    /// The findings of `trellis check`; an error of opening is one too.
    static func check(_ bytes: [UInt8]) throws -> [Finding] {
        do throws(StoreError) {
            let engine = try Engine.open(path: path, options: readingOptions, files: disk(bytes))
            defer { try? engine.close() }
            let snapshot = try engine.snapshot()
            let trees = try CatalogView(snapshot)?.trees().map(\.tree)
            let database = try RecordDatabase.openReadOnly(engine)
            return StoreCheck.run(snapshot, knownTrees: trees ?? [])
                + (try database.snapshot().check())
        } catch {
            guard ![.io, .diskFull, .closed].contains(error.code) else { throw error }
            return [Finding(error)]
        }
    }

    func file(changedBy changes: ArraySlice<UInt8>) throws -> [UInt8] {
        let disk = Self.disk(bytes)
        let engine = try Engine.open(path: Self.path, files: disk)
        let transaction = try engine.beginWrite()
        for start in stride(from: changes.startIndex, to: changes.endIndex - 4, by: 5) {
            try change(Array(changes[start..<(start + 5)]), transaction)
        }
        _ = try transaction.commit()
        try engine.close()
        return disk.image.bytes(of: Self.path) ?? []
    }

    private func change(_ change: [UInt8], _ transaction: WriteTransaction) throws {
        let tree = trees[Int(change[0] & 0x7F) % trees.count]
        let cursor = Cursor(transaction, tree: tree)
        guard try cursor.seekFirst() else { return }
        for _ in 0..<(change[1] & 0x3F) where cursor.isValid { _ = try cursor.next() }
        guard cursor.isValid else { return }
        let (oldKey, oldValue) = (cursor.key.array(), try cursor.value().array())
        var (key, value) = (oldKey, oldValue)
        let isKey = change[0] & 0x80 != 0
        var edited = isKey ? key : value
        let offset = Int(change[2]) | Int(change[3]) << 8
        switch change[3] {
        case 0xFF:
            _ = try transaction.remove(key.span, from: tree)
            return
        case 0xFE: edited.removeLast(max(0, edited.count - Int(change[2])))
        case 0xFD: edited.append(change[4])
        default:
            guard !edited.isEmpty else { return }
            edited[offset % edited.count] = change[4]
        }
        if isKey { key = edited } else { value = edited }
        guard !key.isEmpty, key != oldKey || value != oldValue else { return }
        _ = try transaction.remove(oldKey.span, from: tree)
        _ = try transaction.insert(key.span, value.span, into: tree)
    }
}
