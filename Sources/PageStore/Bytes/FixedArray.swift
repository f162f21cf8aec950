/// A list that never grows, in one block. A copy of this value is the same list.
///
/// Of an array that an object holds each access is checked for exclusivity, and reads where the
/// array is first; every lookup of a page asks such lists. Who shares one sees to it that nobody
/// reads an element while somebody changes it, as map nodes do under the engine's lock.
@safe
struct FixedArray<Element> {
    private let block: ManagedBuffer<Int, Element>
    let count: Int

    /// Ends the elements together with the block.
    private final class OwnedBlock: ManagedBuffer<Int, Element> {
        deinit {
            // Safety: `init` made as many elements as the header says.
            _ = unsafe withUnsafeMutablePointers { count, elements in
                unsafe elements.deinitialize(count: count.pointee)
            }
        }
    }

    init(repeating element: Element, count: Int) {
        precondition(count >= 0, "a list has no negative size")
        self.count = count
        block = OwnedBlock.create(minimumCapacity: count) { _ in count }
        // Safety: the block has room for so many elements, of which none is made yet.
        unsafe block.withUnsafeMutablePointerToElements {
            unsafe $0.initialize(repeating: element, count: count)
        }
    }

    init(copying other: FixedArray) {
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

    subscript(index: Int) -> Element {
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

    var indices: Range<Int> { 0..<count }
}

extension FixedArray {
    /// Lends an object of the list without counting a reference to it; nil where there is none.
    /// Nobody may change the element meanwhile.
    @inline(__always)
    func withObject<Object: AnyObject, Result>(
        at index: Int, _ body: (Object) -> Result
    ) -> Result? where Element == Object? {
        precondition(index >= 0 && index < count, "an index is outside its list")
        // Safety: the line above proves the index, and an optional reference is one word.
        let word = unsafe block.withUnsafeMutablePointerToElements {
            unsafe UnsafeRawPointer($0 + index).load(as: UInt.self)
        }
        guard let opaque = unsafe UnsafeRawPointer(bitPattern: word) else { return nil }
        // Safety: the list keeps the object, and nobody changes the list meanwhile.
        return unsafe Unmanaged<Object>.fromOpaque(opaque)._withUnsafeGuaranteedRef(body)
    }
}
