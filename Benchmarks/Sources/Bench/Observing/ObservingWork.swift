import Foundation

/// What following a list adds to commits, for any contender: the same commits with the list and
/// without it, in turns, until the observer that shows it has been told.
struct ObservingWork<Store: ObservedStore> {
    let name: String
    let store: Store
    private(set) var figures: [ObservingFigure] = []
    var changes: ObservedChanges

    init(_ name: String, _ store: Store, personCount: Int) throws {
        (self.name, self.store) = (name, store)
        changes = ObservedChanges(personCount: personCount)
        try store.insert(personCount: personCount)
    }

    mutating func add(_ row: String, _ what: String, _ value: Double, _ unit: String) {
        figures.append(
            ObservingFigure(row: row, contender: name, what: what, value: value, unit: unit))
    }

    /// O1 and O2.
    mutating func run(commitCount: Int) throws {
        let one = try added(commitCount) { store, changes in
            try store.change(names: [changes.rename()])
        }
        add("O1", "one update that moves", one * 1e6, "CPU µs")
        let hundred = try added(max(commitCount / 4, 5)) { store, changes in
            let balances = (0..<90).map { _ in changes.payment() }
            let names = (0..<10).map { _ in changes.rename() }
            try store.change(balances: balances, names: names)
        }
        add("O2", "100 updates, 10 of which move", hundred * 1e6, "CPU µs")
    }

    /// The processor's seconds of all threads that a commit takes more when the list follows it:
    /// the median of five turns.
    mutating func added(
        _ count: Int, _ commit: (Store, inout ObservedChanges) throws -> Void
    ) throws -> Double {
        var differences: [Double] = []
        for _ in 0..<5 {
            let bare = try seconds(count, commit)
            try store.observe()
            let listed = store.listedCount
            guard listed > 0 else { throw Options.Failure(message: "the list is empty") }
            let observed = try seconds(count, commit)
            guard store.listedCount == listed else {
                throw Options.Failure(message: "the list is not what it was")
            }
            store.endObserving()
            differences.append((observed - bare) / Double(count))
        }
        return Stage.median(differences) ?? 0
    }

    private mutating func seconds(
        _ count: Int, _ commit: (Store, inout ObservedChanges) throws -> Void
    ) throws -> Double {
        // The first ones find everything cold.
        for _ in 0..<3 { try commit(store, &changes) }
        try store.waitForTold()
        let stopwatch = Stopwatch()
        stopwatch.resume()
        for _ in 0..<count {
            try commit(store, &changes)
            try store.waitForTold()
        }
        stopwatch.pause()
        return stopwatch.cpu
    }
}
