import PageStore
import RecordStore
import Testing

/// The change set of a commit.
@Suite struct ChangeSetTests {
    /// Batches of one transaction, each a list of edits of stones.
    private enum Edit {
        case insert(UInt64, Int64)
        case update(UInt64, Int64)
        case delete(UInt64)
    }

    private let store: NumberTests.Store

    init() throws { store = try NumberTests.Store() }

    private func commit(_ batches: [[Edit]]) throws -> ChangeSet.Records? {
        let transaction = try store.database.beginWrite(notesChanges: true)
        let field = try #require(store.stone.field(named: "n"))
        for edits in batches {
            var batch = RecordBatch()
            for edit in edits {
                var row = store.stone.emptyRow()
                defer { row.deallocate() }
                switch edit {
                case .insert(let number, let value):
                    row.setValue(.int(value), field)
                    batch.insert(store.stone, ObjectNumber(number), row: row)
                case .update(let number, let value):
                    row.setValue(.int(value), field)
                    batch.update(store.stone, ObjectNumber(number), row: row)
                case .delete(let number):
                    batch.delete(ObjectNumber(number), in: store.stone.hierarchy)
                }
            }
            try transaction.apply(batch)
        }
        let staged = try transaction.stage(.durable)
        try staged.finish()
        let changes = try #require(staged.changes)
        let tree = try #require(store.database.schema.entity(named: "Tree"))
        #expect(changes.records(in: tree.hierarchy)?.isEmpty == true)
        return changes.records(in: store.stone.hierarchy)
    }

    private func records(
        inserted: [UInt64] = [], updated: [UInt64] = [], deleted: [UInt64] = []
    ) -> ChangeSet.Records {
        ChangeSet.Records(
            inserted: NumberSet(inserted), updated: NumberSet(updated),
            deleted: NumberSet(deleted))
    }

    private func set(_ records: ChangeSet.Records) -> ChangeSet {
        var set = ChangeSet()
        set.set(records, in: store.stone.hierarchy)
        return set
    }

    @Test func `a transaction that records no changes has no change set`() throws {
        let transaction = try store.database.beginWrite()
        let staged = try transaction.stage(.durable)
        try staged.finish()
        #expect(staged.changes == nil)
    }

    @Test func `an update that changes no byte is not in the change set`() throws {
        #expect(try commit([[.insert(1, 5), .insert(2, 6)]]) == records(inserted: [1, 2]))
        #expect(try commit([[.update(1, 5), .update(2, 7)]]) == records(updated: [2]))
        #expect(try commit([[.update(2, 8)], [.update(2, 7)]]) == records())
        #expect(
            try commit([[.update(2, 8)], [.update(1, 3)], [.update(2, 9)]])
                == records(updated: [1, 2]))
    }

    @Test func `an object inserted and deleted in one transaction is no change`() throws {
        #expect(try commit([[.insert(1, 5)], [.delete(1)]]) == records())
        #expect(
            try commit([[.insert(3, 5), .insert(2, 1)], [.update(2, 5)]])
                == records(inserted: [2, 3]))
        #expect(try commit([[.update(2, 6)], [.delete(2)]]) == records(deleted: [2]))
        #expect(try commit([[.delete(3)], [.insert(3, 5)]]) == records())
        #expect(try commit([[.delete(3)], [.insert(3, 6)]]) == records(updated: [3]))
    }

    @Test func `sets of commits that follow one another are joined`() throws {
        func joined(_ commits: [[[Edit]]]) throws -> ChangeSet.Records? {
            var all = ChangeSet()
            for batches in commits {
                all.join(set(try #require(try commit(batches))))
            }
            return all.records(in: store.stone.hierarchy)
        }
        #expect(try joined([[[.insert(1, 5)]], [[.update(1, 6)]]]) == records(inserted: [1]))
        #expect(try joined([[[.update(1, 5)]], [[.update(1, 7)]]]) == records(updated: [1]))
        #expect(try joined([[[.update(1, 5)]], [[.delete(1)]]]) == records(deleted: [1]))
        #expect(try joined([[[.insert(2, 5)]], [[.delete(2)]]]) == records())
        #expect(
            try joined([[[.insert(3, 5)]], [[.delete(3)]], [[.insert(3, 5)]]])
                == records(inserted: [3]))
        #expect(try joined([[[.delete(3)]], [[.insert(3, 7)]]]) == records(updated: [3]))
        var known = set(records(updated: [3]))
        known.join(.unknown)
        #expect(known.isUnknown)
        #expect(known.records(in: store.stone.hierarchy) == nil)
    }

    @Test func `a failed batch makes the change set unknown`() throws {
        let transaction = try store.database.beginWrite(notesChanges: true)
        let row = store.stone.emptyRow()
        defer { row.deallocate() }
        var batch = RecordBatch()
        batch.update(store.stone, ObjectNumber(77), row: row)
        #expect(throws: StoreError.self) { try transaction.apply(batch) }
        let staged = try transaction.stage(.durable)
        try staged.finish()
        #expect(staged.changes?.isUnknown == true)
    }

    /// Every second number, so that no two make a run.
    @Test func `a change set past its size limit says only that records changed`() throws {
        let count = ChangeSet.sizeInBytesMax / 8
        let all = (1...UInt64(count)).map { Edit.insert(2 * $0, 1) }
        #expect(try commit([all])?.inserted.count == count)
        #expect(
            try commit([all.indices.map { .update(UInt64(2 * $0 + 2), 2) }])?.updated.count == count
        )
        let more = [Edit.insert(1, 1)] + all.indices.map { .update(UInt64(2 * $0 + 2), 3) }
        #expect(try commit([more]) == nil)
    }
}
