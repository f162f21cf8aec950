/// Creating a store in an empty file.
enum Creation {
    /// Writes all but the superblocks, then both superblocks, then the folder's entry.
    static func create(
        path: String, options: StoreOptions, files: any FileSystem, _ opened: OpenFile,
        uuid: StoreUUID? = nil
    ) throws(StoreError) -> StoreParts {
        let superblock = firstSuperblock(options, files, uuid)
        let context = StoreContext(
            path: path, opened, files: files, uuid: superblock.uuid,
            geometry: Geometry(superblock), options: options)
        let parts = StoreParts(context, superblock, previousGeneration: 0)
        let blank = ByteBuffer(capacity: 2 * SuperblockLayout.size)
        blank.appendZeros(2 * SuperblockLayout.size)
        try context.file.write(blank.view, at: 0)
        parts.space.withSpace { space in
            let units = context.geometry.superblockUnits
            space.take(0, UInt64(units.count))
            space.noteWritten(0, UInt64(units.count))
        }
        parts.log.restore([])
        try parts.writer.withState { writer throws(StoreError) in
            // The checkpoint synchronises the file before its superblock names the segment.
            parts.log.start(
                try parts.log.allocateSegment(holding: 0, isSyncedLater: true), &writer)
            parts.beginSession(writer)
            try parts.checkpointer.run(parts.checkpointer.plan(1, writer))
            try parts.checkpointer.writeMirrorSuperblock()
            try context.sync()
            // For a path that is a link, the folder of its target.
            try files.syncDirectory(of: files.target(of: path))
            writer.isPrepared = true
        }
        return parts
    }

    private static func firstSuperblock(
        _ options: StoreOptions, _ files: any FileSystem, _ uuid: StoreUUID?
    ) -> Superblock {
        let head = LogSegment(
            byteOffset: 0, sizeInBytes: 0, number: 0, salt: StoreUUID(low: 0, high: 0))
        var superblock = Superblock(
            pageSizeInBytes: options.pageSizeInBytes, unitSizeInBytes: options.unitSizeInBytes,
            generation: 0,
            uuid: uuid ?? StoreUUID(low: files.random(), high: files.random()),
            mapDepth: 1, commitNumber: 0, commitTime: files.now(), pageCount: 1, catalogRoot: 0,
            mapRoot: .none, allocationRoot: .none, head: head, requiredLength: 0)
        superblock.lineage = files.random()
        return superblock
    }

    /// Whether the file is one whose creation did not finish. The first superblock goes to slot 1
    /// and is durable before slot 0 is written, and only then may a log begin: so slot 0 and the
    /// first log segment are zeros, and the file is no longer than a new store. A store that has
    /// lost its first bytes is never taken for this: it has pages, or a superblock of a later
    /// generation.
    static func isUnfinished(
        _ file: MeteredFile, size: UInt64, options: StoreOptions
    ) throws(StoreError) -> Bool {
        let block = SuperblockLayout.size
        let segmentSize = max(options.logSegmentSizeInBytes, Limits.walSegmentSizeInBytesMin)
        let newStoreSize = UInt64(
            2 * block + segmentSize + 4 * options.pageSizeInBytes
                + 64 * options.unitSizeInBytes + 4 * Limits.blockSizeInBytes)
        guard size <= newStoreSize else { return false }
        let buffer = ReadBuffer(count: Int(size))
        let count = try file.read(into: buffer, at: 0)
        let bytes = buffer.view.slice(from: 0, count: count)
        let slot = bytes.slice(from: 0, count: min(count, block))
        let log = bytes.slice(
            from: min(count, 2 * block), count: min(max(0, count - 2 * block), segmentSize))
        // Of a first superblock that was torn, the beginning is there or it is not.
        let first = bytes.slice(from: min(count, block), count: min(max(0, count - block), 8))
        let magic = SuperblockLayout.magicValue
        let isOurs =
            first.count < 8
            ? first.isZero
            : (0...8).contains { byteCount in
                let kept = byteCount == 8 ? UInt64.max : (1 << (8 * UInt64(byteCount))) - 1
                return first.uint64(at: 0) == magic & kept
            }
        return slot.isZero && isOurs && log.isZero && !hasLaterState(bytes)
    }

    /// Whether bytes of a file tell of more than its creation by this version, which writes a
    /// superblock and an allocation state of the first generation.
    private static func hasLaterState(_ bytes: ByteView) -> Bool {
        let block = SuperblockLayout.size
        guard bytes.count >= 2 * block else { return false }
        do throws(StoreError) {
            let slot = bytes.slice(from: block, count: block)
            if try Superblock.decode(slot, slot: 1).generation > 1 { return true }
        } catch {
            if error.code == .newerFormat { return true }
        }
        var start = 2 * block
        while start <= bytes.count - ExtentLayout.size {
            let place = bytes.slice(from: start, count: ExtentLayout.size)
            if let header = ExtentHeader(likely: place),
                header.generation != 1 || header.kind == .page || header.kind == .map
            {
                return true
            }
            start += Limits.unitSizeInBytesMin
        }
        return false
    }
}
