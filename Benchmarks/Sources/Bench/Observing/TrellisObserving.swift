import CProcess
import Foundation
import ObjectGraph

/// The rows that only our lists have goals for.
extension ObservingWork where Store == ObservedTrellis {
    // MARK: At 100,000

    mutating func runSmall(commitCount: Int) throws {
        try run(commitCount: commitCount)
        store.publisherCount = 20
        let shared = try added(commitCount) { store, changes in
            try store.change(names: [changes.rename()])
        }
        add("O4", "O1 with 20 equal publishers", shared * 1e6, "CPU µs")
        store.publisherCount = 1
        try latency(commitCount: 1000)
        try imports()
        try relatedOrder()
    }

    /// O10: from the return of a durable commit on this thread to the callback.
    private mutating func latency(commitCount: Int) throws {
        try store.observe()
        let told = Shared(0.0)
        store.whenTold { told.with { $0 = Self.now() } }
        var delays: [Double] = []
        for _ in 0..<commitCount {
            let (number, name) = (changes.listedNumber(), changes.name())
            let id = store.person(number)
            try store.stack.perform(
                synchronous: { $0.edit(Into<Person>(), id)?.name = name },
                waitForAllObservers: false)
            let end = Self.now()
            var time = 0.0
            while time == 0 {
                usleep(20)
                time = told.with { time in
                    defer { time = 0 }
                    return time
                }
            }
            delays.append(max(time - end, 0))
        }
        store.whenTold {}
        store.endObserving()
        delays.sort()
        add("O10", "commit elsewhere to didChange, p50", delays[delays.count / 2] * 1e6, "wall µs")
        add("O10", "the same, p99", delays[delays.count * 99 / 100] * 1e6, "wall µs")
    }

    /// O5: the longest that the view's queue was busy, and what the import takes more.
    private mutating func imports() throws {
        var (turns, ratios): ([Double], [Double]) = ([], [])
        var next = changes.personCount
        func importOnce() throws -> Double {
            let stopwatch = Stopwatch()
            stopwatch.resume()
            try store.insert(numbers: next..<next + 30_000)
            store.waitForTold()
            stopwatch.pause()
            next += 30_000
            return stopwatch.wall
        }
        for _ in 0..<3 {
            // The store grows: an import takes longer than the one before it.
            let before = try importOnce()
            try store.observe()
            let observed = try importOnce()
            store.endObserving()
            ratios.append(2 * observed / (before + (try importOnce())))
            try store.observe()
            turns.append(try longestTurn { _ = try importOnce() })
            store.endObserving()
        }
        add("O5", "the executor's longest turn", (Stage.median(turns) ?? 0) * 1000, "wall ms")
        add("O5", "the import against an unobserved one", Stage.median(ratios) ?? 0, "×")
    }

    /// How long a probe waits at most that is put on the view's queue every half millisecond.
    private func longestTurn(_ body: () throws -> Void) throws -> Double {
        let (longest, isDone) = (Shared(0.0), Shared(false))
        let ended = DispatchSemaphore(value: 0)
        let queue = store.queue
        Thread.detachNewThread {
            while !isDone.with({ $0 }) {
                let start = Self.now()
                queue.sync {}
                let waited = Self.now() - start
                longest.with { $0 = max($0, waited) }
                usleep(500)
            }
            ended.signal()
        }
        defer {
            isDone.with { $0 = true }
            ended.wait()
        }
        try body()
        return longest.with { $0 }
    }

    /// O9: dogs by their owners' names, an owner of ten renamed.
    private mutating func relatedOrder() throws {
        let owners = (0..<2000).map { store.person($0) }
        try store.stack.perform(synchronous: { transaction in
            for id in owners {
                let owner = transaction.edit(Into<Person>(), id)
                for _ in 0..<10 { transaction.create(Into<Dog>()).owner = owner }
            }
        })
        var differences: [Double] = []
        for _ in 0..<5 {
            func rename(_ count: Int) throws -> Double {
                let stopwatch = Stopwatch()
                stopwatch.resume()
                for _ in 0..<count {
                    let id = owners[changes.listedNumber() % owners.count]
                    let name = changes.name()
                    try store.stack.perform(
                        synchronous: { $0.edit(Into<Person>(), id)?.name = name })
                    store.waitForTold()
                }
                stopwatch.pause()
                return stopwatch.cpu / Double(count)
            }
            let bare = try rename(100)
            var monitor: ListMonitor<Dog>? = store.queue.sync {
                store.stack.monitorList(
                    From<Dog>().orderBy(.ascending("owner.name"), .ascending(\.$nickname)))
            }
            differences.append(try rename(100) - bare)
            store.queue.sync { monitor = nil }
            _ = monitor
        }
        add(
            "O9", "order by owner's name, an owner of 10 renamed",
            (Stage.median(differences) ?? 0) * 1e6, "CPU µs")
    }

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: At 1,000,000

