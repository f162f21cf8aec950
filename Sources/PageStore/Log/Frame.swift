/// Where a log frame keeps what: spec/03-wal.md.
package enum FrameLayout {
    package static let hash = 0
    package static let length = 8
    package static let type = 12
    package static let flags = 13
    package static let reserved = 14
    package static let size = 16
    /// The payload is LZ4; otherwise it is stored as it is.
    package static let flagCompressed: UInt8 = 1

    // FULL and DELTA
    package static let pageID = 16
    package static let imageHash = 24
    package static let rawLength = 32
    package static let storedLength = 36
    package static let payload = 40

    // EXTENT
    package static let extentHash = 24
    package static let extentPlace = 32
    package static let extentSize = 40

    // FREE
    package static let freeCount = 16
    package static let freeIDs = 24

    // COMMIT
    package static let commitNumber = 16
    package static let commitPageCount = 24
    package static let commitCatalogRoot = 32
    package static let commitTime = 40
    package static let commitSize = 48

    // GROUP
    package static let groupSalt = 16
    package static let groupNumber = 32
    package static let groupDurableCommit = 40
    package static let groupHash = 48
    package static let groupSize = 56

    // LINK
    package static let linkOffset = 16
    package static let linkLength = 24
    package static let linkNumber = 32
    package static let linkSalt = 40
    package static let linkSize = 56
}

/// The type of a log frame.
package enum FrameType: UInt8, Sendable, CaseIterable {
    case group = 1
    case full = 2
    case delta = 3
    case extent = 4
    case free = 5
    case commit = 6
    case link = 7
    case pad = 8
}

/// A region of the file that holds a part of the log.
package struct LogSegment: Hashable, Sendable {
    package var byteOffset: UInt64
    package var sizeInBytes: UInt64
    package var number: UInt64
    /// Random, and never used before: what an earlier segment left here cannot pass for ours.
    package var salt: StoreUUID
    /// The newest generation when the segment was linked: readers of older ones do not need it.
    package var born: UInt64 = 0

    /// The hash that the first frame chains from.
    func chainStart(_ uuid: StoreUUID) -> UInt64 { uuid.seed(number, salt.low, salt.high) }
}

