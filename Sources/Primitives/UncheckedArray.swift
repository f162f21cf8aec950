/// A fixed-size buffer with reference semantics and without exclusivity checks: a copy of this
/// value is the same buffer. Indices are checked.
///
/// Each access to an array that an object holds is checked for exclusivity, and reads first where
/// the array is; every lookup of a page asks such lists. Callers synchronise access: while one
/// changes an element, no other reads it.
@safe @frozen @usableFromInline
package struct UncheckedArray<Element> {
    @usableFromInline let block: ManagedBuffer<Int, Element>
    @usableFromInline package let count: Int

    /// Ends the elements together with the block.
    @usableFromInline
    final class OwnedBlock: ManagedBuffer<Int, Element> {
        @inlinable
        deinit {
            // Safety: `init` made as many elements as the header says.
            _ = unsafe withUnsafeMutablePointers { count, elements in
                unsafe elements.deinitialize(count: count.pointee)
            }
        }
    }

    @inlinable
    package init(repeating element: Element, count: Int) {
        precondition(count >= 0, "a list has no negative size")
        self.count = count
        block = OwnedBlock.create(minimumCapacity: count) { _ in count }
        // Safety: the block has room for so many elements, of which none is made yet.
        unsafe block.withUnsafeMutablePointerToElements {
            unsafe $0.initialize(repeating: element, count: count)
        }
    }

    @inlinable
    package init(copying other: UncheckedArray) {
        let count = other.count
        self.count = count
        block = OwnedBlock.create(minimumCapacity: count) { _ in count }
        // Safety: both blocks are for so many elements, those of the other are all made, and those
        // of this one are not.
        unsafe other.block.withUnsafeMutablePointerToElements { source in
            unsafe block.withUnsafeMutablePointerToElements { target in
                unsafe target.initialize(from: source, count: count)
            }
        }
    }

    @inlinable
    package subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count, "an index is outside its list")
            // Safety: the line above proves the index, and `init` made all elements.
            return unsafe block.withUnsafeMutablePointerToElements { unsafe $0[index] }
        }
        @inline(__always) nonmutating set {
            precondition(index >= 0 && index < count, "an index is outside its list")
            // Safety: as above.
            unsafe block.withUnsafeMutablePointerToElements { unsafe $0[index] = newValue }
        }
    }

    @inlinable package var indices: Range<Int> { 0..<count }
}

extension UncheckedArray {
    /// The elements that are there, in their order.
    @inlinable
    package func compacted<Object>() -> [Object] where Element == Object? {
        indices.compactMap { self[$0] }
    }

    /// Lends an object of the list without counting a reference to it; nil where there is none.
    /// The element must not change meanwhile.
    @inlinable @inline(__always)
    package func withObject<Object: AnyObject, Result>(
        at index: Int, _ body: (Object) -> Result
    ) -> Result? where Element == Object? {
        precondition(index >= 0 && index < count, "an index is outside its list")
        // Safety: the line above proves the index, and an optional reference is one word.
        let word = unsafe block.withUnsafeMutablePointerToElements {
            unsafe UnsafeRawPointer($0 + index).load(as: UInt.self)
        }
        guard let opaque = unsafe UnsafeRawPointer(bitPattern: word) else { return nil }
        // Safety: the list keeps the object, and by the rule above it does not change meanwhile.
        return unsafe Unmanaged<Object>.fromOpaque(opaque)._withUnsafeGuaranteedRef(body)
    }
}
