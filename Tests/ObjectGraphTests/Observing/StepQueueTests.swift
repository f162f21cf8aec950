import Primitives
import RecordStore
import Testing

@testable import ObjectGraph

/// The steps that a subscriber has not taken yet: their order, what joining keeps, and their
/// largest number.
@Suite struct StepQueueTests {
    /// A store that makes a commit for each step of a test.
    private struct Commits {
        let stack: DataStack
        let store: AttachedStore

        init() throws {
            stack = try Zoo.stack().0
            store = try #require(stack.stores.first)
        }

        /// The snapshot of a new commit.
        func next() throws -> RecordSnapshot {
            try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "new" })
            return try store.database.snapshot()
        }

        func step(
            _ content: CommitStep.Content = .changes(ChangeSet()),
            _ identifier: String? = nil, completion: (@Sendable () -> Void)? = nil
        ) throws -> CommitStep {
            CommitStep(
                [CommitStep.Part(store: store, snapshot: try next(), content: content)],
                origin: .transaction, sourceIdentifier: SourceIdentifier(identifier),
                completion: completion)
        }

        func relocation(of step: CommitStep) -> CommitStep {
            CommitStep(
                [
                    CommitStep.Part(
                        store: store, snapshot: step.parts[0].snapshot, content: .relocation)
                ], origin: .maintenance)
        }
    }

    private static let hierarchy = HierarchyID(rootTag: 1)

    private func changes(
        inserted: [UInt64] = [], updated: [UInt64] = [], deleted: [UInt64] = []
    ) -> CommitStep.Content {
        var set = ChangeSet()
        let records = ChangeSet.Records(
            inserted: NumberSet(inserted), updated: NumberSet(updated),
            deleted: NumberSet(deleted))
        set.set(records, in: Self.hierarchy)
        return .changes(set)
    }

    private func sets(_ step: CommitStep?) -> ChangeSet.Records? {
        guard case .changes(let changes)? = step?.parts.first?.content else { return nil }
        return changes.records(in: Self.hierarchy)
    }

    private func number(_ step: CommitStep?) -> UInt64? {
        step?.parts.first?.snapshot.commitNumber
    }

    @Test func `without separate steps a queue joins all commits into one step`() throws {
        let (queue, commits) = (StepQueue(), try Commits())
        #expect(queue.isEmpty)
        #expect(queue.takeAll(takesCompletions: true) == nil)
        queue.receive(try commits.step(changes(updated: [1, 2]), "a"))
        queue.receive(try commits.step(changes(updated: [3], deleted: [2]), "a"))
        let last = try commits.step(changes(deleted: [1]), "a")
        queue.receive(last)
        #expect(queue.count == 1)
        let step = queue.takeAll(takesCompletions: true)
        #expect(sets(step)?.updated == NumberSet([3]))
        #expect(sets(step)?.deleted == NumberSet([1, 2]))
        #expect(number(step) == number(last))
        #expect(step?.sourceIdentifier == SourceIdentifier("a"))
        #expect(queue.isEmpty)
    }

    @Test func `joined steps of different sources have no source`() throws {
        let (queue, commits) = (StepQueue(), try Commits())
        queue.receive(try commits.step(changes(), "a"))
        queue.receive(try commits.step(changes(), "b"))
        #expect(queue.takeAll(takesCompletions: true)?.sourceIdentifier == nil)
    }

    @Test func `separate steps are delivered one by one in order`() throws {
        let (queue, commits) = (StepQueue(), try Commits())
        queue.keepsApart = true
        let steps = try (0..<UInt64(16)).map { try commits.step(changes(updated: [$0])) }
        for step in steps { queue.receive(step) }
        for step in steps {
            #expect(!queue.isEmpty)
            let next = queue.takeFirst()
            #expect(number(next) == number(step))
            #expect(sets(next)?.updated == sets(step)?.updated)
        }
        #expect(queue.isEmpty)
        #expect(queue.takeFirst() == nil)
    }

    @Test func `beyond the limit the oldest steps join and the newest stay separate`() throws {
        let (queue, commits) = (StepQueue(), try Commits())
        queue.keepsApart = true
        let steps = try (0..<UInt64(40)).map { try commits.step(changes(updated: [$0])) }
        for step in steps { queue.receive(step) }
        #expect(queue.count == StepQueue.separateMax)
        let first = queue.takeFirst()
        #expect(number(first) == number(steps[24]))
        #expect(sets(first)?.updated == NumberSet(Array(0...24)))
        #expect(number(queue.takeFirst()) == number(steps[25]))
    }

    @Test func `a step with a completion is not joined with later ones up to the limit`() throws {
        let (queue, commits) = (StepQueue(), try Commits())
        queue.keepsApart = true
        let ran = Mutex<[Int]>([])
        // Every second one has a completion.
        var steps: [CommitStep] = []
        for index in 0..<80 {
            let completion: @Sendable () -> Void = { ran.withLock { $0.append(index) } }
            steps.append(
                try commits.step(
                    changes(updated: [UInt64(index)]), completion: index % 2 == 1 ? completion : nil
                ))
        }
        for step in steps { queue.receive(step) }
        #expect(queue.count == 40)
        var covered = NumberSet()
        while let step = queue.takeFirst() {
            covered = covered.union(try #require(sets(step)).updated)
            #expect(step.completions.count <= 1)
            for completion in step.completions { completion() }
            guard let last = ran.withLock({ $0.last }), !step.completions.isEmpty else { continue }
            #expect(number(step) == number(steps[last]))
            #expect(covered == NumberSet(Array(0...UInt64(last))))
        }
        #expect(ran.withLock { $0 } == (0..<80).filter { $0 % 2 == 1 })
        // All steps have completions: past 64 they are joined into one, and none is lost.
        ran.withLock { $0 = [] }
        for index in 0..<65 {
            queue.receive(
                try commits.step(changes()) { ran.withLock { $0.append(index) } })
        }
        #expect(queue.count == 1)
        for completion in queue.takeAll(takesCompletions: true)?.completions ?? [] { completion() }
        #expect(ran.withLock { $0 } == Array(0..<65))
    }

    @Test func `an unknown change stays unknown when it is joined`() throws {
        let commits = try Commits()
        let known = try commits.step(changes(updated: [1]))
        let unknown = try commits.step(.unknown)
        for step in [known.joined(with: unknown), unknown.joined(with: known)] {
            guard case .unknown = step.parts[0].content else {
                Issue.record("an unknown change became a known one")
                continue
            }
            #expect(number(step) == number(unknown))
        }
    }

    @Test func `joined steps contain the net change`() throws {
        let commits = try Commits()
        let first = try commits.step(changes(inserted: [1, 2], updated: [5, 6]))
        let second = try commits.step(changes(updated: [2], deleted: [1, 5]))
        let joined = sets(first.joined(with: second))
        #expect(joined?.inserted == NumberSet([2]))
        #expect(joined?.updated == NumberSet([6]))
        #expect(joined?.deleted == NumberSet([5]))
    }

    /// A checkpoint takes the newest snapshot, which may show a commit whose step is still to come.
    @Test func `a relocation past the last step makes the changes unknown`() throws {
        let commits = try Commits()
        let first = try commits.step(changes(updated: [1]))
        let second = try commits.step(changes(updated: [2]))
        let ahead = first.joined(with: commits.relocation(of: second))
        #expect(sets(ahead) == nil)
        #expect(number(ahead) == number(second))
        let beside = second.joined(with: commits.relocation(of: second))
        #expect(sets(beside)?.updated == NumberSet([2]))
        // The step that arrives later covers what the relocation showed.
        #expect(
            sets(commits.relocation(of: second).joined(with: second))?.updated == NumberSet([2]))
        let late = commits.relocation(of: second).joined(with: first)
        #expect(sets(late) == nil)
        #expect(number(late) == number(second))
    }
}
