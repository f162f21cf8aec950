import Synchronization

/// Objects in slots that are written once, for any number of threads.
///
/// A slot keeps its object for the table's life, so a reader needs no lock: an object that it finds
/// cannot go away under it. Of two objects that want one slot the first stays.
@safe @usableFromInline
package final class WriteOnceTable<Object: AnyObject>: @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Atomic<UInt>>
    @usableFromInline let mask: Int

    /// - Parameter slotCount: a power of two.
    package init(slotCount: Int) {
        precondition(
            slotCount > 0 && slotCount & (slotCount - 1) == 0, "a table has a power of two slots")
        mask = slotCount - 1
        // Safety: all slots are initialised before another thread has the table.
        unsafe slots = .allocate(capacity: slotCount)
        for index in 0..<slotCount { unsafe (slots + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in 0...mask {
            // Safety: a slot that is not 0 holds the retained object that `insert` stored.
            if let object = unsafe reference(at: index) { unsafe object.release() }
        }
        unsafe slots.deinitialize(count: mask + 1)
        unsafe slots.deallocate()
    }

    @inlinable @inline(__always)
    func reference(at index: Int) -> Unmanaged<Object>? {
        // Safety: the mask keeps the index inside; the bits are those of a retained object, or 0.
        let bits = unsafe slots[index & mask].load(ordering: .acquiring)
        guard let opaque = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
        return unsafe Unmanaged.fromOpaque(opaque)
    }

    /// The object of a slot; indices past the last slot begin anew at the first.
    @inlinable @inline(__always)
    package func object(at index: Int) -> Object? {
        // Safety: the table retains the object and never replaces it.
        unsafe reference(at: index)?.takeUnretainedValue()
    }

    /// Lends the object of a slot without counting a reference to it; nil where there is none.
    @inlinable @inline(__always)
    package func withObject<Result>(at index: Int, _ body: (Object) -> Result) -> Result? {
        // Safety: the table retains the object and never replaces it.
        unsafe reference(at: index)?._withUnsafeGuaranteedRef(body)
    }

    package func insert(_ object: Object, at index: Int) {
        // Safety: the reference is the table's from here on, or released below.
        let retained = unsafe Unmanaged.passRetained(object)
        let bits = unsafe UInt(bitPattern: retained.toOpaque())
        let isStored = unsafe slots[index & mask].compareExchange(
            expected: 0, desired: bits, ordering: .acquiringAndReleasing
        ).exchanged
        // Safety: no other thread has seen the reference that was not stored.
        if !isStored { unsafe retained.release() }
    }
}
