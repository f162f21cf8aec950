import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// A table that shows the content of its adapter and checks batch updates as strictly as list views
/// do.
private final class Table: DiffableDataSourceTarget {
    private struct Batch {
        var deletedSections = IndexSet()
        var insertedSections = IndexSet()
        var deleted: [IndexPath] = []
        var inserted: [IndexPath] = []
        var moves: [(from: IndexPath, to: IndexPath)] = []
    }

    weak var adapter: DiffableDataSource.BaseAdapter<Dog, Table>?
    var shouldSuspendBatchUpdates = false
    /// Whether completions wait until they are called.
    var isSlow = false
    private(set) var waiting: [() -> Void] = []
    private(set) var rows: [[NSManagedObjectID?]] = []
    private(set) var faults: [String] = []
    private(set) var reloadCount = 0
    private(set) var batchCount = 0
    private(set) var reloadedItems: [IndexPath] = []
    private(set) var reloadedSections: [Int] = []
    private var batch = Batch()

    private var expected: [[NSManagedObjectID?]] {
        guard let adapter else { return [] }
        return (0..<adapter.numberOfSections()).map { section in
            (0..<(adapter.numberOfItems(inSection: section) ?? 0)).map {
                adapter.itemID(for: IndexPath(indexes: [section, $0]))
            }
        }
    }

    func deleteSections(at indices: IndexSet, animated: Bool) { batch.deletedSections = indices }
    func insertSections(at indices: IndexSet, animated: Bool) { batch.insertedSections = indices }
    func reloadSections(at indices: IndexSet, animated: Bool) { reloadedSections += indices }
    func moveSection(at index: Int, to newIndex: Int, animated: Bool) {
        faults.append("section move")
    }
    func deleteItems(at indexPaths: [IndexPath], animated: Bool) { batch.deleted = indexPaths }
    func insertItems(at indexPaths: [IndexPath], animated: Bool) { batch.inserted = indexPaths }
    func reloadItems(at indexPaths: [IndexPath], animated: Bool) { reloadedItems += indexPaths }
    func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool) {
        batch.moves.append((indexPath, newIndexPath))
    }

    func reloadData() {
        reloadCount += 1
        rows = expected
    }

    func performBatchUpdates(
        updates: () -> Void, animated: Bool, completion: @escaping () -> Void
    ) {
        batch = Batch()
        batchCount += 1
        updates()
        apply()
        if rows != expected { faults.append("\(rows) instead of \(expected)") }
        if isSlow { waiting.append(completion) } else { completion() }
    }

    func complete() {
        let next = waiting
        waiting = []
        for completion in next { completion() }
    }

    private func apply() {
        let leaving = batch.deleted + batch.moves.map(\.from)
        let arriving = batch.inserted + batch.moves.map(\.to)
        if leaving.contains(where: { batch.deletedSections.contains($0[0]) })
            || arriving.contains(where: { batch.insertedSections.contains($0[0]) })
        {
            faults.append("an item of a section that comes or goes")
        }
        var items: [IndexPath: NSManagedObjectID?] = [:]
        for move in batch.moves { items[move.to] = rows[move.from[0]][move.from[1]] }
        for path in batch.inserted { items[path] = adapter?.itemID(for: path) }
        for path in leaving.sorted().reversed() { rows[path[0]].remove(at: path[1]) }
        for section in batch.deletedSections.reversed() { rows.remove(at: section) }
        for section in batch.insertedSections {
            rows.insert(expected[section], at: section)
        }
        for path in arriving.sorted() {
            guard rows.indices.contains(path[0]), path[1] <= rows[path[0]].count else {
                faults.append("no place for \(path)")
                return
            }
            rows[path[0]].insert(items[path] ?? nil, at: path[1])
        }
    }
}

