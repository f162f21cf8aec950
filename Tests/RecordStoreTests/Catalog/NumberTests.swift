import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// A number names one object for as long as the store exists, also one that was never committed.
@Suite struct NumberTests {
    static let schema = SchemaDescription([
        EntityDescription("Stone", optional: ["n": .int64]),
        EntityDescription("Tree", optional: ["n": .int64]),
    ])

    /// A store in a file that tests may cut off.
    struct Store {
        let files: FaultyFileSystem
        let database: RecordDatabase
        let stone: EntityLayout

        init(_ files: FaultyFileSystem = FaultyFileSystem()) throws {
            self.files = files
            var options = EngineOptions()
            options.checkpointsInBackground = false
            database = try RecordDatabase.open(
                .file("numbers"), schema: NumberTests.schema, options: options, files: files)
            stone = try #require(database.schema.entity(named: "Stone"))
        }

        /// Adds stones in one transaction, and returns their numbers.
        @discardableResult
        func add(_ count: Int = 1, commits: Bool = true) throws -> [ObjectNumber] {
            let transaction = try database.beginWrite()
            var batch = RecordBatch()
            let row = stone.emptyRow()
            defer { row.deallocate() }
            var numbers: [ObjectNumber] = []
            for _ in 0..<count {
                numbers.append(try transaction.allocateNumber(in: stone.hierarchy))
                batch.insert(stone, numbers[numbers.count - 1], row: row)
            }
            try transaction.apply(batch)
            if commits { try transaction.commit() } else { transaction.rollback() }
            return numbers
        }
    }

    /// How the process ends between two transactions.
    enum Ending: CaseIterable {
        case none, close, processDeath, powerCut

        func next(_ store: Store) throws -> Store {
            switch self {
            case .none: return store
            case .close:
                try store.database.close()
                return try Store(store.files)
            case .processDeath: return try Store(store.files.processDeath())
            case .powerCut: return try Store(store.files.powerCut())
            }
        }
    }

    @Test(arguments: Ending.allCases)
    func `a cancelled transaction's numbers are never given again`(ending: Ending) throws {
        var store = try Store()
        var given: Set<ObjectNumber> = []
        for round in 0..<4 {
            let kept = try store.add(3)
            let lost = try store.add(5, commits: false)
            store = try ending.next(store)
            let numbers = kept + lost
            #expect(given.isDisjoint(with: numbers), "\(round): \(numbers)")
            given.formUnion(numbers)
        }
        #expect(given.count == 4 * 8)
        let found = try store.database.snapshot().recordCount(of: store.stone)
        #expect(found == 4 * 3)
        try store.database.close()
    }

    @Test(arguments: [Ending.processDeath, .powerCut])
    func `a transaction that a crash ends loses its numbers for good`(ending: Ending) throws {
        let store = try Store()
        try store.add()
        let transaction = try store.database.beginWrite()
        var given: Set<ObjectNumber> = []
        for _ in 0..<10_000 {
            given.insert(try transaction.allocateNumber(in: store.stone.hierarchy))
        }
        let next = try ending.next(store)
        let later = try next.add(100)
        #expect(given.isDisjoint(with: later))
        transaction.rollback()
    }

    @Test func `numbers of a commit that failed are never given again`() throws {
        let store = try Store()
        try store.add()
        store.files.fault = FaultyFileSystem.Fault(
            calls: [.write, .durableWrite, .sync], goesOn: true)
        let transaction = try store.database.beginWrite()
        let lost = try transaction.allocateNumber(in: store.stone.hierarchy)
        var batch = RecordBatch()
        let row = store.stone.emptyRow()
        defer { row.deallocate() }
        batch.insert(store.stone, lost, row: row)
        try transaction.apply(batch)
        #expect(throws: StoreError.self) { try transaction.commit() }
        store.files.fault = nil
        let next = try Store(store.files.powerCut())
        #expect(try !next.add(100).contains(lost))
    }
}