    mutating func runLarge(commitCount: Int) throws {
        let one = try added(commitCount) { store, changes in
            try store.change(names: [changes.rename()])
        }
        add("O3", "O1 at \(changes.personCount)", one * 1e6, "CPU µs")
        try firstContent()
        try window()
    }

    /// O7: all persons by name.
    private mutating func firstContent() throws {
        let chain = From<Person>().orderBy(.ascending(\.$name))
        func seconds(_ body: () throws -> Void) rethrows -> Double {
            let start = Self.now()
            try store.onView(body)
            return Self.now() - start
        }
        var (fetches, lists): ([Double], [Double]) = ([], [])
        for _ in 0..<3 {
            fetches.append(
                try seconds { _ = try store.stack.fetchObjectIDs(chain).count })
            lists.append(
                seconds { _ = store.stack.publishList(chain).snapshot.count })
        }
        add(
            "O7", "first content against `fetchObjectIDs`",
            (Stage.median(lists) ?? 0) / (Stage.median(fetches) ?? 1), "×")
        ProcessCounters.resetPeak()
        let before = Self.residentBytes()
        let publisher = store.onView { store.stack.publishList(chain) }
        ProcessCounters.resetPeak()
        let held = Self.residentBytes()
        add("O7", "memory of the list", Double(held - before) / 1_048_576, "MiB")
        store.onView { withExtendedLifetime(publisher) {} }
    }

    /// O7: what a snapshot of each of 1,000 commits takes, beside the list.
    mutating func runVersions() throws {
        let publisher = store.onView {
            store.stack.publishList(From<Person>().orderBy(.ascending(\.$name)))
        }
        var versions: [ListSnapshot<Person>] = []
        for _ in 0..<1000 {
            try store.change(names: [changes.rename()])
            versions.append(store.onView { publisher.snapshot })
        }
        // Counted as they are freed: the commits take memory too, for the store's pages.
        let (count, held) = (Set(versions.map(\.count)).count, Int(bench_allocated_bytes()))
        versions = []
        let freed = held - Int(bench_allocated_bytes())
        guard count == 1 else { throw Options.Failure(message: "the list is not what it was") }
        add("O7", "1,000 older versions with it", Double(freed) / 1_048_576, "MiB")
        store.onView { withExtendedLifetime(publisher) {} }
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// O8: a window, and changes before it, at both of its edges and inside.
    private mutating func window() throws {
        let order = From<Person>().orderBy(.ascending(\.$name))
        let first = try store.onView {
            try store.stack.fetchObjectIDs(order.tweak { $0.fetchLimit = 200 })
        }
        func change(_ count: Int) throws -> Double {
            let stopwatch = Stopwatch()
            stopwatch.resume()
            for index in 0..<count {
                // "Ada" is the first of all first names.
                let (id, letter) = (first[index % first.count], index % 3)
                let name = letter == 0 ? "Zoe \(index)" : "Ada \(changes.name())"
                try store.stack.perform(
                    synchronous: { $0.edit(Into<Person>(), id)?.name = name })
                store.waitForTold()
            }
            stopwatch.pause()
            return stopwatch.cpu / Double(count)
        }
        var differences: [Double] = []
        for _ in 0..<5 {
            let bare = try change(400)
            var publisher: ListPublisher<Person>? = store.onView {
                store.stack.publishList(
                    order.tweak {
                        $0.fetchOffset = 100
                        $0.fetchLimit = 50
                    })
            }
            differences.append(try change(400) - bare)
            let count = store.onView { publisher?.snapshot.count }
            guard count == 50 else { throw Options.Failure(message: "the window is not full") }
            store.onView { publisher = nil }
            _ = publisher
        }
        add(
            "O8", "offset 100, limit 50: a change at the edges or inside",
            (Stage.median(differences) ?? 0) * 1e6, "CPU µs")
    }
}
