/// Values by numbers other than zero: open addressing with one multiplication, for each step of
/// each descent asks such a table, where a dictionary's hash costs more than the search itself.
struct NumberTable<Value> {
    /// 0 marks a free slot.
    private var numbers: [UInt64] = Array(repeating: 0, count: 16)
    /// What ``place(of:)`` found is read here, so that no more of a value is copied than is asked.
    private(set) var contents: [Value?] = Array(repeating: nil, count: 16)
    private(set) var count = 0

    /// In no particular order.
    var values: [Value] { contents.compactMap(\.self) }

    @inline(__always)
    private func home(_ number: UInt64) -> Int {
        // Numbers of pages and places are small and dense: the product's high bits spread them.
        Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & (numbers.count &- 1)
    }

    /// The slot of a number, or the free one where it would go.
    @inline(__always)
    private func slot(_ number: UInt64) -> Int {
        var slot = home(number)
        while numbers[slot] != number && numbers[slot] != 0 {
            slot = (slot &+ 1) & (numbers.count &- 1)
        }
        return slot
    }

    /// Where the value of a number is until the table changes.
    @inline(__always)
    func place(of number: UInt64) -> Int? {
        let slot = slot(number)
        return numbers[slot] == number ? slot : nil
    }

    subscript(number: UInt64) -> Value? {
        @inline(__always) get { contents[slot(number)] }
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
        if numbers[place] == 0 {
            count += 1
            numbers[place] = number
        }
        contents[place] = value
        if count * 2 > numbers.count { grow() }
    }

    private mutating func grow() {
        let (oldNumbers, oldContents) = (numbers, contents)
        numbers = Array(repeating: 0, count: oldNumbers.count * 2)
        contents = Array(repeating: nil, count: numbers.count)
        for (number, content) in zip(oldNumbers, oldContents) where number != 0 {
            let place = slot(number)
            numbers[place] = number
            contents[place] = content
        }
    }

    private mutating func remove(_ number: UInt64) {
        var hole = slot(number)
        guard numbers[hole] != 0 else { return }
        count -= 1
        // Entries behind the hole move up when their search would have passed it.
        var next = hole
        while true {
            numbers[hole] = 0
            contents[hole] = nil
            while true {
                next = (next &+ 1) & (numbers.count &- 1)
                guard numbers[next] != 0 else { return }
                let distance = (next &- home(numbers[next])) & (numbers.count &- 1)
                if distance >= (next &- hole) & (numbers.count &- 1) { break }
            }
            numbers[hole] = numbers[next]
            contents[hole] = contents[next]
            hole = next
        }
    }
}