/// Versions of lists shown by batch updates.
@Suite(.timeLimit(.minutes(hangMinutes))) struct DiffableTests {
    private typealias Adapter = DiffableDataSource.BaseAdapter<Dog, Table>

    private func add(_ stack: DataStack, _ count: Int) throws {
        try stack.perform(synchronous: { transaction in
            for index in 0..<count {
                let dog = transaction.create(Into<Dog>())
                (dog.nickname, dog.age) = ("n\(index)", index % 5)
            }
        })
    }

    private func publisher(_ stack: DataStack) -> ListPublisher<Dog> {
        stack.publishList(
            From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age), .ascending(\.$nickname)))
    }

    @Test func `a list view that applies stages shows each version of a list`() throws {
        var random = SeededRandom(for: "stages")
        let (stack, queue) = try Zoo.stack()
        try add(stack, 60)
        try queue.sync {
            let (publisher, table) = (publisher(stack), Table())
            let adapter = Adapter(target: table, dataStack: stack)
            table.adapter = adapter
            adapter.apply(publisher.snapshot)
            for _ in 0..<150 {
                try stack.perform(synchronous: { transaction in
                    let dogs = try transaction.fetchAll(From<Dog>())
                    for _ in 0...random.below(5) {
                        let dog = dogs[random.below(dogs.count)]
                        guard !dog.isDeleted else { continue }
                        switch random.below(5) {
                        case 0: transaction.delete(dog)
                        case 1: transaction.create(Into<Dog>()).age = random.below(9)
                        case 2: dog.age = random.below(9)
                        case 3: dog.nickname = "n\(random.below(60))"
                        default: dog.color = "c\(random.below(9))"
                        }
                    }
                })
                // Some versions are skipped.
                if random.below(4) > 0 { adapter.apply(publisher.snapshot) }
                if random.below(8) == 0 {
                    var edited = publisher.snapshot
                    let first = IndexPath(indexes: [0, 0])
                    edited.moveItem(at: first, to: IndexPath(indexes: [1, 0]))
                    edited.deleteSections(at: [edited.numberOfSections - 1])
                    adapter.apply(edited)
                }
                try #require(table.faults.isEmpty, "seed \(random.seed): \(table.faults)")
            }
            adapter.apply(publisher.snapshot)
            #expect(table.rows.flatMap { $0 } == publisher.snapshot.itemIDs)
            #expect(table.batchCount > 100 && !table.reloadedItems.isEmpty)
            adapter.purge()
            #expect(table.rows.isEmpty && adapter.numberOfSections() == 0)
        }
    }

    /// A bug: an item that had moved in a skipped version kept its old text.
    @Test func `rows show the current values of their items when versions are skipped`() throws {
        var random = SeededRandom(for: "rows")
        let (stack, queue) = try Zoo.stack()
        try add(stack, 40)
        try queue.sync {
            let publisher = publisher(stack)
            func text(_ id: NSManagedObjectID) -> String {
                let dog: Dog? = stack.fetchExisting(id)
                return dog.map { "\($0.age) \($0.nickname ?? "-") \($0.color ?? "-")" } ?? "gone"
            }
            var shown = publisher.snapshot
            var texts = Dictionary(uniqueKeysWithValues: shown.itemIDs.map { ($0, text($0)) })
            for round in 0..<200 {
                try stack.perform(synchronous: { transaction in
                    let dogs = try transaction.fetchAll(From<Dog>())
                    for _ in 0...random.below(3) {
                        let dog = dogs[random.below(dogs.count)]
                        guard !dog.isDeleted else { continue }
                        switch random.below(5) {
                        case 0: transaction.delete(dog)
                        case 1: transaction.create(Into<Dog>()).age = random.below(9)
                        case 2: dog.age = random.below(9)
                        case 3: dog.nickname = "n\(random.below(60))"
                        default: dog.color = "c\(random.below(9))"
                        }
                    }
                })
                guard random.below(3) == 0 else { continue }
                var target = publisher.snapshot
                if random.below(3) == 0, target.numberOfSections > 1 {
                    target.moveItem(
                        at: IndexPath(indexes: [0, 0]), to: IndexPath(indexes: [1, 0]))
                }
                for stage in StagedChanges(from: shown, to: target) {
                    for path in stage.reloadedItems {
                        let ids = shown.itemIDs(inSectionWithID: shown.sectionIDs[path[0]])
                        texts[ids[path[1]]] = text(ids[path[1]])
                    }
                    let known = Set(shown.itemIDs)
                    for id in stage.snapshot.itemIDs where !known.contains(id) {
                        texts[id] = text(id)
                    }
                    shown = stage.snapshot
                }
                for id in target.itemIDs {
                    try #require(texts[id] == text(id), "round \(round), seed \(random.seed)")
                }
            }
        }
    }

    @Test func `versions are shown one after the other`() throws {
        let (stack, queue) = try Zoo.stack()
        try add(stack, 40)
        try queue.sync {
            let (publisher, table) = (publisher(stack), Table())
            let adapter = Adapter(target: table, dataStack: stack)
            table.adapter = adapter
            adapter.apply(publisher.snapshot)
            table.isSlow = true
            var completed: [Int] = []
            for round in 0..<3 {
                try add(stack, 1)
                adapter.apply(publisher.snapshot) { completed.append(round) }
            }
            #expect(completed.isEmpty && table.waiting.count == 1)
            while !table.waiting.isEmpty { table.complete() }
            #expect(completed == [0, 1, 2] && table.faults.isEmpty)
            #expect(table.rows.flatMap { $0 }.count == 43)
        }
    }

    @Test func `a view that suspends updates is reloaded, as after many changes`() throws {
        let (stack, queue) = try Zoo.stack()
        try add(stack, 10)
        try queue.sync {
            let (publisher, table) = (publisher(stack), Table())
            let adapter = Adapter(target: table, dataStack: stack)
            table.adapter = adapter
            table.shouldSuspendBatchUpdates = true
            adapter.apply(publisher.snapshot)
            #expect(table.reloadCount == 1 && table.batchCount == 0)
            table.shouldSuspendBatchUpdates = false
            try add(stack, 100)
            adapter.apply(publisher.snapshot)
            #expect(table.reloadCount == 2)
            try add(stack, 1)
            adapter.apply(publisher.snapshot)
            #expect(table.reloadCount == 2 && table.batchCount == 1 && table.faults.isEmpty)
        }
    }

    @Test func `an adapter answers what it shows`() throws {
        let (stack, queue) = try Zoo.stack()
        try add(stack, 6)
        queue.sync {
            let (publisher, table) = (publisher(stack), Table())
            let adapter = Adapter(target: table, dataStack: stack)
            table.adapter = adapter
            adapter.apply(publisher.snapshot)
            #expect(adapter.target === table && adapter.dataStack === stack)
            #expect(adapter.numberOfSections() == 5 && adapter.numberOfItems(inSection: 5) == nil)
            #expect(adapter.sectionID(for: 1) == "1" && adapter.sectionID(for: 9) == nil)
            var reloaded = publisher.snapshot
            reloaded.reloadSections(at: [3, 1])
            adapter.apply(reloaded)
            #expect(table.reloadedSections == [1, 3] && table.faults.isEmpty)
            for (index, id) in publisher.snapshot.itemIDs.enumerated() {
                let path = adapter.indexPath(for: id)
                #expect(path.flatMap { adapter.itemID(for: $0) } == id, "item \(index)")
            }
            #expect(adapter.itemID(for: IndexPath(indexes: [0, 2])) == nil)
            var own = adapter.makeEmptySnapshot()
            own.appendSections(withIDs: ["own"])
            own.appendItems(withIDs: [publisher.snapshot.itemIDs[0]])
            #expect(own[0].object != nil)
        }
    }

    @Test func `an adapter keeps no view alive`() throws {
        let (stack, queue) = try Zoo.stack()
        queue.sync {
            let adapter: Adapter
            do { adapter = Adapter(target: Table(), dataStack: stack) }
            #expect(adapter.target == nil)
        }
    }
}