/// Puts frames together. A frame's hash is sealed when its place in the chain is known.
package enum FrameCodec {
    /// Room that a segment keeps for its LINK frame and the padding behind it.
    package static let linkReserve = UInt64(Limits.sectorSizeInBytes)

    /// Appends a frame's header and the zeros of its body; the caller fills the body in.
    static func begin(_ type: FrameType, bodySize: Int, into buffer: ByteBuffer) -> Int {
        let start = buffer.count
        buffer.appendUInt64(0)
        buffer.appendUInt32(0)
        buffer.appendUInt32(UInt32(type.rawValue))
        buffer.appendZeros(bodySize)
        return start
    }

    /// Pads the frame that began at an offset to eight bytes and states its length.
    static func end(_ start: Int, in buffer: ByteBuffer) {
        buffer.appendZeros((8 - (buffer.count - start) % 8) % 8)
        buffer.setUInt32(UInt32(buffer.count - start), at: start + FrameLayout.length)
    }

    static func appendFull(_ image: PageBuffer, into buffer: ByteBuffer) {
        let start = begin(.full, bodySize: FrameLayout.payload - FrameLayout.size, into: buffer)
        let isCompressed = Compression.appendCompressed(image.view, to: buffer)
        if !isCompressed { buffer.append(image.view) }
        endImage(.full, image, hash(of: image), start, isCompressed: isCompressed, in: buffer)
    }

    /// Appends a page compressed against the version before it. Appends nothing and returns nil
    /// when that takes more than the given bytes; else returns what it takes.
    static func appendDelta(
        _ image: PageBuffer, from base: PageBuffer, sizeMax: Int, into buffer: ByteBuffer
    ) -> Int? {
        guard sizeMax > 0, base.count == image.count else { return nil }
        let start = begin(.delta, bodySize: FrameLayout.payload - FrameLayout.size, into: buffer)
        let sizeMax = min(sizeMax, image.count - image.count / 8)
        let isCompressed =
            PageDelta.append(image.view, against: base.view, to: buffer, sizeMax: sizeMax)
            || Compression.appendCompressed(
                image.view, against: base.view, to: buffer, sizeMax: sizeMax)
        guard isCompressed else {
            buffer.truncate(to: start)
            return nil
        }
        let size = buffer.count - start - FrameLayout.payload
        endImage(.delta, image, hash(of: image), start, isCompressed: true, in: buffer)
        return size
    }

    /// Appends a delta that was computed before; nil when it is larger than `sizeMax`.
    static func appendDelta(
        _ image: PageBuffer, _ draft: DeltaDraft, sizeMax: Int, into buffer: ByteBuffer
    ) -> Int? {
        guard draft.block.count <= sizeMax else { return nil }
        assert(draft.imageHash == hash(of: image), "a page that was left is not changed")
        let start = begin(.delta, bodySize: FrameLayout.payload - FrameLayout.size, into: buffer)
        buffer.append(draft.block)
        endImage(.delta, image, draft.imageHash, start, isCompressed: true, in: buffer)
        return draft.block.count
    }

    /// The hash of an image that FULL and DELTA frames contain.
    static func hash(of image: PageBuffer) -> UInt64 {
        Checksum.hash(image.view, seed: image.id.rawValue)
    }

    /// Fills in what FULL and DELTA have in common, once the payload is there.
    private static func endImage(
        _ type: FrameType, _ image: PageBuffer, _ imageHash: UInt64, _ start: Int,
        isCompressed: Bool, in buffer: ByteBuffer
    ) {
        let stored = buffer.count - start - FrameLayout.payload
        buffer.setUInt64(image.id.rawValue, at: start + FrameLayout.pageID)
        buffer.setUInt64(imageHash, at: start + FrameLayout.imageHash)
        buffer.setUInt32(UInt32(image.count), at: start + FrameLayout.rawLength)
        buffer.setUInt32(UInt32(stored), at: start + FrameLayout.storedLength)
        let flags = isCompressed ? UInt32(FrameLayout.flagCompressed) : 0
        buffer.setUInt32(UInt32(type.rawValue) | flags << 8, at: start + FrameLayout.type)
        end(start, in: buffer)
    }

    static func appendExtent(_ id: PageID, _ address: ExtentAddress, into buffer: ByteBuffer) {
        let start = begin(.extent, bodySize: 24, into: buffer)
        buffer.setUInt64(id.rawValue, at: start + FrameLayout.pageID)
        buffer.setUInt64(address.hash, at: start + FrameLayout.extentHash)
        buffer.setUInt64(address.place, at: start + FrameLayout.extentPlace)
        end(start, in: buffer)
    }

    static func appendFree(_ ids: ArraySlice<PageID>, into buffer: ByteBuffer) {
        let start = begin(.free, bodySize: 8, into: buffer)
        buffer.setUInt32(UInt32(ids.count), at: start + FrameLayout.freeCount)
        for id in ids { buffer.appendUInt64(id.rawValue) }
        end(start, in: buffer)
    }

    static func appendCommit(
        number: UInt64, pageCount: UInt64, catalogRoot: UInt64, time: UInt64,
        into buffer: ByteBuffer
    ) {
        let start = begin(.commit, bodySize: 32, into: buffer)
        buffer.setUInt64(number, at: start + FrameLayout.commitNumber)
        buffer.setUInt64(pageCount, at: start + FrameLayout.commitPageCount)
        buffer.setUInt64(catalogRoot, at: start + FrameLayout.commitCatalogRoot)
        buffer.setUInt64(time, at: start + FrameLayout.commitTime)
        end(start, in: buffer)
    }

    static func appendGroup(
        salt: StoreUUID, number: UInt64, durableCommit: UInt64, into buffer: ByteBuffer
    ) {
        let start = begin(.group, bodySize: 40, into: buffer)
        buffer.setUInt64(salt.low, at: start + FrameLayout.groupSalt)
        buffer.setUInt64(salt.high, at: start + FrameLayout.groupSalt + 8)
        buffer.setUInt64(number, at: start + FrameLayout.groupNumber)
        buffer.setUInt64(durableCommit, at: start + FrameLayout.groupDurableCommit)
        end(start, in: buffer)
        let covered = buffer.view.slice(
            from: start + FrameLayout.length, count: FrameLayout.groupHash - FrameLayout.length)
        buffer.setUInt64(Checksum.hash(covered, seed: 0), at: start + FrameLayout.groupHash)
    }

    static func appendLink(_ target: LogSegment, into buffer: ByteBuffer) {
        let start = begin(.link, bodySize: 40, into: buffer)
        buffer.setUInt64(target.byteOffset, at: start + FrameLayout.linkOffset)
        buffer.setUInt64(target.sizeInBytes, at: start + FrameLayout.linkLength)
        buffer.setUInt64(target.number, at: start + FrameLayout.linkNumber)
        buffer.setUInt64(target.salt.low, at: start + FrameLayout.linkSalt)
        buffer.setUInt64(target.salt.high, at: start + FrameLayout.linkSalt + 8)
        end(start, in: buffer)
    }

    /// Fills up to the next sector, so that no later write touches a sector of this one.
    static func appendPad(into buffer: ByteBuffer) {
        let sector = Limits.sectorSizeInBytes
        var rest = (sector - buffer.count % sector) % sector
        guard rest > 0 else { return }
        if rest < FrameLayout.size { rest += sector }
        let start = begin(.pad, bodySize: rest - FrameLayout.size, into: buffer)
        end(start, in: buffer)
    }

    /// Chains every frame of a buffer: returns the hash that the next frame chains from.
    static func seal(_ buffer: ByteBuffer, chain: UInt64) -> UInt64 {
        var chain = chain
        var start = 0
        while start < buffer.count {
            let length = Int(buffer.view.uint32(at: start + FrameLayout.length))
            let covered = buffer.view.slice(from: start + 8, count: length - 8)
            chain = Checksum.hash(covered, seed: chain)
            buffer.setUInt64(chain, at: start + FrameLayout.hash)
            start += length
        }
        return chain
    }
}
