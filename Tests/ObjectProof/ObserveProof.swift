import Dispatch
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// Observes random lists over random transactions: after each step a list is what a fetch gives,
/// each difference applied to the list before gives the list after, nothing is told too early, and
/// completions see their own commits. Before that what commits note and how it is joined, commits
/// that one write makes durable, lists of unsafe transactions, and threads and observers that come
/// and go, with a watchdog.
package struct ObserveProof: StoreProof {
    package static let requiredCounts = ["lists compared", "random steps", "orders"]
    package static let stepCount: String? = "random steps"
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
    }

    package mutating func run() {
        var random = SeededRandom(seed: seed)
        do {
            var orders = ViewOrders(seed: random.next())
            defer { report.add(orders.report) }
            try orders.run(
                budget.share(0.4), orderCount: budget.isEndless ? 20 : 5000,
                randomCount: budget.isEndless ? 60 : 5000)
            let (isLong, joined) = (!budget.isEndless, JoinedChanges(seed: random.next()))
            report.count("joined sets", try joined.run(isLong ? 200 : 10))
            let grouped = try GroupedCommits(seed: random.next())
            report.count("grouped steps", try grouped.run(isLong ? 300 : 20))
            var edited = EditedLists(seed: random.next())
            report.count("steps of transactions", try edited.run(isLong ? 3000 : 150))
            let rounds = ObserveRounds(seed: random.next())
            report.count("rounds of threads", try rounds.run(budget.isEndless ? 120 : 10_000))
        } catch {
            return report.fail("seed \(seed): \(error)")
        }
        repeat {
            let scriptSeed = random.next()
            do {
                let script = try ObserveScript(seed: scriptSeed)
                do {
                    for _ in 0..<30 { try script.step() }
                } catch {
                    throw ProofFailure(
                        "seed \(seed), script \(scriptSeed): "
                            + script.trace.suffix(20).joined(separator: "; ") + ": \(error)")
                }
                report.count("scripts")
                report.count("random steps", 30)
                report.count("commits", script.commitCount)
                report.count("lists compared", script.listCount)
                report.count("changes told", script.changeCount)
            } catch {
                return report.fail("\(error)")
            }
        } while goesOn(budget)
    }
}

/// One stack with its lists.
private final class ObserveScript {
    /// A list in all forms of observation.
    private struct Observed {
        let request: KennelRequest
        let monitor: ListMonitor<Pet>
        let mirror: ListMirror
        let publisher: ListPublisher<Pet>
        var snapshot: ListSnapshot<Pet>
        /// The sections of the snapshot.
        var listed: [ListedSection]

        init(_ request: KennelRequest, _ stack: DataStack) {
            self.request = request
            monitor = request.monitor(stack)
            mirror = ListMirror(request)
            publisher = request.publisher(stack)
            mirror.begin(monitor)
            monitor.addObserver(mirror)
            snapshot = publisher.snapshot
            listed = mirror.listed
        }
    }

