/// Object numbers in order: eight bytes for one, sixteen for a run of any length.
package struct NumberSet: Sendable, Equatable {
    /// Ascending. A word with the mark begins a run, and the next is the run's last number; runs
    /// never touch, so that equal sets have equal words.
    private var words: [UInt64] = []
    package private(set) var count = 0

    private static let runMark: UInt64 = 1 << 63
    /// No larger number can be in a set.
    static let numberMax = runMark - 1

    package init() {}

    /// - Parameter numbers: in any order, with or without repetitions.
    package init(_ numbers: [UInt64]) {
        guard var start = numbers.min() else { return }
        var end = start
        for number in Self.ascending(numbers) where number != end {
            if number != end &+ 1 {
                append(start...end)
                start = number
            }
            end = number
        }
        append(start...end)
    }

    /// A radix sort, from the lowest byte on. Numbers of one commit are close together, so that few
    /// bytes differ between them.
    private static func ascending(_ numbers: [UInt64]) -> [UInt64] {
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 <= $1 }) { return numbers }
        guard numbers.count > radixCountMin else { return numbers.sorted() }
        let differences = numbers.reduce(0) { $0 | ($1 ^ numbers[0]) }
        var (source, target) = (numbers, numbers)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            guard (differences >> shift) & 0xFF != 0 else { continue }
            var places = [Int](repeating: 0, count: 257)
            for number in source { places[Int((number >> shift) & 0xFF) + 1] += 1 }
            for byte in 1...256 { places[byte] += places[byte - 1] }
            for number in source {
                let byte = Int((number >> shift) & 0xFF)
                target[places[byte]] = number
                places[byte] += 1
            }
            swap(&source, &target)
        }
        return source
    }

    /// Fewer numbers are sorted by comparison.
    private static let radixCountMin = 64

    package var isEmpty: Bool { words.isEmpty }
    package var sizeInBytes: Int { words.count * 8 }

    package func contains(_ number: ObjectNumber) -> Bool {
        var (low, high) = (0, words.count)
        while low < high {
            let middle = (low + high) / 2
            if words[middle] & ~Self.runMark <= number.rawValue {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return false }
        let word = words[low - 1]
        return word & Self.runMark != 0 || word == number.rawValue
    }

    /// Adds a number that is larger than all others.
    mutating func append(_ number: UInt64) { append(number...number) }

    mutating func append(_ run: ClosedRange<UInt64>) {
        count += Int(run.upperBound - run.lowerBound) + 1
        guard let last = words.last, last + 1 == run.lowerBound else {
            let isRun = run.lowerBound < run.upperBound
            words.append(isRun ? run.lowerBound | Self.runMark : run.lowerBound)
            if isRun { words.append(run.upperBound) }
            return
        }
        if words.count > 1, words[words.count - 2] & Self.runMark != 0 {
            words[words.count - 1] = run.upperBound
        } else {
            words[words.count - 1] |= Self.runMark
            words.append(run.upperBound)
        }
    }

    // MARK: Two sets

    package func union(_ other: NumberSet) -> NumberSet {
        if other.isEmpty { return self }
        return isEmpty ? other : combined(with: other) { $0 || $1 }
    }

    package func subtracting(_ other: NumberSet) -> NumberSet {
        if isEmpty || other.isEmpty { return self }
        return combined(with: other) { $0 && !$1 }
    }

    package func intersection(_ other: NumberSet) -> NumberSet {
        if isEmpty || other.isEmpty { return NumberSet() }
        return combined(with: other) { $0 && $1 }
    }

    /// Combines two sets: the closure decides by whether a number is in each.
    private func combined(
        with other: NumberSet, _ isWanted: (Bool, Bool) -> Bool
    ) -> NumberSet {
        var result = NumberSet()
        var (lefts, rights) = (Runs(self), Runs(other))
        var (left, right) = (lefts.next(), rights.next())
        var position: UInt64 = 0
        while left != nil || right != nil {
            let isLeft = left.map { $0.lowerBound <= position } ?? false
            let isRight = right.map { $0.lowerBound <= position } ?? false
            // Membership does not change before the next boundary of either.
            let end = Swift.min(
                left.map { isLeft ? $0.upperBound + 1 : $0.lowerBound } ?? .max,
                right.map { isRight ? $0.upperBound + 1 : $0.lowerBound } ?? .max)
            if isLeft || isRight, isWanted(isLeft, isRight) {
                result.append(position...(end - 1))
            }
            position = end
            if let run = left, run.upperBound < position { left = lefts.next() }
            if let run = right, run.upperBound < position { right = rights.next() }
        }
        return result
    }

    /// The runs of a set; a single number is a run too.
    package struct Runs: Sequence, IteratorProtocol {
        private let words: [UInt64]
        private var index = 0

        fileprivate init(_ set: NumberSet) { words = set.words }

        package mutating func next() -> ClosedRange<UInt64>? {
            guard index < words.count else { return nil }
            let first = words[index] & ~NumberSet.runMark
            if words[index] & NumberSet.runMark != 0 { index += 1 }
            defer { index += 1 }
            return first...words[index]
        }
    }

    package var runs: Runs { Runs(self) }
}

extension NumberSet: Sequence {
    package struct Iterator: IteratorProtocol {
        private var runs: Runs
        private var run: ClosedRange<UInt64>?
        private var number: UInt64 = 0

        fileprivate init(_ runs: Runs) { self.runs = runs }

        package mutating func next() -> ObjectNumber? {
            if run.map({ number > $0.upperBound }) ?? true {
                guard let following = runs.next() else { return nil }
                run = following
                number = following.lowerBound
            }
            defer { number += 1 }
            return ObjectNumber(number)
        }
    }

    package func makeIterator() -> Iterator { Iterator(runs) }
}
