import Proof
import RecordStore
import SampleSchemas
import TestSupport

/// Random commits, several of which one write makes durable: the snapshot of each shows that commit
/// though later ones are there, what each noted is what it changed, and notes that are joined, in
/// whatever groups, have come and gone what the snapshots at both ends say. So has what is found by
/// comparing leaves.
struct JoinedChanges {
    /// A commit in a plain model.
    private struct Commit {
        var changes: ChangeSet
        var snapshot: RecordSnapshot
        var rows: [UInt64: Int64]
    }

    private let seed: UInt64

    init(seed: UInt64) { self.seed = seed }

    private static let schema = SchemaDescription([
        EntityDescription("Thing", optional: ["n": .int64], indexes: [["n"]])
    ])

    /// Returns how many joined sets were compared.
    func run(_ rounds: Int) throws -> Int {
        var random = SeededRandom(seed: seed)
        var count = 0
        for _ in 0..<rounds {
            do {
                count += try round(&random)
                ProofProgress.note("rounds of joined changes")
            } catch {
                throw ProofFailure("joined changes, seed \(seed): \(error)")
            }
        }
        return count
    }

    private func round(_ random: inout SeededRandom) throws -> Int {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        defer { try? database.close() }
        guard let entity = database.schema.entity(named: "Thing") else {
            throw ProofFailure("there is no entity")
        }
        var rows: [UInt64: Int64] = [:]
        var commits = [
            Commit(changes: ChangeSet(), snapshot: try database.snapshot(), rows: rows)
        ]
        while commits.count < 25 {
            var staged: [(StagedRecordCommit, [UInt64: Int64])] = []
            for _ in 0...random.below(4) {
                staged.append((try stage(database, entity, &rows, &random), rows))
            }
            for (commit, _) in staged { try commit.finish() }
            for (commit, rows) in staged {
                guard let changes = commit.changes else {
                    throw ProofFailure("a commit noted no changes")
                }
                commits.append(
                    Commit(changes: changes, snapshot: try commit.snapshot(), rows: rows))
            }
        }
        for commit in commits {
            guard try Self.rows(commit.snapshot, entity) == commit.rows else {
                throw ProofFailure("a snapshot does not show its own commit")
            }
        }
        let compared = 60
        for _ in 0..<compared {
            let first = random.below(commits.count - 1)
            let last = first + 1 + random.below(commits.count - first - 1)
            let joined = Self.joined(commits[(first + 1)...last], &random)
            try check(
                joined.records(in: entity.hierarchy), commits[first].rows, commits[last].rows)
            try checkLeaves(commits[first], commits[last], entity)
        }
        return compared
    }

    /// Adjacent change sets, joined in random groups.
    private static func joined(
        _ commits: ArraySlice<Commit>, _ random: inout SeededRandom
    ) -> ChangeSet {
        guard let first = commits.first, commits.count > 1 else {
            return commits.first?.changes ?? ChangeSet()
        }
        if commits.count == 2 {
            var set = first.changes
            set.join(commits[commits.endIndex - 1].changes)
            return set
        }
        let middle = commits.startIndex + 1 + random.below(commits.count - 1)
        var set = joined(commits[..<middle], &random)
        set.join(joined(commits[middle...], &random))
        return set
    }

    /// The changes found from written leaves are exact, also between commits of one write.
    private func checkLeaves(_ first: Commit, _ last: Commit, _ entity: EntityLayout) throws {
        let found = try ChangeSet.between(first.snapshot, last.snapshot)
            .records(in: entity.hierarchy)
        try check(found, first.rows, last.rows)
        let same = first.rows.filter { last.rows[$0.key] == $0.value }.keys
        guard let found, found.updated.intersection(NumberSet(Array(same))).isEmpty else {
            throw ProofFailure("objects are updated that have their values")
        }
    }

    private func check(
        _ found: ChangeSet.Records?, _ before: [UInt64: Int64], _ after: [UInt64: Int64]
    ) throws {
        guard let found else { throw ProofFailure("a few changes became too many") }
        let (came, went) = (
            after.keys.filter { before[$0] == nil }, before.keys.filter { after[$0] == nil }
        )
        guard found.inserted == NumberSet(came) else {
            throw ProofFailure("\(Array(found.inserted)) came instead of \(came.sorted())")
        }
        guard found.deleted == NumberSet(went) else {
            throw ProofFailure("\(Array(found.deleted)) went instead of \(went.sorted())")
        }
        let stayed = before.keys.filter { after[$0] != nil }
        let changed = NumberSet(stayed.filter { before[$0] != after[$0] })
        guard changed.subtracting(found.updated).isEmpty else {
            throw ProofFailure("changed objects are not among the updated ones")
        }
        guard found.updated.subtracting(NumberSet(stayed)).isEmpty else {
            throw ProofFailure("objects are updated that are not there before and after")
        }
    }

    private static func rows(
        _ reader: RecordReader, _ entity: EntityLayout
    ) throws -> [UInt64: Int64] {
        guard let field = entity.field(named: "n") else { return [:] }
        var rows: [UInt64: Int64] = [:]
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            if case .int(let value) = try reader.value(field, of: cursor.row()) {
                rows[cursor.number.rawValue] = value
            }
        }
        return rows
    }

    // MARK: Commits

    private func stage(
        _ database: RecordDatabase, _ entity: EntityLayout, _ rows: inout [UInt64: Int64],
        _ random: inout SeededRandom
    ) throws -> StagedRecordCommit {
        let transaction = try database.beginWrite(notesChanges: true)
        // Several batches, so that one may undo another's changes.
        for _ in 0...random.below(2) {
            var batch = RecordBatch()
            for number in rows.keys.sorted() where random.below(5) == 0 {
                if random.below(2) == 0 {
                    rows[number] = nil
                    batch.delete(ObjectNumber(number), in: entity.hierarchy)
                } else {
                    let value = Int64(random.below(3))
                    rows[number] = value
                    batch.update(entity, ObjectNumber(number), value)
                }
            }
            for _ in 0..<random.below(4) {
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                let value = Int64(random.below(3))
                rows[number.rawValue] = value
                batch.insert(entity, number, value)
            }
            try transaction.apply(batch)
        }
        return try transaction.stage(.durable)
    }
}

extension RecordBatch {
    fileprivate mutating func insert(
        _ entity: EntityLayout, _ number: ObjectNumber, _ value: Int64
    ) {
        let row = Self.row(entity, value)
        defer { row.deallocate() }
        insert(entity, number, row: row)
    }

    fileprivate mutating func update(
        _ entity: EntityLayout, _ number: ObjectNumber, _ value: Int64
    ) {
        let row = Self.row(entity, value)
        defer { row.deallocate() }
        update(entity, number, row: row)
    }

    private static func row(_ entity: EntityLayout, _ value: Int64) -> RowBuffer {
        var row = entity.emptyRow()
        if let field = entity.field(named: "n") { row.setValue(.int(value), field) }
        return row
    }
}
