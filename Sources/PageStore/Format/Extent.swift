/// Where an extent keeps what: spec/02-pages.md.
package enum ExtentLayout {
    package static let hash = 0
    package static let pageID = 8
    package static let generation = 16
    package static let commit = 24
    package static let storedLength = 32
    package static let rawLength = 36
    package static let flags = 40
    package static let kind = 42
    /// A quarter of the file's UUID, the one that the id's two low bits say: what is left of a file
    /// without superblocks says so together what its checksums begin from.
    package static let uuidPart = 44
    package static let size = 48
    /// Header and payload of the longest extent.
    package static let sizeInBytesMax = size + Limits.chunkSizeInBytesMax

    /// The payload is LZ4; otherwise it is stored as it is.
    package static let flagCompressed: UInt16 = 1
}

/// The kind of content of an extent.
package enum ExtentKind: UInt16, Sendable {
    case page = 1
    case map = 2
    case zone = 3
    case allocation = 4
}

/// A map entry: where the bytes of a page are, and the hash that they must have.
@frozen
package struct ExtentAddress: Hashable, Sendable {
    package var hash: UInt64
    /// Units from the file's start in the low 48 bits, count of units in the high 16.
    package var place: UInt64

    package static let none = ExtentAddress(hash: 0, place: 0)
    package static let size = 16

    package init(hash: UInt64, place: UInt64) {
        self.hash = hash
        self.place = place
    }

    package init(hash: UInt64, unit: UInt64, unitCount: Int) {
        self.hash = hash
        self.place = unit | UInt64(unitCount) << 48
    }

    package init(_ bytes: ByteView, at byteOffset: Int) {
        hash = bytes.uint64(at: byteOffset)
        place = bytes.uint64(at: byteOffset + 8)
    }

    @inlinable package var isNone: Bool { place == 0 }
    package var unit: UInt64 { place & 0xFFFF_FFFF_FFFF }
    package var unitCount: Int { Int(place >> 48) }

    package func store(in page: PageBuffer, at byteOffset: Int) {
        page.setUInt64(hash, at: byteOffset)
        page.setUInt64(place, at: byteOffset + 8)
    }
}

/// The header of an extent: also what salvage would find by scanning.
package struct ExtentHeader: Hashable, Sendable {
    package var pageID: UInt64
    package var generation: UInt64
    package var commit: UInt64
    package var storedLength: Int
    package var rawLength: Int
    package var isCompressed: Bool
    package var kind: ExtentKind
}

