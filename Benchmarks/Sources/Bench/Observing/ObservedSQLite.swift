import CSQLite
import Foundation

/// By hand: after each commit the identifiers are fetched again by SQLite's C API and compared with
/// those before.
final class ObservedSQLite: ObservedStore {
    private struct Item: Equatable {
        var id: Int64
        var age: Int64
    }

    private let store: SQLiteFull
    private var isObserving = false
    private var isChanged = false
    private var items: [Item] = []
    private var inserted: [Int] = []
    private var deleted: [Int] = []
    private var moved: [(from: Int, to: Int)] = []

    init(path: String, cacheSizeInBytes: Int) throws {
        store = try SQLiteFull(path: path, cacheSizeInBytes: cacheSizeInBytes)
        // What a list in this order is served from.
        try store.execute("CREATE INDEX IF NOT EXISTS person_list ON person(age, name)")
    }

    func insert(personCount: Int) throws {
        try store.insert(
            persons: PersonSupply(count: personCount, stopwatch: Stopwatch(), number: { $0 }))
        try store.settle()
    }

    func change(names: [(number: Int, name: String)]) throws {
        try change(balances: [], names: names)
    }

    func change(
        balances: [(number: Int, balance: Double)], names: [(number: Int, name: String)]
    ) throws {
        try store.transaction {
            let balance = try store.prepare("UPDATE person SET balance = ? WHERE id = ?")
            for change in balances {
                sqlite3_bind_double(balance, 1, change.balance)
                sqlite3_bind_int64(balance, 2, Int64(change.number) + 1)
                try store.run(balance)
            }
            let name = try store.prepare("UPDATE person SET name = ? WHERE id = ?")
            for change in names {
                store.bind(name, 1, change.name)
                sqlite3_bind_int64(name, 2, Int64(change.number) + 1)
                try store.run(name)
            }
        }
        isChanged = true
    }

    func observe() throws {
        isObserving = true
        items = try fetched()
    }

    func endObserving() { isObserving = false }

    func waitForTold() throws {
        guard isObserving, isChanged else { return }
        isChanged = false
        let new = try fetched()
        compare(items, new)
        items = new
    }

    var listedCount: Int { items.count }

    func close() throws { try store.close() }

    private func fetched() throws -> [Item] {
        let statement = try store.prepare(
            "SELECT id, age FROM person WHERE age >= \(ObservedList.ageMin) ORDER BY age, name, id")
        var found: [Item] = []
        found.reserveCapacity(items.count + 1)
        try store.rows(statement) { row in
            found.append(
                Item(id: sqlite3_column_int64(row, 0), age: sqlite3_column_int64(row, 1)))
        }
        return found
    }

    /// Who came, went and moved; all others have their neighbours.
    private func compare(_ old: [Item], _ new: [Item]) {
        var first = 0
        while first < old.count, first < new.count, old[first] == new[first] { first += 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > first, newEnd > first, old[oldEnd - 1] == new[newEnd - 1] {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
        }
        var places: [Int64: Int] = [:]
        for index in first..<oldEnd { places[old[index].id] = index }
        (inserted, deleted, moved) = ([], [], [])
        var last = -1
        for index in first..<newEnd {
            guard let place = places.removeValue(forKey: new[index].id) else {
                inserted.append(index)
                continue
            }
            if place < last { moved.append((place, index)) } else { last = place }
        }
        deleted = places.values.sorted()
    }
}
