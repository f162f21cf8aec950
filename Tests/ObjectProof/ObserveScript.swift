import Dispatch
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// One stack with its lists.
final class ObserveScript {
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
    private let kinds: InheritingLists
    /// The number of objects in the lists: few in most scripts, since the cost of a step grows with
    /// it.
    private let size: Int
    private var markCount = 0
    private(set) var trace: [String] = []
    private(set) var commitCount = 0
    private(set) var listCount = 0
    private(set) var changeCount = 0

    init(_ plan: ObservePlan) throws {
        var random = SeededRandom(seed: plan.seed)
        let stack = try Kennel.stack(.queue(queue))
        self.stack = stack
        let size =
            switch random.below(40) {
            case 0: 300
            case 1..<6: 60
            case 6..<21: 20
            default: 8
            }
        self.size = min(size, plan.sizeMax)
        kinds = queue.sync { InheritingLists(stack, &random) }
        try stack.perform(synchronous: { transaction in
            Kennel.addMany(transaction, &random, min(size, plan.sizeMax))
        })
        self.random = random
        for _ in 0..<3 { try commit(count: 12) }
        queue.sync {
            for number in plan.lists {
                var random = plan.random(1000 + number)
                observed.append(Observed(.random(&random, allowsComputed: true), stack))
            }
        }
    }

    /// The requests of the lists.
    var requests: String { observed.map { "\($0.request.chain)" }.joined(separator: "; ") }

    // MARK: Steps

    func step(_ numbers: SeededRandom) throws {
        random = numbers
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
            observed[index] = Observed(.random(&random, allowsComputed: true), stack)
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
        if let fault = try kinds.fault(stack) { throw ProofFailure(fault) }
    }

    private func check(_ list: inout Observed) throws {
        let (monitor, mirror) = (list.monitor, list.mirror)
        if let fault = mirror.faults.first { throw ProofFailure("\(fault): \(list.request.chain)") }
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
