/// The way of a transaction into the log, and to its readers.
///
/// A transaction is *staged* while it has the writer lock: its frames wait for the next write of
/// the log, and the next transaction builds on it. The first thread that waits for the log then
/// writes for all that are staged: one group, one write.
struct Commit {
    private let parts: StoreParts

    init(_ parts: StoreParts) { self.parts = parts }

    private var context: StoreContext { parts.context }

    /// Stages what a transaction changed. It becomes visible, and durable, with the next write of
    /// the log, on whatever thread; ``finish(_:_:)`` waits for that write, or makes it.
    ///
    /// - Returns: the commit's number, and the commit pinned when that is asked for.
    func stage(
        _ change: CommitContent, _ writer: inout WriterState, pinsCommit: Bool
    ) throws(StoreError) -> (number: UInt64, pin: SnapshotPin?) {
        // 1. The store may be written, under the path that it was opened by.
        try context.checkProcess()
        try context.health.check(context.path)
        try context.checkPathIdentity()
        let number = writer.stagedCommit + 1
        // A log that no checkpoint can end would grow without bound.
        guard number <= Limits.numberMax, parts.checkpointer.hasGeneration else {
            throw context.numbersUsedUp()
        }
        var content = change
        var output = ExtentWriter(context, parts.space, isRecent: true)
        let frames: ByteBuffer
        do throws(StoreError) {
            // 2. Extents, durable before a frame names them.
            try writeOutOfLine(&content, number: number, with: &output)
            // 3. Frames.
            frames = encode(&content, number: number, pageCount: writer.nextPageID)
            // 4. Room in the log: from here on nothing lacks space.
            try parts.log.reserve(frames.count, &writer)
        } catch {
            output.abandon()
            throw error.at(path: context.path)
        }
        // 5. Versions: no snapshot has this number before it is published.
        let pin = parts.pager.stage(content, number: number, pinsCommit: pinsCommit)
        // 6. The next group of the log.
        parts.log.stage(
            frames, number: number, catalogRoot: content.catalogRoot,
            isDurable: content.durability != .relaxed)
        // 7. The state that the next transaction builds on.
        writer.stagedCommit = number
        writer.stagedRoot = content.catalogRoot
        for id in content.freed.reversed() { writer.freeIDs.insert(id) }
        return (number, pin)
    }

    /// Waits until a staged commit is as safe as it should be, and visible.
    ///
    /// Throws `commitUncertain`: the write of the log that holds the commit failed, here or on
    /// another thread, or was not tried because the store was poisoned. Only the next opening knows
    /// whether the file has the commit.
    func finish(_ number: UInt64, _ durability: Durability) throws(StoreError) {
        do throws(StoreError) {
            try context.checkProcess()
            // 8. The group is written, by this thread or by another one, and published.
            switch durability {
            case .durable, .bulk: try parts.log.write(upTo: number, isDurable: true)
            case .grouped(let delay):
                parts.log.waitForGroupCommit(number, delay)
                try parts.log.write(upTo: number, isDurable: true)
            case .relaxed:
                try parts.log.write(upTo: number, isDurable: false)
                parts.log.syncSoon()
            }
        } catch {
            var failure = error.at(path: context.path)
            failure.code = .commitUncertain
            failure.message =
                "whether the file has the commit is known when it is opened anew: \(error.message)"
            throw failure
        }
        // 9. A checkpoint, when one is due. Where another transaction has the writer lock, the one
        // after it looks: threads that commit in turn may never find the lock free here.
        let hasLooked: Void? = parts.writer.withStateIfFree { parts.checkpointer.startWhenDue(&$0) }
        if hasLooked == nil { parts.checkpointer.noteMissedLook() }
    }

    /// A large transaction writes its pages where they stay, so that they are written once.
    private func writeOutOfLine(
        _ content: inout CommitContent, number: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) {
        let movesImages =
            content.durability == .bulk
            || (content.images.count + content.extents.count) * context.geometry.pageSizeInBytes
                >= context.options.outOfLineBytesMin
        guard movesImages || !content.extents.isEmpty else { return }
        if movesImages {
            do throws(StoreError) {
                let written = try output.append(
                    content.images.map(\.image), generation: parts.pager.generationNumber,
                    commit: number)
                try output.flush()
                content.extents += written.map { (id: $0.image.id, address: $0.address) }
                content.images = []
            } catch {
                throw context.failedBeforeCommit(error)
            }
        }
        // Only after this succeeded may a frame name them.
        try context.sync()
    }

    private func encode(
        _ content: inout CommitContent, number: UInt64, pageCount: UInt64
    ) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: 65_536)
        encodeImages(&content, into: buffer)
        for extent in content.extents {
            FrameCodec.appendExtent(extent.id, extent.address, into: buffer)
        }
        var rest = content.freed[...]
        while !rest.isEmpty {
            FrameCodec.appendFree(rest.prefix(1024), into: buffer)
            rest = rest.dropFirst(1024)
        }
        FrameCodec.appendCommit(
            number: number, pageCount: pageCount,
            catalogRoot: content.catalogRoot?.rawValue ?? 0, time: context.files.now(),
            into: buffer)
        return buffer
    }

    /// Writes each page as the difference from its version before, or whole: when there is none,
    /// and when the deltas since the last whole image are many or large.
    private func encodeImages(_ content: inout CommitContent, into buffer: ByteBuffer) {
        guard !content.images.isEmpty else { return }
        let images = content.images
        let chains = parts.pager.chains(of: images)
        let sizeMax = context.geometry.pageSizeInBytes / 2
        for (index, chain) in chains.enumerated() {
            let image = images[index].image
            if let base = images[index].base, chain.count < DeltaChain.countMax,
                let size = appendDelta(
                    image, from: base, content.drafts[image.id],
                    sizeMax: sizeMax - chain.sizeInBytes, into: buffer)
            {
                content.images[index].chain = DeltaChain(
                    count: chain.count + 1, sizeInBytes: chain.sizeInBytes + size)
            } else {
                FrameCodec.appendFull(image, into: buffer)
            }
        }
    }

    private func appendDelta(
        _ image: PageBuffer, from base: PageBuffer, _ draft: DeltaDraft?, sizeMax: Int,
        into buffer: ByteBuffer
    ) -> Int? {
        guard let draft else {
            return FrameCodec.appendDelta(image, from: base, sizeMax: sizeMax, into: buffer)
        }
        return FrameCodec.appendDelta(image, draft, sizeMax: sizeMax, into: buffer)
    }
}
