/// Commit: space first, then extents, then one durable write of the log, then publication.
extension Engine {
    /// Called by the one write transaction, which holds the turn.
    func commit(_ content: CommitContent) throws(StoreError) -> UInt64 {
        try checkNotPoisoned()
        let number = state.commitNumber + 1
        var content = content
        var output = ExtentWriter(engine: self, isRecent: true)
        do throws(StoreError) {
            try moveOutOfLine(&content, number: number, with: &output)
            let group = encode(&content, number: number)
            try reserveLog(UInt64(group.count))
            try writeGroup(group)
        } catch {
            output.abandon()
            throw error.at(path: path)
        }
        publish(content, number: number)
        checkpointWhenDue()
        return number
    }

    /// A large transaction writes its pages where they stay, so that they are written once.
    private func moveOutOfLine(
        _ content: inout CommitContent, number: UInt64, with output: inout ExtentWriter
    ) throws(StoreError) {
        let imageBytes = content.images.count * options.pageSizeInBytes
        guard imageBytes >= options.outOfLineBytesMin || !content.extents.isEmpty else { return }
        do throws(StoreError) {
            if imageBytes >= options.outOfLineBytesMin {
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
        FrameCodec.appendGroup(
            salt: writer.log.segment.salt, number: writer.log.groupNumber,
            durableCommit: state.commitNumber, into: buffer)
        encodeImages(&content.images, into: buffer)
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
        FrameCodec.appendPad(into: buffer)
        return buffer
    }

    /// Writes each page as the difference from its version before, or whole: when there is none,
    /// and when the deltas since the last whole image are many or large.
    private func encodeImages(_ images: inout [LoggedImage], into buffer: ByteBuffer) {
        guard !images.isEmpty else { return }
        let chains = lock.withLock { _ in images.map { state.generation.chain(of: $0.image.id) } }
        let sizeMax = options.pageSizeInBytes / 2
        for (index, chain) in chains.enumerated() {
            let image = images[index].image
            if let base = images[index].base, chain.count < DeltaChain.countMax,
                let size = FrameCodec.appendDelta(
                    image, from: base, sizeMax: sizeMax - chain.sizeInBytes, into: buffer)
            {
                images[index].chain = DeltaChain(
                    count: chain.count + 1, sizeInBytes: chain.sizeInBytes + size)
            } else {
                FrameCodec.appendFull(image, into: buffer)
            }
        }
    }

    /// Makes sure that a group fits the segment, with room for a LINK behind it.
    private func reserveLog(_ byteCount: UInt64) throws(StoreError) {
        let log = writer.log
        guard log.position + byteCount + FrameCodec.linkReserve > log.segment.sizeInBytes else {
            return
        }
        let segment = try allocateSegment(holding: byteCount)
        try link(to: segment)
    }

    /// Takes space for a segment whose blocks exist, so that writing into it cannot lack space.
    func allocateSegment(holding byteCount: UInt64) throws(StoreError) -> LogSegment {
        let block = UInt64(Limits.blockSizeInBytes)
        let wanted = byteCount + FrameCodec.linkReserve + block
        let usual = UInt64(
            max(options.logSegmentSizeInBytes, Limits.walSegmentSizeInBytesMin))
        let size = (max(usual, wanted) + block - 1) / block * block
        let unitSize = UInt64(options.unitSizeInBytes)
        let alignment = max(1, Limits.blockSizeInBytes / options.unitSizeInBytes)
        let unit = space.withLock {
            $0.allocate(Int(size / unitSize), alignment: alignment, isRecent: true)
        }
        do throws(StoreError) {
            try zeroFill(unit, size / unitSize)
        } catch {
            space.withLock { $0.free(unit, size / unitSize) }
            throw failedBeforeCommit(error)
        }
        return LogSegment(
            byteOffset: unit * unitSize, sizeInBytes: size,
            number: writer.log.segment.number + 1,
            salt: StoreUUID(low: files.random(), high: files.random()),
            born: newestGeneration)
    }

    /// Where blocks were never written they are written now; elsewhere the new salt makes what an
    /// earlier owner left harmless.
    private func zeroFill(_ unit: UInt64, _ unitCount: UInt64) throws(StoreError) {
        let parts = space.withLock { $0.unwrittenParts(unit, unitCount) }
        guard !parts.isEmpty else { return }
        let unitSize = UInt64(options.unitSizeInBytes)
        let zeros = ByteBuffer(capacity: 1 << 17)
        zeros.appendZeros(1 << 17)
        for part in parts {
            var position = part.lowerBound * unitSize
            let end = part.upperBound * unitSize
            while position < end {
                let count = min(UInt64(zeros.count), end - position)
                try file.write(zeros.view.slice(from: 0, count: Int(count)), at: position)
                position += count
            }
        }
        try syncData()
        space.withLock { $0.noteWritten(unit, unitCount) }
    }

    /// Writes the old segment's last frame and goes on in the new one.
    func link(to segment: LogSegment) throws(StoreError) {
        let buffer = ByteBuffer(capacity: 1024)
        // A group of its own, so that damage to the last commit before it is told from a tail.
        FrameCodec.appendGroup(
            salt: writer.log.segment.salt, number: writer.log.groupNumber,
            durableCommit: state.commitNumber, into: buffer)
        FrameCodec.appendLink(segment, into: buffer)
        FrameCodec.appendPad(into: buffer)
        _ = FrameCodec.seal(buffer, chain: writer.log.chain)
        try writeLog(buffer)
        writer.log.groupNumber += 1
        startSegment(segment)
    }

    /// The log goes on at the beginning of a segment.
    func startSegment(_ segment: LogSegment) {
        writer.log.segment = segment
        writer.log.position = 0
        writer.log.chain = segment.chainStart(uuid)
        lock.withLock { _ in state.segments.append(segment) }
    }

    private func writeGroup(_ group: ByteBuffer) throws(StoreError) {
        FrameCodec.setGroupSalt(writer.log.segment.salt, in: group)
        let chain = FrameCodec.seal(group, chain: writer.log.chain)
        try writeLog(group)
        writer.log.chain = chain
        writer.log.position += UInt64(group.count)
        writer.log.groupNumber += 1
    }

    private func writeLog(_ buffer: ByteBuffer) throws(StoreError) {
        do throws(StoreError) {
            try file.writeDurably(
                buffer.view, at: writer.log.segment.byteOffset + writer.log.position)
        } catch {
            poison(error)
            throw error
        }
        // Another thread's failed sync may have lost what this write made of the file.
        try checkNotPoisoned()
        lock.withLock { _ in state.logBytes += UInt64(buffer.count) }
    }

    private func publish(_ content: CommitContent, number: UInt64) {
        lock.withLock { _ in
            let generation = state.generation
            for logged in content.images {
                generation.append(
                    PageVersion(
                        commit: number, content: .image(logged.image), chain: logged.chain),
                    of: logged.image.id)
            }
            for extent in content.extents {
                generation.append(
                    PageVersion(commit: number, content: .extent(extent.address)), of: extent.id)
            }
            for id in content.freed {
                generation.append(PageVersion(commit: number, content: .freed), of: id)
            }
            state.commitNumber = number
            state.catalogRoot = content.catalogRoot
            state.commits += 1
        }
        for id in content.freed.reversed() { writer.freeNames.insert(id) }
    }
}

extension FrameCodec {
    /// The group's segment is known only once its size is.
    static func setGroupSalt(_ salt: StoreUUID, in group: ByteBuffer) {
        group.setUInt64(salt.low, at: FrameLayout.groupSalt)
        group.setUInt64(salt.high, at: FrameLayout.groupSalt + 8)
        let covered = group.view.slice(
            from: FrameLayout.length, count: FrameLayout.groupHash - FrameLayout.length)
        group.setUInt64(Checksum.hash(covered, seed: 0), at: FrameLayout.groupHash)
    }
}