/// Puts extents together and takes them apart.
package enum ExtentCodec {
    /// How an image is stored: its header, and its payload behind it.
    package static func encode(
        _ image: ByteView, id: UInt64, kind: ExtentKind, generation: UInt64, commit: UInt64,
        compresses: Bool, into buffer: ByteBuffer
    ) {
        let start = buffer.count
        buffer.appendZeros(ExtentLayout.size)
        let isCompressed = compresses && Compression.appendCompressed(image, to: buffer)
        if !isCompressed { buffer.append(image) }
        let storedLength = buffer.count - start - ExtentLayout.size
        buffer.setUInt64(id, at: start + ExtentLayout.pageID)
        buffer.setUInt64(generation, at: start + ExtentLayout.generation)
        buffer.setUInt64(commit, at: start + ExtentLayout.commit)
        buffer.setUInt32(UInt32(storedLength), at: start + ExtentLayout.storedLength)
        buffer.setUInt32(UInt32(image.count), at: start + ExtentLayout.rawLength)
        let flags = isCompressed ? ExtentLayout.flagCompressed : 0
        buffer.setUInt32(
            UInt32(flags) | UInt32(kind.rawValue) << 16, at: start + ExtentLayout.flags)
    }

    /// Gives an encoded extent its hash, which depends on its place; pads it to whole units.
    package static func seal(
        _ buffer: ByteBuffer, from start: Int, unit: UInt64, unitCount: Int, unitSizeInBytes: Int,
        uuid: StoreUUID
    ) -> ExtentAddress {
        let part = Int(buffer.view.uint64(at: start + ExtentLayout.pageID) & 3)
        buffer.setUInt32(uuid.part(part), at: start + ExtentLayout.uuidPart)
        let covered = buffer.view.slice(
            from: start + 8, count: buffer.count - start - 8)
        let hash = Checksum.hash(covered, seed: uuid.seed(unit))
        buffer.setUInt64(hash, at: start + ExtentLayout.hash)
        buffer.appendZeros(unitCount * unitSizeInBytes - (buffer.count - start))
        return ExtentAddress(hash: hash, unit: unit, unitCount: unitCount)
    }

    /// Checks an extent that was read from its address and returns its image.
    package static func decode(
        _ bytes: ByteView, address: ExtentAddress, id: UInt64, kind: ExtentKind,
        unitSizeInBytes: Int, uuid: StoreUUID
    ) throws(StoreError) -> PageBuffer {
        let place = address.unit &* UInt64(unitSizeInBytes)
        let page = kind == .page ? PageID(id) : nil
        let header = try decodeHeader(bytes, page: page, byteOffset: place)
        let covered = bytes.slice(from: 8, count: ExtentLayout.size - 8 + header.storedLength)
        let hash = Checksum.hash(covered, seed: uuid.seed(address.unit))
        guard hash == address.hash, bytes.uint64(at: ExtentLayout.hash) == hash else {
            throw .corrupt(page, "an extent contradicts its checksum", byteOffset: place)
        }
        guard header.pageID == id, header.kind == kind else {
            throw .corrupt(
                page, "an extent holds another page than its entry says", byteOffset: place)
        }
        return try image(bytes, header, page: page, byteOffset: place)
    }

    /// Takes the image out of an extent whose checksum was compared, or cannot be.
    static func image(
        _ bytes: ByteView, _ header: ExtentHeader, page: PageID?, byteOffset place: UInt64
    ) throws(StoreError) -> PageBuffer {
        let payload = bytes.slice(from: ExtentLayout.size, count: header.storedLength)
        guard header.isCompressed || header.storedLength == header.rawLength else {
            throw .corrupt(page, "an extent's lengths disagree", byteOffset: place)
        }
        let image = PageBuffer(id: PageID(header.pageID), count: header.rawLength) { image in
            if header.isCompressed { return Compression.decompress(payload, into: image) }
            image.copy(payload, to: 0)
            return true
        }
        guard let image else {
            throw .corrupt(page, "an extent does not decompress", byteOffset: place)
        }
        return image
    }

    package static func decodeHeader(
        _ bytes: ByteView, page: PageID?, byteOffset: UInt64
    ) throws(StoreError) -> ExtentHeader {
        guard bytes.count >= ExtentLayout.size else {
            throw .corrupt(page, "an extent is shorter than its header", byteOffset: byteOffset)
        }
        let storedLength = Int(bytes.uint32(at: ExtentLayout.storedLength))
        let rawLength = Int(bytes.uint32(at: ExtentLayout.rawLength))
        guard storedLength <= bytes.count - ExtentLayout.size,
            rawLength <= Limits.chunkSizeInBytesMax, rawLength > 0
        else {
            throw .corrupt(page, "an extent's lengths are out of range", byteOffset: byteOffset)
        }
        guard let kind = ExtentKind(rawValue: bytes.uint16(at: ExtentLayout.kind)) else {
            throw .corrupt(page, "an extent has an unknown kind", byteOffset: byteOffset)
        }
        return ExtentHeader(
            pageID: bytes.uint64(at: ExtentLayout.pageID),
            generation: bytes.uint64(at: ExtentLayout.generation),
            commit: bytes.uint64(at: ExtentLayout.commit), storedLength: storedLength,
            rawLength: rawLength,
            isCompressed: bytes.uint16(at: ExtentLayout.flags) & ExtentLayout.flagCompressed != 0,
            kind: kind)
    }
}
