import Dispatch
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// Transactions of several threads in all three forms beside observers, refetches and releases. A
/// watchdog ends the process when there is no progress, since stuck threads cannot be stopped.
struct ObserveRounds {
    private let seed: UInt64
    /// Whether no other tests run in the process; they may block all threads of the task pool.
    private let isAlone = Thread.isMainThread

    init(seed: UInt64) { self.seed = seed }

    /// The executor of a stack's view, and how this thread runs work on it.
    private enum Place {
        case queue(DispatchQueue)
        /// The main queue, which this thread serves between its own work.
        case main

        var context: ViewContext {
            switch self {
            case .queue(let queue): .queue(queue)
            case .main: .main
            }
        }

        func perform<T>(_ body: () throws -> T) rethrows -> T {
            switch self {
            case .queue(let queue): return try queue.sync(execute: body)
            case .main:
                defer { RunLoop.main.run(until: Date()) }
                return try body()
            }
        }

        func wait(for threads: DispatchGroup) {
            while threads.wait(timeout: .now() + .milliseconds(1)) == .timedOut { perform {} }
        }
    }

    /// Returns how many rounds were run.
    func run(_ count: Int) throws -> Int {
        let progress = Watchdog("rounds of threads, seed \(seed)", seconds: isAlone ? 60 : 600)
        defer { progress.end() }
        try mix(count, .queue(DispatchQueue(label: "view")), progress)
        guard isAlone else { return count }
        try mix(count, .main, progress)
        try besideUnservedMain(count / 10, progress)
        return 2 * count + count / 10
    }

    // MARK: A view that is served

    private func mix(_ count: Int, _ place: Place, _ watchdog: Watchdog) throws {
        let stack = try Kennel.stack(place.context)
        let failure = Mutex<String?>(nil)
        let threads = DispatchGroup()
        for thread in 0..<3 {
            DispatchQueue.global().async(group: threads) {
                var random = SeededRandom(seed: seed &+ UInt64(thread))
                do {
                    for _ in 0..<count / 4 {
                        try writeOnce(stack, &random)
                        watchdog.note()
                    }
                } catch {
                    failure.withLock { $0 = "\(error)" }
                }
            }
        }
        var random = SeededRandom(seed: seed &+ 3)
        var lists: [Followed] = []
        for _ in 0..<count / 4 {
            try place.perform { try Self.observeOnce(stack, &random, &lists) }
            // The last reference may be released on another thread too.
            if !lists.isEmpty, random.below(4) == 0 { lists.remove(at: random.below(lists.count)) }
            watchdog.note()
        }
        place.wait(for: threads)
        for _ in 0..<4 { place.perform {} }
        if let failure = failure.withLock({ $0 }) { throw ProofFailure(failure) }
        try place.perform {
            for list in lists {
                let fetched = try stack.fetchAll(list.request.chain)
                guard
                    list.monitor.isPendingRefetch
                        || list.monitor.objectsInAllSections() == fetched
                else { throw ProofFailure("a list is not what a fetch gives at the end") }
            }
        }
        lists = []
    }

    private struct Followed {
        let request: KennelRequest
        let monitor: ListMonitor<Pet>
        let mirror: ListMirror
        let changes: ListChanges<Pet>
    }

