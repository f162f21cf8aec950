import Foundation
import ObjectGraph
import Proof
import TestSupport

/// One run of a script: two or more strands, the queues of a stack and its executor go on as a
/// weave decides. Each commit creates one mark, so that a count of marks tells which commit the
/// view shows, and everything else that is seen there must be of the same commit.
///
/// One strand runs at a time; nothing here needs a lock.
final class ViewRun: @unchecked Sendable {
    /// A list in two forms of observation.
    private final class Observed {
        let number: Int
        var monitor: ListMonitor<Pet>?
        var publisher: ListPublisher<Pet>?
        let mirror: ListMirror
        let witness: ListWitness
        /// The commit that observers were last told of.
        var told = 0
        var isRefetching = false
        var isObserved = true

        init(_ number: Int, _ stack: DataStack, _ witness: ListWitness) {
            self.number = number
            self.witness = witness
            let (monitor, mirror) = (
                ViewRun.request.monitor(stack), ListMirror(ViewRun.request)
            )
            mirror.begin(monitor)
            monitor.addObserver(mirror)
            monitor.addObserver(witness)
            publisher = ViewRun.request.publisher(stack)
            (self.monitor, self.mirror) = (monitor, mirror)
        }
    }

    fileprivate enum Event { case will, did, willRefetch, didRefetch }

    private static let request = KennelRequest(
        chain: From<Pet>().where(\.$rank >= 2).orderBy(.ascending(\.$rank), .ascending(\.$name)),
        section: SectionBy<Pet>(\.$rank))
    private static let schema = SchemaHistory(allSchema: [Kennel.schema], migrationChain: nil)

    private let script: ViewScript
    private let weave: Weave
    private let executor: ToldExecutor
    private let dweller: ViewDweller
    private let stack: DataStack
    /// The list after each commit.
    private var states: [[String]] = []
    /// The number of the commit of each label.
    private var numbers: [String: Int] = [:]
    private var observed: [Observed] = []
    private var observedCount = 0
    private var latest = 0
    private var isTelling = false
    /// Whether steps may have been joined, because for a while nothing was observed.
    private var mayJoin = false
    private var commitsInCallback: [String] = []
    /// The labels whose ends were seen, and those that must be.
    private var completed: [String] = []
    private var ended: Set<String> = []
    private(set) var changeCount = 0

    init(_ script: ViewScript, _ weave: Weave) throws {
        self.script = script
        self.weave = weave
        executor = ToldExecutor(weave)
        dweller = ViewDweller(executor)
        stack = DataStack(
            schemaHistory: Self.schema, viewContext: .executor(executor), schedule: weave)
        try stack.addStorageAndWait(InMemoryStore())
        let start = try stack.perform(synchronous: { transaction in
            for rank in 0..<6 {
                let pet = transaction.create(Into<Pet>())
                (pet.rank, pet.name) = (rank / 2 + 1, "p\(rank)")
            }
            return try Self.list(transaction)
        })
        states.append(start)
        executor.run { [self] in observe() }
    }

    private static func list(_ source: some FetchableSource) throws -> [String] {
        try source.fetchAll(request.chain).map(row)
    }

    private static func row(_ pet: Pet) -> String { "\(pet.rank) \(pet.name ?? "-")" }

    /// Runs all strands. The weave keeps failures.
    func run() -> Bool {
        let bodies = script.strands.enumerated().map { index, moves in
            (
                name: "\(index)",
                body: { @Sendable [self] () -> Void in
                    for (number, move) in moves.enumerated() {
                        if number > 0 { weave.meetAtStep() }
                        run(move, "\(index).\(number)")
                    }
                }
            )
        }
        return weave.run(bodies)
    }

    // MARK: Moves