    private let stack: DataStack
    private let queue = DispatchQueue(label: "view")
    private var random: SeededRandom
    private var observed: [Observed] = []
    /// The number of objects in the lists: few in most scripts, since the cost of a step grows with
    /// it.
    private let size: Int
    private var markCount = 0
    private(set) var trace: [String] = []
    private(set) var commitCount = 0
    private(set) var listCount = 0
    private(set) var changeCount = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        stack = try Kennel.stack(.queue(queue))
        size =
            switch random.below(40) {
            case 0: 300
            case 1..<6: 60
            case 6..<21: 20
            default: 8
            }
        try stack.perform(synchronous: { transaction in
            Kennel.addMany(transaction, &random, size)
        })
        for _ in 0..<3 { try commit(count: 12) }
        queue.sync {
            for _ in 0..<6 { observed.append(Observed(.random(&random), stack)) }
        }
    }

    // MARK: Steps

    func step() throws {
        switch random.below(20) {
        case 0..<7:
            trace.append("commit")
            try queue.sync { try commit(count: random.below(6) + 1) }
        case 7..<13:
            let count = random.below(4) == 0 ? random.below(20) + 1 : random.below(3) + 1
            trace.append("\(count) commits elsewhere")
            try elsewhere { for _ in 0..<count { try commit(count: random.below(6) + 1) } }
        case 13: try commitsWithCompletions()
        case 14: try refetch()
        case 15: try replace()
        case 16:
            trace.append("the first go")
            let count = size / 4 + random.below(max(size / 2, 1))
            try perform { try Kennel.deleteFirst($0, count) }
        case 17:
            trace.append("many come")
            try perform { Kennel.addMany($0, &random, min(90, size)) }
        case 18: try commitInCallback()
        default: try comeAndGo()
        }
        for _ in 0..<3 { queue.sync {} }
        try queue.sync { try check() }
    }

    private func commit(count: Int) throws {
        try perform { try Kennel.act($0, &random, count: count, countMax: size * 2) }
    }

    @discardableResult
    private func perform<T>(_ task: (SynchronousDataTransaction) throws -> T) throws -> T {
        commitCount += 1
        return try stack.perform(synchronous: task)
    }

    /// Runs commits that are all made before any of them is delivered.
    private func elsewhere(_ body: () throws -> Void) rethrows {
        queue.suspend()
        defer { queue.resume() }
        try body()
    }

    /// Each completion sees its own commit and none after it.
    private func commitsWithCompletions() throws {
        trace.append("completions")
        let seen = Mutex<[Int?]>([])
        let group = DispatchGroup()
        let count = 2 + random.below(3)
        elsewhere {
            for _ in 0..<count {
                group.enter()
                stack.perform(
                    asynchronous: { _ = $0.create(Into<Mark>()) },
                    completion: { [stack] _ in
                        let found = try? stack.fetchCount(From<Mark>())
                        seen.withLock { $0.append(found) }
                        group.leave()
                    })
            }
        }
        group.wait()
        let expected = (1...count).map { Optional(markCount + $0) }
        markCount += count
        commitCount += count
        let found = seen.withLock { $0 }
        guard found == expected else {
            throw ProofFailure("completions saw \(found) instead of \(expected)")
        }
    }

    private func refetch() throws {
        trace.append("refetch")
        let index = random.below(observed.count)
        let (monitor, request) = (observed[index].monitor, observed[index].request)
        queue.sync { monitor.refetch(request.chain.fetchClauses) }
        try commit(count: 3)
        var isPending = true
        while isPending { queue.sync { isPending = monitor.isPendingRefetch } }
    }

    private func replace() throws {
        trace.append("replace")
        let index = random.below(observed.count)
        try queue.sync {
            observed[index] = Observed(.random(&random), stack)
            try commit(count: 2)
        }
    }

    /// Objects that are created and deleted before either is delivered, and values that change
    /// back.
    private func comeAndGo() throws {
        trace.append("come and go")
        try elsewhere {
            let ids = try perform { transaction in
                let some = try transaction.fetchOne(From<Pet>().orderBy(.ascending(\.$rank)))
                some?.color = "gone"
                let new = transaction.create(Into<Pet>())
                (new.rank, new.name) = (random.below(12), "n0")
                return [new.objectID()]
            }
            try commit(count: 2)
            try perform { transaction in
                transaction.delete(objectIDs: ids)
                for pet in try transaction.fetchAll(From<Pet>().where(\.$color == "gone")) {
                    pet.color = nil
                }
            }
        }
    }

    private func commitInCallback() throws {
        trace.append("commit in a callback")
        let failure = Mutex<String?>(nil)
        try queue.sync {
            for (index, list) in observed.enumerated() where index % 2 == 0 {
                list.mirror.onNextChange = { [self] in
                    do {
                        try commit(count: 2)
                    } catch {
                        failure.withLock { $0 = "\(error)" }
                    }
                }
            }
            try commit(count: 4)
        }
        for _ in 0..<8 { queue.sync {} }
        queue.sync { for list in observed { list.mirror.onNextChange = nil } }
        if let failure = failure.withLock({ $0 }) { throw ProofFailure(failure) }
    }

    // MARK: Checks

    private func check() throws {
        for index in observed.indices {
            listCount += 1
            try check(&observed[index])
        }
    }

    private func check(_ list: inout Observed) throws {
        let (monitor, mirror) = (list.monitor, list.mirror)
        if let fault = mirror.faults.first { throw ProofFailure("\(list.request.chain): \(fault)") }
        let fetched = try stack.fetchAll(list.request.chain)
        guard monitor.objectsInAllSections() == fetched else {
            throw ProofFailure("a list is not what a fetch gives: \(list.request.chain)")
        }
        if !fetched.isEmpty {
            let index = random.below(fetched.count)
            guard monitor.index(of: fetched[index]) == index else {
                throw ProofFailure("an object has another index")
            }
        }
        let snapshot = list.publisher.snapshot
        guard snapshot.itemIDs == fetched.map({ $0.objectID() }) else {
            throw ProofFailure("a publisher's list is not what a fetch gives")
        }
        let difference = snapshot.changes(since: list.snapshot)
        let (before, after) = (shown(list.listed), shown(mirror.listed))
        var update = BatchUpdate(difference)
        // Values that changed and changed back count as updated between versions.
        let versions = Dictionary(
            uniqueKeysWithValues: after.flatMap(\.entries).map { ($0.item, $0.version) })
        update.updates.removeAll { path in
            guard before.indices.contains(path.section),
                before[path.section].entries.indices.contains(path.item)
            else { return false }
            let entry = before[path.section].entries[path.item]
            return versions[entry.item] == entry.version
        }
        let fault = BatchUpdateChecker.fault(from: before, to: after, update)
        if let fault { throw ProofFailure("between snapshots: \(fault)") }
        changeCount += difference.isEmpty ? 0 : 1
        (list.snapshot, list.listed) = (snapshot, mirror.listed)
    }

    /// A snapshot has no section without an item.
    private func shown(_ sections: [ListedSection]) -> [ListedSection] {
        sections.filter { !$0.entries.isEmpty }
    }
}
