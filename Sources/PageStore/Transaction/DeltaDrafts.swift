import Primitives

/// How the log will hold a page: a block against its version before, and the hash of its image.
struct DeltaDraft {
    let block: ByteView
    let imageHash: UInt64
}

/// Deltas of the pages that a transaction has left, found while the processor still has them and
/// their versions before at hand: a commit of many pages would wait for memory to bring both again.
struct DeltaDrafts {
    private struct Place {
        var start: Int
        var count: Int
        var imageHash: UInt64
    }

    /// Drafts of pages that were left again and again are only replaced in the table.
    private static let bytesMax = 1 << 20

    private var places = IntegerMap<Place>()
    private var bytes: ByteBuffer?
    var sizeInBytes: Int { bytes?.count ?? 0 }

    /// Drafts the delta of a page, which must not change before ``remove(_:)``.
    mutating func add(_ image: PageBuffer, from base: PageBuffer) {
        remove(image.id)
        if sizeInBytes > Self.bytesMax { removeAll() }
        let bytes = self.bytes ?? ByteBuffer(capacity: 65_536)
        self.bytes = bytes
        let start = bytes.count
        guard
            PageDelta.append(
                image.view, against: base.view, to: bytes, sizeMax: image.count / 2)
        else { return }
        places[image.id.rawValue] = Place(
            start: start, count: bytes.count - start, imageHash: FrameCodec.hash(of: image))
    }

    mutating func remove(_ id: PageID) {
        if places.count > 0 { places[id.rawValue] = nil }
    }

    mutating func removeAll() {
        guard bytes != nil else { return }
        places = IntegerMap()
        bytes = nil
    }

    /// The draft of a page; lasts until the next change.
    subscript(id: PageID) -> DeltaDraft? {
        guard places.count > 0, let bytes, let place = places[id.rawValue] else { return nil }
        return DeltaDraft(
            block: bytes.view.slice(from: place.start, count: place.count),
            imageHash: place.imageHash)
    }
}
