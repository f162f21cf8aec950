/// The newest version of each page in the frames of a transaction whose COMMIT has not been read.
///
/// A few bytes of log can stand for a page of zeros, so that images past a limit are kept as small
/// as the log has them.
struct PendingVersions {
    private let imageBytesMax: Int
    private let pageSizeInBytes: Int
    /// A packed image of a page that is in memory already, to be shared where it is the same.
    private let known: ((PageID) -> PackedImage?)?
    private var versions: [PageID: PageVersion.Content] = [:]
    /// Extents that a later frame of the transaction replaced.
    private var replacedExtents: [ExtentAddress] = []
    /// Bytes of all images as such, those that were committed included.
    private var imageBytes = 0

    init(
        imageBytesMax: Int, pageSizeInBytes: Int, known: ((PageID) -> PackedImage?)? = nil
    ) {
        self.imageBytesMax = imageBytesMax
        self.pageSizeInBytes = pageSizeInBytes
        self.known = known
    }

    var isEmpty: Bool { versions.isEmpty }

    subscript(id: PageID) -> PageVersion.Content? { versions[id] }

    /// - Parameter block: what the log has for the image; nil for a delta, and for an image that is
    ///   stored as it is.
    mutating func note(_ image: PageBuffer, compressed block: ByteView?) {
        let isMany = imageBytes + image.count > imageBytesMax
        var packed = isMany ? PackedImage(image, compressed: block) : nil
        if packed != nil, let same = known?(image.id), same == packed { packed = same }
        note(image.id, packed.map { .packed($0) } ?? .image(image))
    }

    mutating func note(_ id: PageID, _ version: PageVersion.Content) {
        if case .image = version { imageBytes += pageSizeInBytes }
        switch versions.updateValue(version, forKey: id) {
        case .image?: imageBytes -= pageSizeInBytes
        case .extent(let address)?: replacedExtents.append(address)
        default: break
        }
    }

    /// The transaction has its COMMIT.
    mutating func commit(to content: inout LogContent) {
        // One large transaction is most of a log: its table is not copied.
        if content.pages.isEmpty { swap(&content.pages, &versions) }
        for (id, version) in versions {
            switch content.pages.updateValue(version, forKey: id) {
            case .image?: imageBytes -= pageSizeInBytes
            case .extent(let address)?: content.replacedExtents.append(address)
            default: break
            }
        }
        content.replacedExtents += replacedExtents
        versions = [:]
        replacedExtents = []
    }

    /// The transaction has none.
    mutating func forget() {
        for case .image in versions.values { imageBytes -= pageSizeInBytes }
        versions = [:]
        replacedExtents = []
    }
}

/// Upper bounds for the content of a log in a file of its size.
///
/// Each version of a page was made by a frame of the log, or has an extent in the file, and each
/// extent a unit of its own. A log that exceeds this does not belong to the file.
struct LogLimits {
    /// Up to here the file is not asked how large it is.
    private static let countMin: UInt64 = 1 << 16

    private let context: StoreContext
    private var extentCountMax: UInt64?
    private var imageCount: UInt64 = 0
    private var extentCount: UInt64 = 0
    private var freedCount: UInt64 = 0

    init(_ context: StoreContext) { self.context = context }

    mutating func noteImage() { imageCount += 1 }

    mutating func noteExtent(_ byteOffset: UInt64) throws(StoreError) {
        extentCount += 1
        try check(extentCount, "more extents than it has room for", byteOffset)
    }

    mutating func noteFreed(_ count: Int, _ byteOffset: UInt64) throws(StoreError) {
        freedCount += UInt64(count)
        let made = imageCount + extentCount
        guard freedCount > made else { return }
        try check(freedCount - made, "more freed pages than it has room for", byteOffset)
    }

    private mutating func check(
        _ count: UInt64, _ what: String, _ byteOffset: UInt64
    ) throws(StoreError) {
        guard count > Self.countMin else { return }
        let known = extentCountMax ?? 0
        // The file grows while it is read.
        if count > known { extentCountMax = try context.extentCountMax() }
        guard count <= extentCountMax ?? 0 else {
            throw .corrupt(nil, "the log names \(what)", byteOffset: byteOffset)
        }
    }
}
