/// Persons to store, made a thousand at a time while the clocks stand: neither the time nor the
/// memory of making them counts for a contender.
struct PersonSupply: Sequence {
    var count: Int
    var revision = 0
    var stopwatch: Stopwatch
    /// The number of the person at an index.
    var number: (Int) -> Int

    func makeIterator() -> Iterator { Iterator(supply: self) }

    struct Iterator: IteratorProtocol {
        let supply: PersonSupply
        private var made: [PersonSource] = []
        private var position = 0
        private var madeCount = 0

        init(supply: PersonSupply) { self.supply = supply }

        mutating func next() -> PersonSource? {
            if position == made.count {
                guard madeCount < supply.count else { return nil }
                refill()
            }
            defer { position += 1 }
            return made[position]
        }

        private mutating func refill() {
            supply.stopwatch.standing { make() }
        }

        private mutating func make() {
            let end = Swift.min(madeCount + 1000, supply.count)
            made.removeAll(keepingCapacity: true)
            for index in madeCount..<end {
                made.append(
                    PersonSource(number: supply.number(index), revision: supply.revision))
            }
            (position, madeCount) = (0, end)
        }
    }
}

/// Dogs to store, with what names their owners to a contender.
struct DogSupply<Handle>: Sequence {
    var count: Int
    var owners: [Handle]
    var stopwatch: Stopwatch

    func makeIterator() -> Iterator { Iterator(supply: self) }

    struct Iterator: IteratorProtocol {
        let supply: DogSupply
        private var made: [DogSource] = []
        private var position = 0
        private var madeCount = 0

        init(supply: DogSupply) { self.supply = supply }

        mutating func next() -> (dog: DogSource, owner: Handle)? {
            if position == made.count {
                guard madeCount < supply.count else { return nil }
                refill()
            }
            defer { position += 1 }
            return (made[position], supply.owners[made[position].owner])
        }

        private mutating func refill() {
            supply.stopwatch.standing { make() }
        }

        private mutating func make() {
            let end = Swift.min(madeCount + 1000, supply.count)
            made.removeAll(keepingCapacity: true)
            for number in madeCount..<end {
                made.append(DogSource(number: number, personCount: supply.owners.count))
            }
            (position, madeCount) = (0, end)
        }
    }
}
