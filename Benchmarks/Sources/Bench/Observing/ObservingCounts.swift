import Foundation
import ObjectGraph

/// Instructions, which do not depend on the machine: run under callgrind, which counts those of the
/// main thread. The names are in the order of the counts.
struct ObservingCounts {
    static let names = [
        "O4 one", "O4 twenty", "O6 W2b bare", "O6 W2b observed", "O6 W9 bare", "O6 W9 observed",
    ]
    static let persons = 2000
    private static let commitCount = 20

    let directory: String

    // MARK: The counted process

    /// With the view on the main thread, that does all the work of the list; with the view on a
    /// queue, it is the writer.
    func runChild() throws {
        for count in [1, 20] {
            try withStore(isOnMain: true) { store, changes in
                store.publisherCount = count
                try store.observe()
                try commits(store, &changes)
            }
        }
        for isObserved in [false, true] {
            try withStore(isOnMain: false) { store, changes in
                if isObserved { try store.observe() }
                try commits(store, &changes)
            }
        }
        for isObserved in [false, true] {
            try withStore(isOnMain: false) { store, changes in
                if isObserved { try store.observe() }
                let names = (0..<Self.persons).map { _ in changes.rename() }
                try Callgrind.counted { try store.write(names: names) }
                store.waitForTold()
            }
        }
    }

    /// One person a commit.
    private func commits(_ store: ObservedTrellis, _ changes: inout ObservedChanges) throws {
        let names = (0..<Self.commitCount + 3).map { _ in changes.rename() }
        for change in names.prefix(3) { try store.write(names: [change]) }
        store.waitForTold()
        try Callgrind.counted {
            for change in names.dropFirst(3) { try store.write(names: [change]) }
        }
        store.waitForTold()
    }

    private func withStore(
        isOnMain: Bool, _ body: (ObservedTrellis, inout ObservedChanges) throws -> Void
    ) throws {
        let path = directory + "/counted-\(UUID()).store"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try ObservedTrellis(
            path: path, cacheSizeInBytes: 64 << 20, isOnMain: isOnMain)
        try store.insert(personCount: Self.persons)
        var changes = ObservedChanges(personCount: Self.persons)
        try body(store, &changes)
        try store.close()
    }

    // MARK: Counting

    func figures() throws -> [ObservingFigure] {
        let counts = try Thresholds(file: "", directory: directory).instructions(
            ofMainThread: [
                "--child", "trellis-counted", "--observing", "\(Self.persons)", "--directory",
                directory,
            ], count: Self.names.count)
        func figure(_ row: String, _ what: String, _ value: Double) -> ObservingFigure {
            ObservingFigure(
                row: row, contender: "trellis", what: what, value: value, unit: "× instructions")
        }
        func ratio(_ index: Int) -> Double { Double(counts[index + 1]) / Double(counts[index]) }
        return [
            figure("O4", "commits told to 20 equal publishers, against one", ratio(0)),
            figure("O6", "the writer of W2b while observed", ratio(2)),
            figure("O6", "the writer of W9 while observed", ratio(4)),
        ]
    }
}

extension ObservedTrellis {
    /// The writer alone: the view is told later, when it does not live on this thread.
    fileprivate func write(names: [(number: Int, name: String)]) throws {
        try stack.perform(
            synchronous: { transaction in
                for change in names {
                    transaction.edit(Into<Person>(), person(change.number))?.name = change.name
                }
            }, waitForAllObservers: isOnMain)
    }
}
