import CTrellis
import Synchronization

/// The image of one logical page in memory.
///
/// Once a commit has published it an image is immutable, so that any number of readers share it.
/// Only the write transaction that made a private copy stores into it.
///
/// A copy of this value is another reference to the same image. The bytes lie in the object that
/// counts the references, a few words after the count, so that finding a page waits for memory
/// once and not twice.
@safe
package struct PageBuffer: @unchecked Sendable {
    @usableFromInline typealias Block = ManagedBuffer<Void, UInt64>

    /// The words of a `Header`, then the page's bytes, then a `Trailer`.
    @usableFromInline private(set) var block: Block

    /// The fields that a lookup reads beside the bytes.
    @usableFromInline
    struct Header: ~Copyable {
        @usableFromInline let id: PageID
        @usableFromInline let count: Int
        let proof = Atomic<UInt64>(0)

        init(id: PageID, count: Int) {
            self.id = id
            self.count = count
        }

        @inlinable static var wordCount: Int { 3 }
    }

    /// The columns, which only scans read.
    private typealias Trailer = Guarded<ColumnCache>

    /// Destroys the fields that are not plain bytes together with the image.
    private final class OwnedBlock: Block {
        deinit {
            // Safety: `init(uninitialized:)` made both, and no reference to the image is left.
            unsafe PageBuffer.trailer(self).deinitialize(count: 1)
            unsafe PageBuffer.header(self).deinitialize(count: 1)
        }
    }

    @inline(__always)
    init(_ block: Block) { self.block = block }

    private init(uninitialized id: PageID, count: Int) {
        precondition(count >= 0, "a page has no negative size")
        precondition(
            MemoryLayout<Header>.stride == Header.wordCount * 8
                && max(MemoryLayout<Header>.alignment, MemoryLayout<Trailer>.alignment) <= 8,
            "what lies around a page is laid out in words")
        let trailerWordCount = (MemoryLayout<Trailer>.stride + 7) / 8
        block = OwnedBlock.create(
            minimumCapacity: Header.wordCount + PageBuffer.wordCount(count) + trailerWordCount
        ) { _ in () }
        // Safety: the block has room for the front, the bytes and the back, in this order,
        // each from a whole word on, and has no other reference yet.
        unsafe PageBuffer.header(block).initialize(to: Header(id: id, count: count))
        unsafe PageBuffer.trailer(block).initialize(to: Trailer(ColumnCache()))
    }

    /// A page of zeros.
    package init(id: PageID, count: Int) {
        self.init(uninitialized: id, count: count)
        // Safety: the block holds `count` bytes.
        unsafe memset(base, 0, count)
    }

    /// A page that a closure stores every byte of; nil when it says that it has not. Zeros would be
    /// stored for nothing, of which a fresh page of memory is full.
    init?(id: PageID, count: Int, filledBy fill: (PageBuffer) -> Bool) {
        self.init(uninitialized: id, count: count)
        guard fill(self) else { return nil }
    }

    /// A private copy of another image.
    package init(copying other: PageBuffer) {
        self.init(uninitialized: other.id, count: other.count)
        // Safety: both blocks hold `count` bytes and are distinct.
        unsafe memcpy(base, other.base, count)
    }

    // MARK: Places in the block

    /// How many words hold so many bytes.
    private static func wordCount(_ count: Int) -> Int { count / 8 + (count % 8 == 0 ? 0 : 1) }

    @inlinable @inline(__always)
    static func words(_ block: Block) -> UnsafeMutablePointer<UInt64> {
        // Safety: elements lie in the object and never move, and who uses the address keeps it.
        unsafe block.withUnsafeMutablePointerToElements { unsafe $0 }
    }

    @inlinable @inline(__always)
    static func header(_ block: Block) -> UnsafeMutablePointer<Header> {
        // Safety: those words are used as a `Header` alone.
        unsafe UnsafeMutableRawPointer(words(block)).assumingMemoryBound(to: Header.self)
    }

    private static func trailer(_ block: Block) -> UnsafeMutablePointer<Trailer> {
        // Safety: the count never changes, and the words after the bytes are used as a `Trailer`
        // alone.
        let place = unsafe Header.wordCount + wordCount(header(block).pointee.count)
        return unsafe UnsafeMutableRawPointer(words(block) + place)
            .assumingMemoryBound(to: Trailer.self)
    }

    /// Where the page's bytes are, as long as the image is retained.
    @inlinable @inline(__always)
    var base: UnsafeMutableRawPointer {
        // Safety: `init(uninitialized:)` made room for the front and for `count` bytes behind it.
        unsafe UnsafeMutableRawPointer(PageBuffer.words(block) + Header.wordCount)
    }

    // MARK: Beside the bytes

    @inlinable @inline(__always)
    package var id: PageID {
        // Safety: the front was made with the image, and this does not change.
        unsafe PageBuffer.header(block).pointee.id
    }

    @inlinable @inline(__always)
    package var count: Int {
        // Safety: as for `id`.
        unsafe PageBuffer.header(block).pointee.count
    }

    /// A number by which a room above marks this image as checked, zero at first. Only for
    /// published images, because those do not change.
    package var proof: UInt64 {
        // Safety: the front was made with the image, and its number is atomic.
        get { unsafe PageBuffer.header(block).pointee.proof.load(ordering: .relaxed) }
        nonmutating set {
            unsafe PageBuffer.header(block).pointee.proof.store(newValue, ordering: .relaxed)
        }
    }

    /// Whether the image has another reference. Reads the count of references from memory.
    mutating func isShared() -> Bool { !isKnownUniquelyReferenced(&block) }

    /// Lends the columns that scans have read of this image. Only for published images.
    func withColumns<Result>(
        _ body: (inout sending ColumnCache) -> sending Result
    ) -> sending Result {
        // Safety: the back was made with the image, and is a lock.
        unsafe PageBuffer.trailer(block).pointee.withLock(body)
    }

    /// The page's bytes; valid as long as the image is retained.
    @inlinable @inline(__always)
    package var view: ByteView {
        // Safety: `init(uninitialized:)` made room for `count` bytes.
        unsafe ByteView(unsafeBase: UnsafeRawPointer(base), count: count)
    }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt8 {
        get { view[index] }
        nonmutating set {
            precondition(index >= 0 && index < count, "an index is outside its page")
            // Safety: the line above proves the index.
            unsafe base.storeBytes(of: newValue, toByteOffset: index, as: UInt8.self)
        }
    }

    @inlinable @inline(__always)
    package func uint16(at byteOffset: Int) -> UInt16 { view.uint16(at: byteOffset) }
    @inlinable @inline(__always)
    package func uint32(at byteOffset: Int) -> UInt32 { view.uint32(at: byteOffset) }
    @inlinable @inline(__always)
    package func uint64(at byteOffset: Int) -> UInt64 { view.uint64(at: byteOffset) }

    @inlinable @inline(__always)
    func store<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: Number, at byteOffset: Int
    ) {
        precondition(
            byteOffset >= 0 && byteOffset <= count &- MemoryLayout<Number>.size,
            "a number runs past its page")
        // Safety: the line above proves that every byte of the number is inside.
        unsafe base.storeBytes(of: number, toByteOffset: byteOffset, as: Number.self)
    }

    @inlinable package func setUInt8(_ value: UInt8, at byteOffset: Int) {
        self[byteOffset] = value
    }
    @inlinable package func setUInt16(_ value: UInt16, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }
    @inlinable package func setUInt32(_ value: UInt32, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }
    @inlinable package func setUInt64(_ value: UInt64, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }

    /// Copies bytes that may come from this very page.
    @inlinable
    package func copy(_ source: ByteView, to byteOffset: Int) {
        precondition(
            byteOffset >= 0 && byteOffset <= count &- source.count, "bytes run past their page")
        guard source.count > 0 else { return }
        // Safety: the destination lies inside, and memmove allows an overlap.
        unsafe memmove(base + byteOffset, source.base, source.count)
    }

    /// Moves bytes inside the page; the ranges may overlap.
    @inlinable
    package func move(from: Int, to: Int, count byteCount: Int) {
        copy(view.slice(from: from, count: byteCount), to: to)
    }

    @inlinable
    package func fill(_ byte: UInt8, from byteOffset: Int, count byteCount: Int) {
        precondition(
            byteOffset >= 0 && byteCount >= 0 && byteOffset <= count &- byteCount,
            "a range runs past its page")
        // Safety: the line above proves the range.
        unsafe memset(base + byteOffset, Int32(byte), byteCount)
    }
}
