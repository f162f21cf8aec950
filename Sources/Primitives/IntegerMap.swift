/// Values by numbers other than zero: open addressing with one multiplication, for each step of
/// each descent asks such a map, where a dictionary's hash costs more than the search itself.
///
/// Linear probing, at most half full; a removal shifts back what follows, so that nothing marks
/// former entries.
///
/// The types of this module are usable from inlined code. Without that, other modules do not see
/// the bodies of their functions and call them unspecialised, which doubles the instructions of a
/// lookup.
@frozen @usableFromInline
package struct IntegerMap<Value> {
    /// Number and value side by side: who finds one has waited for the other.
    @frozen @usableFromInline
    package struct Slot {
        /// 0 marks a free slot.
        @usableFromInline package internal(set) var number: UInt64 = 0
        @usableFromInline package internal(set) var value: Value?

        @inlinable init() {}

        @inlinable
        init(_ number: UInt64, _ value: Value) { (self.number, self.value) = (number, value) }
    }

    /// The slot that ``index(of:)`` found is read here, so that no more of a value is copied than
    /// is asked.
    @usableFromInline package internal(set) var slots: [Slot]
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init() { slots = Array(repeating: Slot(), count: 16) }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// In no particular order.
    @inlinable package var values: [Value] { slots.compactMap(\.value) }

    @inlinable @inline(__always)
    func bucket(_ number: UInt64) -> Int {
        // Numbers of pages, objects and extents are small and dense, or come in strides: the
        // product's high bits spread them.
        Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & (slots.count &- 1)
    }

    /// The slot of a number, or the free one where it would go.
    @inlinable @inline(__always)
    func slot(_ number: UInt64) -> Int {
        var slot = bucket(number)
        while slots[slot].number != number && slots[slot].number != 0 {
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return slot
    }

    /// Which slot has a number, until the map changes.
    @inlinable @inline(__always)
    package func index(of number: UInt64) -> Int? {
        let slot = slot(number)
        return slots[slot].number == number ? slot : nil
    }

    @inlinable
    package subscript(number: UInt64) -> Value? {
        @inline(__always) get { slots[slot(number)].value }
        set {
            if let newValue {
                insert(newValue, number)
            } else {
                remove(number)
            }
        }
    }

    @inlinable
    mutating func insert(_ value: Value, _ number: UInt64) {
        precondition(number != 0, "zero is no number of the map")
        let index = slot(number)
        if slots[index].number == 0 { count += 1 }
        slots[index] = Slot(number, value)
        if count * 2 > slots.count { grow() }
    }

    /// Takes the value out of a slot that ``index(of:)`` found, until ``put(_:at:)`` puts another
    /// there: a value that is changed outside of the map is not copied for it.
    @inlinable @inline(__always)
    package mutating func take(at index: Int) -> Value? {
        var value: Value?
        swap(&value, &slots[index].value)
        return value
    }

    @inlinable @inline(__always)
    package mutating func put(_ value: Value, at index: Int) { slots[index].value = value }

    @inlinable
    mutating func grow() {
        var old = Array(repeating: Slot(), count: slots.count * 2)
        swap(&old, &slots)
        // Moved, not copied: nothing of a value is counted anew.
        for index in old.indices where old[index].number != 0 {
            let target = slot(old[index].number)
            swap(&slots[target], &old[index])
        }
    }

    @inlinable
    mutating func remove(_ number: UInt64) {
        if let index = index(of: number) { remove(at: index) }
    }

    /// Removes the number of a slot that ``index(of:)`` found.
    @inlinable
    package mutating func remove(at index: Int) {
        var hole = index
        slots[hole] = Slot()
        count -= 1
        // Entries after the hole move up when their search would have passed it.
        var next = hole
        while true {
            next = (next &+ 1) & (slots.count &- 1)
            guard slots[next].number != 0 else { return }
            let distance = (next &- bucket(slots[next].number)) & (slots.count &- 1)
            guard distance >= (next &- hole) & (slots.count &- 1) else { continue }
            slots.swapAt(hole, next)
            hole = next
        }
    }
}