    private func run(_ move: ViewMove, _ label: String) {
        switch move {
        case .commit:
            commit(label)
            mustFindLater(label)
        case .quiet: commit(label, waits: false)
        case .completed: commitWithCompletion(label)
        case .awaited:
            ended.insert(label)
            Task(executorPreference: InlineExecutor.shared) { [self] in
                await awaitCommit(label)
                mustFindLater(label)
            }
        case .awaitedThere:
            ended.insert(label)
            Task(executorPreference: InlineExecutor.shared) { [self] in
                await dweller.run { [self] dweller in
                    await awaitCommit(label, dweller)
                    check("after an awaited commit", atLeast: numbers[label])
                }
            }
        case .commitThere:
            executor.run { [self] in
                commit(label)
                check("after a commit there", atLeast: numbers[label])
            }
        case .quietThere: executor.run { [self] in commitQuietlyThere(label) }
        case .commitInCallback: executor.run { [self] in commitsInCallback.append(label) }
        case .refetch:
            executor.run { [self] in
                observed.first?.monitor?.refetch(Self.request.chain.fetchClauses)
            }
        case .look: executor.run { [self] in check("a look") }
        case .observe: executor.run { [self] in observe() }
        case .release: executor.run { [self] in release() }
        case .remove: executor.run { [self] in remove() }
        }
    }

    private func observe() {
        let number = observedCount
        observedCount += 1
        let witness = ListWitness { [weak self] event, identifier in
            self?.note(event, identifier, number)
        }
        let new = Observed(number, stack, witness)
        new.told = check("a new list")
        observed.append(new)
    }

    private func release() {
        guard !observed.isEmpty else { return }
        let first = observed.removeFirst()
        first.isObserved = false
        weak let monitor = first.monitor
        weak let publisher = first.publisher
        (first.monitor, first.publisher) = (nil, nil)
        if observed.isEmpty { mayJoin = true }
        if monitor != nil || publisher != nil { weave.fail("a released monitor lives") }
    }

    private func remove() {
        guard let first = observed.first, first.isObserved else { return }
        first.isObserved = false
        first.monitor?.removeObserver(first.witness)
        first.monitor?.removeObserver(first.mirror)
    }

    /// The changes of a transaction, in its task: the writer is held, so that commits have the
    /// order of the states here.
    private func change(_ transaction: BaseDataTransaction, _ label: String) throws {
        _ = transaction.create(Into<Mark>())
        let new = transaction.create(Into<Pet>())
        (new.rank, new.name) = (2 + label.utf8.reduce(0) { $0 + Int($1) } % 4, label)
        let pets = try transaction.fetchAll(From<Pet>().orderBy(.ascending(\.$name)))
        // An object that moves to another section, and one that is updated in its place or goes.
        let count = states.count
        pets[count % pets.count].rank = 2 + (count * 3) % 5
        let other = pets[(count * 5 + 3) % pets.count]
        if count % 3 == 0 { transaction.delete(other) } else { other.color = label }
        states.append(try Self.list(transaction))
        numbers[label] = count
    }

    private func commit(_ label: String, waits: Bool = true) {
        do {
            try stack.perform(
                synchronous: { try change($0, label) }, waitForAllObservers: waits,
                sourceIdentifier: label)
        } catch {
            weave.fail("\(label): \(error)")
        }
    }

    private func commitQuietlyThere(_ label: String) {
        let before = check("before a quiet commit")
        commit(label, waits: false)
        if check("after a quiet commit") != before, !observed.isEmpty {
            weave.fail("\(label) was told before its call returned")
        }
    }

    private func commitWithCompletion(_ label: String) {
        ended.insert(label)
        stack.perform(
            asynchronous: { [self] in try change($0, label) }, sourceIdentifier: label,
            completion: { [self] _ in
                let number = check("the completion of \(label)")
                if number != numbers[label] {
                    weave.fail(
                        "the completion of \(label) sees commit \(number) instead of "
                            + "\(numbers[label].map(String.init) ?? "none")")
                }
                completed.append(label)
                ended.remove(label)
            })
    }

    private func awaitCommit(_ label: String, _ place: isolated ViewDweller? = nil) async {
        do {
            try await stack.async.perform { [self] in try change($0, label) }
        } catch {
            weave.fail("\(label): \(error)")
        }
        ended.remove(label)
    }

    /// Schedules work on the executor, which must find a commit that has returned.
    private func mustFindLater(_ label: String) {
        let number = numbers[label]
        executor.run { [self] in check("after \(label)", atLeast: number) }
    }

    // MARK: Checks

