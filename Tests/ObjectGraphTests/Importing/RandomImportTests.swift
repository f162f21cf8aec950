import ObjectGraph
import TestSupport
import Testing

/// Random imports of related objects, compared with a simple reference.
@Suite struct RandomImportTests {
    private struct Cancellation: Error {}

    /// Each transaction has several passes; one of ten is cancelled.
    @Test(arguments: 0..<24)
    func `random imports equal importing one source after the other`(round: Int) throws {
        let random = SeededRandom(for: "related imports \(round)")
        var sources = GuildSources(random)
        let guild = try Guild(changedBytesMax: round % 3 == 0 ? 1 : nil)
        var reference = GuildReference()
        var (committed, failed) = (0, 0)
        for _ in 0..<20 {
            var next = reference
            var isExpected = true
            let isCancelled = sources.random.below(10) == 0
            let passes = (0..<(1 + sources.random.below(2))).map { _ in
                (sources.members(sources.random.below(12)), sources.badges(sources.random.below(8)))
            }
            let batchCount = [1, 3, 10_000][sources.random.below(3)]
            do {
                for (members, badges) in passes { try next.take(members: members, badges: badges) }
            } catch {
                isExpected = false
            }
            let result = Result { () throws(CoreStoreError) in
                try guild.change { transaction in
                    transaction.importBatchCount = batchCount
                    for (members, badges) in passes {
                        try take(members, badges, transaction)
                    }
                    if isCancelled { throw Cancellation() }
                }
            }
            switch result {
            case .success:
                #expect(isExpected && !isCancelled, "seed \(random.seed)")
                reference = next
                committed += 1
            case .failure(let error):
                #expect(!isExpected || isCancelled, "seed \(random.seed): \(error)")
                failed += 1
            }
            let (lines, expected) = (try guild.lines(), reference.lines())
            let difference = lines.difference(from: expected)
            guard difference.isEmpty else {
                Issue.record("seed \(random.seed): \(difference) after \(passes)")
                return
            }
        }
        print("round \(round): \(committed) committed, \(failed) failed")
    }

    private func take(
        _ members: [[String: Any]], _ badges: [[String: Any]],
        _ transaction: BaseDataTransaction
    ) throws {
        try transaction.importRelatedObjects {
            // The import is made by one call or by several.
            let half = members.count / 2
            try transaction.importUniqueObjects(
                Into<Fellow>(), sourceArray: members[..<half])
            for source in members[half...].prefix(2) {
                try transaction.importUniqueObject(Into<Fellow>(), source: source)
            }
            try transaction.importUniqueObjects(
                Into<Fellow>(), sourceArray: members[half...].dropFirst(2))
            try transaction.importUniqueObjects(Into<Badge>(), sourceArray: badges)
        }
    }
}
