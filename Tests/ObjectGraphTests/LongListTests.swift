import ObjectGraph
import Testing

/// What changes of long ordered lists cost.
@Suite struct LongListTests {
    enum Change: CaseIterable {
        case clear, keepHalf, befriend, befriendEach, partEach, deleteRecords
    }

    /// Seconds that the calling thread works on a change of a list of some length.
    private func time(of change: Change, _ count: Int) throws -> Double {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.email, person.name) = ("owner", "owner")
            if change == .befriend || change == .befriendEach {
                for number in 0..<count {
                    transaction.create(Into<Person>()).email = "\(number)"
                }
            } else {
                person.toys = (0..<count).map { _ in transaction.create(Into<Toy>()) }
            }
            return person.objectID()
        })
        var seconds = 0.0
        try stack.perform(synchronous: { transaction in
            let person: Person = try #require(transaction.fetchExisting(id))
            let others = try transaction.fetchAll(From<Person>().where(\.$email != "owner"))
            let start = Self.threadTime()
            switch change {
            case .clear: person.toys = []
            case .keepHalf: person.toys = Array(person.toys[(count / 2)...])
            case .befriend: person.friends = others
            case .befriendEach: for other in others { other.friends = [person] }
            case .partEach:
                for toy in try transaction.fetchAll(From<Toy>()) { toy.owner = nil }
            case .deleteRecords: try transaction.deleteAll(From<Toy>())
            }
            _ = try transaction.fetchCount(From<Toy>())
            seconds = Self.threadTime() - start
        })
        try queue.sync { () throws in
            let person: Person = try #require(stack.fetchExisting(id))
            let left = change == .befriend ? person.friends.count : person.toys.count
            let expected = [Change.clear: 0, .keepHalf: count - count / 2, .befriend: count]
            #expect(left == expected[change, default: 0])
        }
        return seconds
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test(arguments: Change.allCases)
    func `a change of a long list costs each link the same`(change: Change) throws {
        let small = try (0..<3).map { _ in try time(of: change, 1_000) }.min()
        let large = try time(of: change, 8_000)
        let ratio = try large / #require(small)
        // Eight times the links: eight times the work, and not 64 times.
        #expect(ratio < 30, "\(ratio)")
    }
}