    /// Everything that is seen on the executor is of one commit. Returns its number.
    @discardableResult
    private func check(_ moment: String, atLeast least: Int? = 0) -> Int {
        do {
            let number = try stack.fetchCount(From<Mark>())
            guard number >= least ?? .max else {
                throw ProofFailure("the view shows commit \(number), and \(least ?? -1) is due")
            }
            guard number >= latest else { throw ProofFailure("the view went back") }
            latest = number
            let expected = states[number]
            // While nothing is observed, the view moves at each use.
            let fetched = try Self.list(stack)
            let possible = observed.isEmpty ? states[number...] : states[number...number]
            guard possible.contains(fetched) else {
                let other = states.lastIndex(of: fetched).map(String.init) ?? "none"
                throw ProofFailure("a fetch is of commit \(other) instead of \(number)")
            }
            for list in observed {
                let shown = list.monitor?.objectsInAllSections().map(Self.row)
                guard shown ?? expected == expected else {
                    throw ProofFailure("list \(list.number) is not of commit \(number)")
                }
                let published = list.publisher?.snapshot.compactMap { $0.object.map(Self.row) }
                guard published ?? expected == expected else {
                    throw ProofFailure("publisher \(list.number) is not of commit \(number)")
                }
            }
            return number
        } catch {
            weave.fail("\(moment): \(error)")
            return latest
        }
    }

    private func note(_ event: Event, _ identifier: Any?, _ number: Int) {
        guard let list = observed.first(where: { $0.number == number }), list.isObserved else {
            return weave.fail("an observer was told after it had gone")
        }
        if executor.isIsolatingCurrentContext() != true {
            weave.fail("an observer was told elsewhere")
        }
        let shown = check("\(event) of list \(number)")
        switch event {
        case .will:
            if isTelling { weave.fail("deliveries are nested") }
            if shown != list.told, !list.isRefetching, !mayJoin {
                weave.fail("will of \(list.told + 1) sees \(shown)")
            }
        case .did:
            changeCount += 1
            let isNext = shown == list.told + 1
            if !isNext, !mayJoin && !list.isRefetching || shown <= list.told {
                weave.fail("commit \(shown) is told after \(list.told)")
            }
            let label = numbers.first { $0.value == shown }?.key
            if let identifier, identifier as? String != label {
                weave.fail("\(identifier) is told of \(label ?? "nothing")")
            }
            list.told = shown
            commitInCallback(shown)
        case .willRefetch: list.isRefetching = true
        case .didRefetch: (list.isRefetching, list.told) = (false, shown)
        }
        if let fault = list.mirror.faults.first { weave.fail(fault) }
    }

    private func commitInCallback(_ shown: Int) {
        guard !commitsInCallback.isEmpty else { return }
        isTelling = true
        commit(commitsInCallback.removeFirst())
        isTelling = false
        if check("in a callback") != shown { weave.fail("a commit in a callback moves the view") }
    }

    /// All is told, and nothing waits.
    func checkEnd() {
        executor.run { [self] in
            let number = check("the end")
            if number != states.count - 1 {
                weave.fail("the view shows commit \(number) of \(states.count - 1) at the end")
            }
            for list in observed where list.isObserved && list.told != number {
                weave.fail("list \(list.number) was told of \(list.told) of \(number) commits")
            }
            if !ended.isEmpty { weave.fail("\(ended.sorted()) have not ended") }
            let order = completed.compactMap { numbers[$0] }
            if order != order.sorted() {
                weave.fail("completions ran in another order: \(completed)")
            }
            observed = []
        }
    }
}

/// Passes a list's events on.
private final class ListWitness: ListObserver {
    private let note: (ViewRun.Event, Any?) -> Void

    init(_ note: @escaping (ViewRun.Event, Any?) -> Void) { self.note = note }

    func listMonitorWillChange(_ monitor: ListMonitor<Pet>, sourceIdentifier: Any?) {
        note(.will, sourceIdentifier)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<Pet>, sourceIdentifier: Any?) {
        note(.did, sourceIdentifier)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<Pet>) {}
    func listMonitorWillRefetch(_ monitor: ListMonitor<Pet>) { note(.willRefetch, nil) }
    func listMonitorDidRefetch(_ monitor: ListMonitor<Pet>) { note(.didRefetch, nil) }
}
