import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// The changes of a list as values: differences, stages, sequences.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ListChangeTests {
    private static func add(_ stack: DataStack, _ names: [String], age: Int) throws {
        try stack.perform(synchronous: { transaction in
            for name in names {
                let dog = transaction.create(Into<Dog>())
                (dog.nickname, dog.age) = (name, age)
            }
        })
    }

    private static func change(
        _ stack: DataStack, _ name: String, from identifier: String? = nil,
        _ change: (Dog) -> Void
    ) throws {
        try stack.perform(
            synchronous: { transaction in
                let dog = try transaction.fetchOne(From<Dog>().where(\.$nickname == name))
                change(try #require(dog))
            }, sourceIdentifier: identifier)
    }

    private static var chain: SectionMonitorChainBuilder<Dog> {
        From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age), .ascending(\.$nickname))
    }

    private func path(_ section: Int, _ item: Int) -> IndexPath {
        IndexPath(indexes: [section, item])
    }

    // MARK: Differences

    @Test func `two versions of a list give the changes between them`() throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a", "b"], age: 1)
        try Self.add(stack, ["c", "d"], age: 2)
        try queue.sync {
            let publisher = stack.publishList(Self.chain)
            let first = publisher.snapshot
            #expect(first.changes(since: first).isEmpty)
            try Self.change(stack, "a") { $0.age = 3 }
            try Self.change(stack, "c") { $0.color = "red" }
            try Self.add(stack, ["e"], age: 2)
            let last = publisher.snapshot
            let difference = last.changes(since: first)
            #expect(difference.insertedSections == [2] && difference.deletedSections == [])
            #expect(difference.moves == [.init(from: path(0, 0), to: path(2, 0))])
            #expect(difference.updates == [path(1, 0)])
            #expect(difference.insertions == [path(1, 2)] && difference.deletions == [])
            #expect(difference.count == 4)
            let back = first.changes(since: last)
            #expect(back.deletions == [path(1, 2)] && back.deletedSections == [2])
        }
    }

    @Test func `an edited version is compared item by item`() throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a", "b", "c"], age: 1)
        try Self.add(stack, ["d"], age: 2)
        queue.sync {
            let first = stack.publishList(Self.chain).snapshot
            var edited = first
            let ids = first.itemIDs
            edited.moveItem(withID: ids[0], afterItemID: ids[2])
            edited.deleteItems(withIDs: [ids[3]])
            edited.reloadItems(withIDs: [ids[1]])
            edited.appendSections(withIDs: ["new"])
            let difference = edited.changes(since: first)
            #expect(difference.moves == [.init(from: path(0, 0), to: path(0, 2))])
            #expect(difference.deletions == [path(1, 0)])
            #expect(difference.updates == [path(0, 1)])
            #expect(difference.insertedSections == [2] && difference.deletedSections == [])
            // An item appears twice: the second one counts as another item.
            var doubled = first
            doubled.appendItems(withIDs: [ids[0]])
            #expect(doubled.changes(since: first).insertions == [path(1, 1)])
            #expect(first.changes(since: doubled).deletions == [path(1, 1)])
        }
    }

    @Test func `a list without sections begins and ends as one section`() throws {
        let (stack, queue) = try Zoo.stack()
        try queue.sync {
            let publisher = stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            let empty = publisher.snapshot
            try Self.add(stack, ["a"], age: 1)
            let difference = publisher.snapshot.changes(since: empty)
            #expect(difference.insertedSections == [0] && difference.insertions == [path(0, 0)])
            #expect(empty.changes(since: publisher.snapshot).deletedSections == [0])
        }
    }

    // MARK: Stages

    @Test func `stages do not list items of inserted or deleted sections`() throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a", "b"], age: 1)
        try Self.add(stack, ["c", "d"], age: 2)
        try queue.sync {
            let publisher = stack.publishList(Self.chain)
            let first = publisher.snapshot
            try stack.perform(synchronous: { transaction in
                let dogs = try transaction.fetchAll(
                    From<Dog>().orderBy(.ascending(\.$nickname)))
                (dogs[0].age, dogs[1].age) = (2, 3)
                dogs[3].color = "red"
            })
            let stages = StagedChanges(from: first, to: publisher.snapshot)
            try #require(stages.count == 2)
            #expect(stages[0].snapshot == first)
            // The moved items have changed too.
            #expect(stages[0].reloadedItems == [path(0, 0), path(0, 1), path(1, 1)])
            #expect(stages[1].snapshot == publisher.snapshot)
            #expect(stages[1].deletedSections == [0] && stages[1].insertedSections == [1])
            #expect(stages[1].insertedItems == [path(0, 0)])
            #expect(stages[1].deletedItems.isEmpty && stages[1].movedItems.isEmpty)
            #expect(StagedChanges(from: first, to: first).isEmpty)
        }
    }

    // MARK: Sequences

    @Test func `changes are delivered as values with their source identifier`() async throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a", "b"], age: 1)
        let changes = queue.sync { stack.monitorSectionedList(Self.chain).changes }
        var iterator = changes.makeAsyncIterator()
        try Self.change(stack, "a", from: "x") { $0.color = "red" }
        let first = try #require(await iterator.next())
        #expect(first.sourceIdentifier as? String == "x")
        #expect(first.difference.updates == [path(0, 0)])
        #expect(first.before != first.after && first.before.numberOfItems == 2)
        // Several changes that were not read are joined into one.
        try Self.change(stack, "a", from: "y") { $0.age = 2 }
        queue.sync {}
        try Self.change(stack, "b", from: "z") { $0.age = 2 }
        queue.sync {}
        let second = try #require(await iterator.next())
        #expect(second.before == first.after)
        #expect(second.sourceIdentifier == nil)
        #expect(second.difference.deletedSections == [0])
        #expect(second.after.sectionIDs == ["2"])
    }

    @Test func `a change that is undone before it is read is not delivered`() async throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a"], age: 1)
        let changes = queue.sync {
            stack.monitorList(From<Dog>().orderBy(.ascending(\.$nickname))).changes
        }
        try Self.add(stack, ["b"], age: 1)
        queue.sync {}
        try stack.perform(synchronous: { transaction in
            _ = try transaction.deleteAll(From<Dog>().where(\.$nickname == "b"))
        })
        queue.sync {}
        try Self.add(stack, ["c"], age: 1)
        var iterator = changes.makeAsyncIterator()
        var inserted = 0
        while inserted == 0 {
            let change = try #require(await iterator.next())
            #expect(change.difference.deletions.isEmpty)
            inserted = change.difference.insertions.count
        }
        #expect(inserted == 1)
    }

    @Test func `an update before a refetch was lost to a slow reader`() async throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a", "b"], age: 1)
        let monitor = queue.sync { stack.monitorSectionedList(Self.chain) }
        let changes = queue.sync { monitor.changes }
        func refetch() async {
            let done = RefetchWaiter()
            await withCheckedContinuation { continuation in
                done.continuation = continuation
                queue.sync {
                    monitor.addObserver(done)
                    monitor.refetch(
                        OrderBy<Dog>(.ascending(\.$age), .ascending(\.$nickname)))
                }
            }
            queue.sync { monitor.removeObserver(done) }
        }
        try Self.change(stack, "a") { $0.color = "red" }
        queue.sync {}
        await refetch()
        try Self.change(stack, "b") { $0.color = "red" }
        queue.sync {}
        await refetch()
        var iterator = changes.makeAsyncIterator()
        let change = try #require(await iterator.next())
        #expect(change.difference.updates == [path(0, 0), path(0, 1)])
        #expect(change.difference.count == 2)
        try Self.change(stack, "a") { $0.color = "blue" }
        #expect(try #require(await iterator.next()).difference.updates == [path(0, 0)])
        queue.sync {
            #expect(monitor.snapshot == monitor.snapshot)
            #expect(monitor.snapshot == change.after || monitor.snapshot != change.before)
        }
    }

    /// Is told of the end of a refetch.
    private final class RefetchWaiter: ListObserver {
        typealias ListEntityType = Dog
        var continuation: CheckedContinuation<Void, Never>?

        func listMonitorWillChange(_ monitor: ListMonitor<Dog>) {}
        func listMonitorDidChange(_ monitor: ListMonitor<Dog>) {}
        func listMonitorWillRefetch(_ monitor: ListMonitor<Dog>) {}
        func listMonitorDidRefetch(_ monitor: ListMonitor<Dog>) {
            continuation?.resume()
            continuation = nil
        }
    }

    @Test func `a cancelled reader ended the sequence of all`() async throws {
        let (stack, queue) = try Zoo.stack()
        try Self.add(stack, ["a"], age: 1)
        let changes = queue.sync { stack.monitorSectionedList(Self.chain).changes }
        let cancelled = Task {
            var iterator = changes.makeAsyncIterator()
            return await iterator.next() == nil
        }
        cancelled.cancel()
        #expect(await cancelled.value)
        try Self.change(stack, "a") { $0.color = "red" }
        var iterator = changes.makeAsyncIterator()
        #expect(try #require(await iterator.next()).difference.updates == [path(0, 0)])
    }

    @Test func `a sequence ends with its reader and keeps no monitor`() async throws {
        let (stack, queue) = try Zoo.stack()
        do {
            let changes = queue.sync {
                stack.monitorList(From<Dog>().orderBy(.ascending(\.$age))).changes
            }
            #expect(!stack.observers.isEmpty)
            withExtendedLifetime(changes) {}
        }
        #expect(stack.observers.isEmpty)
    }
}
