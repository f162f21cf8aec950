import Dispatch
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// Commits of several threads that one write makes durable, all of them staged before the first is
/// announced: each step shows exactly its own commit, in fetches, in an observed list and to
/// completions, and joined steps show the last of their commits.
final class GroupedCommits: Sendable {
    private struct Line: Hashable, Sendable {
        var id: NSManagedObjectID
        var text: String

        init(_ pet: Pet) {
            id = pet.objectID()
            text = "\(pet.rank) \(pet.name ?? "-") \(pet.color ?? "-")"
        }
    }

    /// The results of commits, as their transactions saw them.
    private struct Record {
        /// The list after the commit with each number of marks.
        var lists: [Int: [Line]] = [:]
        /// The number of marks that a transaction of this name left.
        var counts: [String: Int] = [:]
    }

    private let seed: UInt64
    private let queue = DispatchQueue(label: "view")
    private let files = PausingFiles()
    private let stack: DataStack
    private let record = Mutex(Record())
    private let failure = Mutex<String?>(nil)
    private let told = Mutex(0)
    /// Rounds whose commits were all staged before the first write.
    private let groupCount = Mutex(0)
    private static var chain: FetchChainBuilder<Pet> {
        From<Pet>().orderBy(.ascending(\.$rank), .descending(\.$name), .ascending(\.$color))
    }

    init(seed: UInt64) throws {
        self.seed = seed
        stack = DataStack(Kennel.schema, viewContext: .queue(queue))
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: "/kennel"), files: files))
    }

    /// Returns how many steps were announced.
    func run(_ rounds: Int) throws -> Int {
        var random = SeededRandom(seed: seed)
        try stack.perform(synchronous: { Kennel.addMany($0, &random, 20) })
        let monitor = queue.sync { stack.monitorList(Self.chain) }
        let checker = StepChecker { [unowned self] in check($0, $1) }
        queue.sync { monitor.addObserver(checker) }
        for _ in 0..<rounds {
            try round(random.below(4) == 0 ? 20 : 2 + random.below(4), &random)
            ProofProgress.note("rounds of grouped commits")
            if let failure = failure.withLock({ $0 }) {
                throw ProofFailure("grouped commits, seed \(seed): \(failure)")
            }
        }
        withExtendedLifetime(checker) {}
        guard groupCount.withLock({ $0 }) > rounds / 2 else {
            throw ProofFailure("most commits were not there before the first write")
        }
        queue.sync { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return told.withLock { $0 }
    }

    private func round(_ count: Int, _ random: inout SeededRandom) throws {
        record.withLock { $0 = Record() }
        queue.suspend()
        files.pauseNext()
        let (threads, completions) = (DispatchGroup(), DispatchGroup())
        begin("first", random.next(), threads)
        files.waitForPause()
        let asynchronous = random.below(count)
        for index in 0..<count {
            let seed = random.next()
            if index == asynchronous {
                beginAsynchronous("\(index)", seed, completions)
            } else {
                begin("\(index)", seed, threads)
            }
        }
        // All have staged when a last one has held the writer. One that begins a new segment of the
        // log waits for the write, and those behind it with it.
        let last = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            while record.withLock({ $0.counts.count }) < count + 1 { usleep(50) }
            _ = try? stack.perform(synchronous: { try $0.cancel() })
            last.signal()
        }
        // Long enough for a machine that is busy with other tests.
        let isWhole = last.wait(timeout: .now() + 5) == .success
        files.goOn()
        if isWhole { groupCount.withLock { $0 += 1 } } else { last.wait() }
        threads.wait()
        // Steps are delivered only now: past sixteen some were joined.
        queue.resume()
        completions.wait()
        for _ in 0..<4 { queue.sync {} }
        queue.sync { check("the end", nil) }
    }

    // MARK: Commits

    private func begin(_ name: String, _ seed: UInt64, _ group: DispatchGroup) {
        group.enter()
        // Not a pool's threads, because all of them wait for the write.
        Thread.detachNewThread { [self] in
            defer { group.leave() }
            do {
                try stack.perform(
                    synchronous: { try act($0, name, seed) }, sourceIdentifier: name)
            } catch {
                fail("\(error)")
            }
        }
    }

    private func beginAsynchronous(_ name: String, _ seed: UInt64, _ group: DispatchGroup) {
        group.enter()
        stack.perform(
            asynchronous: { [self] in try act($0, name, seed) }, sourceIdentifier: name,
            completion: { [self] result in
                if case .failure(let error) = result { fail("\(error)") }
                check("the completion of \(name)", name)
                group.leave()
            })
    }

    private func act(
        _ transaction: BaseDataTransaction, _ name: String, _ seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        try Kennel.act(transaction, &random, count: 3, countMax: 60)
        if try transaction.fetchCount(From<Pet>()) > 60 { try Kennel.deleteFirst(transaction, 30) }
        // Each commit concerns the list.
        Kennel.addMany(transaction, &random, 1)
        _ = transaction.create(Into<Mark>())
        let count = try transaction.fetchCount(From<Mark>())
        let list = try transaction.fetchAll(Self.chain).map { Line($0) }
        record.withLock { ($0.lists[count], $0.counts[name]) = (list, count) }
    }

    // MARK: Checks

    private func fail(_ text: String) { failure.withLock { $0 = $0 ?? text } }

    /// - Parameter name: of the transaction whose step is told; nil for that of several.
    private func check(_ place: String, _ name: String?, _ listed: [Pet]? = nil) {
        do {
            let count = try stack.fetchCount(From<Mark>())
            let (expected, own) = record.withLock { record in
                (record.lists[count], name.map { record.counts[$0] })
            }
            if let own, own != count {
                return fail("\(place) sees \(count) commits instead of \(own ?? -1)")
            }
            let fetched = try stack.fetchAll(Self.chain)
            guard fetched.map({ Line($0) }) == expected else {
                return fail("\(place) shows no commit that there was")
            }
            guard listed ?? fetched == fetched else {
                return fail("\(place): the list is not what a fetch gives")
            }
        } catch {
            fail("\(place): \(error)")
        }
    }

    private func check(_ monitor: ListMonitor<Pet>, _ sourceIdentifier: Any?) {
        told.withLock { $0 += 1 }
        let name = sourceIdentifier as? String
        check("the step of \(name ?? "several")", name, monitor.objectsInAllSections())
    }
}

private final class StepChecker: ListObserver {
    typealias ListEntityType = Pet
    private let check: (ListMonitor<Pet>, Any?) -> Void

    init(_ check: @escaping (ListMonitor<Pet>, Any?) -> Void) { self.check = check }

    func listMonitorDidChange(_ monitor: ListMonitor<Pet>, sourceIdentifier: Any?) {
        check(monitor, sourceIdentifier)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<Pet>) {}
    func listMonitorDidRefetch(_ monitor: ListMonitor<Pet>) {}
}
