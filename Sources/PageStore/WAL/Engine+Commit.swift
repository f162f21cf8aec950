/// Commit: space first, then extents, then the log. A transaction is *staged* while it holds the
/// turn: its frames wait for the next write of the log, and the next transaction builds on it.
/// Whoever waits for the log first writes for all that are staged then: one group, one write.
extension Engine {
    /// Stages what a transaction changed; the caller holds the turn. Returns the commit's number.
    /// Nothing is durable, and no reader sees it, before ``finishCommit(_:_:)``.
    func stage(_ content: CommitContent) throws(StoreError) -> UInt64 {
        try checkProcess()
        try checkNotPoisoned()
        try checkPlace()
        let number = writer.stagedCommit + 1
        var content = content
        var output = ExtentWriter(engine: self, isRecent: true)
        let frames: ByteBuffer
        do throws(StoreError) {
            try moveOutOfLine(&content, number: number, with: &output)
            frames = encode(&content, number: number)
            try reserveLog(UInt64(frames.count))
        } catch {
            output.abandon()
            throw error.at(path: path)
        }
        lock.withLock { cache in
            note(content, number: number)
            reserveMemory(&cache)
            state.staged.frames.append(frames.view)
            state.staged.last = number
            state.staged.count += 1
            state.staged.catalogRoot = content.catalogRoot
            if content.durability != .relaxed { state.staged.isDurable = true }
        }
        writer.stagedCommit = number
        writer.stagedRoot = content.catalogRoot
        for id in content.freed.reversed() { writer.freeNames.insert(id) }
        return number
    }

    /// Waits until a staged commit is as safe as it should be, and visible.
    func finishCommit(_ number: UInt64, _ durability: Durability) throws(StoreError) {
        switch durability {
        case .durable, .bulk: try writeLog(upTo: number, isDurable: true)
        case .grouped(let delay):
            waitForCompany(number, delay)
            try writeLog(upTo: number, isDurable: true)
        case .relaxed:
            try writeLog(upTo: number, isDurable: false)
            syncLogSoon()
        }
        // Where another transaction has the turn, its own commit will look.
        guard turn.passIfOpen() else { return }
        checkpointWhenDue()
        turn.open()
    }

    /// A large transaction writes its pages where they stay, so that they are written once.
    private func moveOutOfLine(
        _ content: inout CommitContent, number: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) {
        let movesImages =
            content.durability == .bulk
            || (content.images.count + content.extents.count) * options.pageSizeInBytes
                >= options.outOfLineBytesMin
        guard movesImages || !content.extents.isEmpty else { return }
        do throws(StoreError) {
            if movesImages {
                for logged in content.images {
                    let image = logged.image
                    let address = try output.append(
                        image.view, id: image.id.rawValue, kind: .page,
                        generation: newestGeneration, commit: number)
                    content.extents.append((id: image.id, address: address))
                }
                try output.flush()
                content.images = []
            }
        } catch {
            throw failedBeforeCommit(error)
        }
        // Only after this succeeded may a frame name them.
        do throws(StoreError) {
            try file.sync()
        } catch {
            poison(error)
            throw error
        }
    }

    private func encode(_ content: inout CommitContent, number: UInt64) -> ByteBuffer {
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
            number: number, pageCount: writer.nextPageID,
            catalogRoot: content.catalogRoot?.rawValue ?? 0, time: files.now(), into: buffer)
        return buffer
    }

    /// Writes each page as the difference from its version before, or whole: when there is none,
    /// and when the deltas since the last whole image are many or large.
    private func encodeImages(_ content: inout CommitContent, into buffer: ByteBuffer) {
        guard !content.images.isEmpty else { return }
        let images = content.images
        let chains = lock.withLock { _ in images.map { state.generation.chain(of: $0.image.id) } }
        let sizeMax = options.pageSizeInBytes / 2
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

    /// Under the lock: the versions that the commit makes, for readers who come after it.
    private func note(_ content: CommitContent, number: UInt64) {
        let generation = state.generation
        let shown = generation.shown(besides: shownCommits)
        for logged in content.images {
            generation.append(
                PageVersion(
                    commit: number, content: .image(logged.image), chain: logged.chain),
                of: logged.image.id, keeping: shown)
        }
        for extent in content.extents {
            generation.append(
                PageVersion(commit: number, content: .extent(extent.address)), of: extent.id,
                keeping: shown)
        }
        for id in content.freed {
            generation.append(PageVersion(commit: number, content: .freed), of: id, keeping: shown)
        }
    }
}
