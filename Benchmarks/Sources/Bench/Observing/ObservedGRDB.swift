import Foundation
import GRDB
import Synchronization

/// GRDB's `ValueObservation` of the request, with identifiers and ages alone.
final class ObservedGRDB: ObservedStore {
    private struct Item: Codable, FetchableRecord, Equatable {
        var id: Int64
        var age: Int
    }

    private let pool: DatabasePool
    private let queue = DispatchQueue(label: "view")
    private let told = DispatchSemaphore(value: 0)
    private let listed = Mutex(0)
    private var observation: AnyDatabaseCancellable?
    private var isChanged = false

    init(path: String, cacheSizeInBytes: Int) throws {
        let store = try GRDBContender(path: path, cacheSizeInBytes: cacheSizeInBytes)
        try store.close()
        pool = try openPool(path: path, cacheSizeInBytes: cacheSizeInBytes)
        try pool.write { database in
            try database.create(
                index: "person_list", on: "person", columns: ["age", "name"], options: .ifNotExists)
        }
    }

    func insert(personCount: Int) throws {
        try pool.write { database in
            let statement = try database.makeStatement(sql: PeopleStatements.insertPerson)
            for number in 0..<personCount {
                let person = PersonSource(number: number)
                try statement.execute(arguments: [
                    person.name, person.email, person.age, person.balance, person.createdAt,
                    person.bio,
                ])
            }
        }
        try settlePool(pool)
    }

    func change(names: [(number: Int, name: String)]) throws {
        try change(balances: [], names: names)
    }

    func change(
        balances: [(number: Int, balance: Double)], names: [(number: Int, name: String)]
    ) throws {
        try pool.write { database in
            for change in balances {
                try database.execute(
                    sql: "UPDATE person SET balance = ? WHERE id = ?",
                    arguments: [change.balance, change.number + 1])
            }
            for change in names {
                try database.execute(
                    sql: "UPDATE person SET name = ? WHERE id = ?",
                    arguments: [change.name, change.number + 1])
            }
        }
        isChanged = true
    }

    func observe() throws {
        let request = SQLRequest<Item>(
            sql: "SELECT id, age FROM person WHERE age >= ? ORDER BY age, name, id",
            arguments: [ObservedList.ageMin])
        let (listed, told) = (Box(self), told)
        observation = ValueObservation.tracking { try request.fetchAll($0) }
            .start(
                in: pool, scheduling: .async(onQueue: queue),
                onError: { fatalError("\($0)") },
                onChange: { items in
                    listed.store?.note(items.count)
                    told.signal()
                })
        told.wait()
        isChanged = false
    }

    private final class Box: @unchecked Sendable {
        weak var store: ObservedGRDB?
        init(_ store: ObservedGRDB) { self.store = store }
    }

    private func note(_ count: Int) { listed.withLock { $0 = count } }

    func endObserving() { observation = nil }

    func waitForTold() {
        guard observation != nil, isChanged else { return }
        isChanged = false
        told.wait()
    }

    var listedCount: Int { listed.withLock { $0 } }

    func close() throws { try pool.close() }
}