    private func writeOnce(
        _ stack: DataStack, _ random: inout SeededRandom
    ) throws {
        let count = random.below(4) + 1
        switch random.below(isAlone ? 4 : 3) {
        case 0, 1:
            try stack.perform(
                synchronous: { try Kennel.act($0, &random, count: count, countMax: 60) },
                waitForAllObservers: random.below(2) == 0)
        case 2:
            let seed = random.next()
            stack.perform(
                asynchronous: { transaction in
                    var random = SeededRandom(seed: seed)
                    try Kennel.act(transaction, &random, count: count, countMax: 60)
                }, completion: { [weak stack] _ in _ = try? stack?.fetchCount(From<Pet>()) })
        default:
            let seed = random.next()
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                _ = try? await stack.async.perform { transaction in
                    var random = SeededRandom(seed: seed)
                    try Kennel.act(transaction, &random, count: count, countMax: 60)
                }
                done.signal()
            }
            done.wait()
        }
    }

    private static func observeOnce(
        _ stack: DataStack, _ random: inout SeededRandom, _ lists: inout [Followed]
    ) throws {
        switch random.below(6) {
        case 0, 1:
            let request = KennelRequest.random(&random)
            let (monitor, mirror) = (request.monitor(stack), ListMirror(request))
            mirror.begin(monitor)
            monitor.addObserver(mirror)
            let changes = monitor.changes
            lists.append(
                Followed(request: request, monitor: monitor, mirror: mirror, changes: changes))
            if lists.count > 6 { lists.removeFirst() }
        case 2:
            if let list = lists.last { list.monitor.refetch(list.request.chain.fetchClauses) }
        case 3:
            try stack.perform(synchronous: { try Kennel.act($0, &random, count: 2, countMax: 60) })
        case 4:
            if let list = lists.first, let first = list.monitor[safeIndex: 0] {
                _ = first.asPublisher(in: stack).snapshot
                list.mirror.onNextChange = { [weak mirror = list.mirror] in
                    mirror?.onNextChange = nil
                    _ = try? stack.perform(synchronous: { _ = $0.create(Into<Mark>()) })
                }
            }
        default:
            for list in lists {
                if let fault = list.mirror.faults.first { throw ProofFailure(fault) }
            }
        }
    }

    // MARK: A main queue that is not served

    private func besideUnservedMain(_ count: Int, _ watchdog: Watchdog) throws {
        let stack = try Kennel.stack(.main)
        var random = SeededRandom(seed: seed &+ 4)
        let request = KennelRequest.random(&random)
        let (monitor, mirror) = (request.monitor(stack), ListMirror(request))
        mirror.begin(monitor)
        monitor.addObserver(mirror)
        let failure = Mutex<String?>(nil)
        let threads = DispatchGroup()
        for thread in 0..<2 {
            DispatchQueue.global().async(group: threads) {
                var random = SeededRandom(seed: seed &+ 5 &+ UInt64(thread))
                do {
                    for _ in 0..<count / 2 {
                        let actions = random.below(4) + 1
                        try stack.perform(
                            synchronous: {
                                try Kennel.act($0, &random, count: actions, countMax: 60)
                            })
                        watchdog.note()
                    }
                } catch {
                    failure.withLock { $0 = "\(error)" }
                }
            }
        }
        // This is the main thread: nothing of the view moves until it is done here.
        threads.wait()
        if let failure = failure.withLock({ $0 }) { throw ProofFailure(failure) }
        try stack.perform(synchronous: { _ = $0.create(Into<Mark>()) })
        if let fault = mirror.faults.first { throw ProofFailure(fault) }
        guard monitor.objectsInAllSections() == (try stack.fetchAll(request.chain)) else {
            throw ProofFailure("a list on the main queue is not what a fetch gives")
        }
    }
}

/// Ends the process when no progress is reported for some seconds.
private final class Watchdog: Sendable {
    private let state = Mutex<(count: Int, isEnded: Bool)>((0, false))

    init(_ name: String, seconds: Int) {
        Thread.detachNewThread { [self] in
            var last = -1
            var still = 0
            while true {
                Thread.sleep(forTimeInterval: 1)
                let (count, isEnded) = state.withLock { $0 }
                if isEnded { return }
                still = count == last ? still + 1 : 0
                last = count
                if still >= seconds {
                    FileHandle.standardError.write(
                        Data("\(name): nothing moves after \(count) rounds\n".utf8))
                    exit(1)
                }
            }
        }
    }

    func note() {
        ProofProgress.note("watched rounds")
        state.withLock { $0.count += 1 }
    }
    func end() { state.withLock { $0.isEnded = true } }
}
