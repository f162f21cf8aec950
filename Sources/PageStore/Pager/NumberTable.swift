/// Values by numbers other than zero: open addressing with one multiplication, for each step of
/// each descent asks such a table, where a dictionary's hash costs more than the search itself.
struct NumberTable<Value> {
    /// Number and value side by side: who finds one has waited for the other.
    struct Slot {
        /// 0 marks a free slot.
        fileprivate(set) var number: UInt64 = 0
        fileprivate(set) var value: Value?
    }

    /// What ``place(of:)`` found is read here, so that no more of a value is copied than is asked.
    private(set) var slots: [Slot] = Array(repeating: Slot(), count: 16)
    private(set) var count = 0

    /// In no particular order.
    var values: [Value] { slots.compactMap(\.value) }

    @inline(__always)
    private func home(_ number: UInt64) -> Int {
        // Numbers of pages and places are small and dense: the product's high bits spread them.
        Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & (slots.count &- 1)
    }

    /// The slot of a number, or the free one where it would go.
    @inline(__always)
    private func slot(_ number: UInt64) -> Int {
        var slot = home(number)
        while slots[slot].number != number && slots[slot].number != 0 {
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return slot
    }

    /// Where the value of a number is until the table changes.
    @inline(__always)
    func place(of number: UInt64) -> Int? {
        let slot = slot(number)
        return slots[slot].number == number ? slot : nil
    }

    subscript(number: UInt64) -> Value? {
        @inline(__always) get { slots[slot(number)].value }
        set {
            if let newValue {
                insert(newValue, number)
            } else {
                remove(number)
            }
        }
    }

    private mutating func insert(_ value: Value, _ number: UInt64) {
        precondition(number != 0, "zero is no number of the table")
        let place = slot(number)
        if slots[place].number == 0 {
            count += 1
            slots[place].number = number
        }
        slots[place].value = value
        if count * 2 > slots.count { grow() }
    }

    /// Takes the value out of a place that ``place(of:)`` found, until ``put(_:at:)`` puts another
    /// there: what is changed outside of the table is not copied for it.
    @inline(__always)
    mutating func take(at place: Int) -> Value? {
        var value: Value?
        swap(&value, &slots[place].value)
        return value
    }

    @inline(__always)
    mutating func put(_ value: Value, at place: Int) { slots[place].value = value }

    private mutating func grow() {
        var old = Array(repeating: Slot(), count: slots.count * 2)
        swap(&old, &slots)
        // Moved, not copied: nothing of a value is counted anew.
        for index in old.indices where old[index].number != 0 {
            let place = slot(old[index].number)
            swap(&slots[place], &old[index])
        }
    }

    private mutating func remove(_ number: UInt64) {
        var hole = slot(number)
        guard slots[hole].number != 0 else { return }
        count -= 1
        // Entries behind the hole move up when their search would have passed it.
        var next = hole
        while true {
            slots[hole] = Slot()
            while true {
                next = (next &+ 1) & (slots.count &- 1)
                guard slots[next].number != 0 else { return }
                let distance = (next &- home(slots[next].number)) & (slots.count &- 1)
                if distance >= (next &- hole) & (slots.count &- 1) { break }
            }
            slots[hole] = slots[next]
            hole = next
        }
    }
}
