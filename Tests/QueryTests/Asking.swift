import Foundation
import RecordStore
import Testing

@testable import Query

/// The store of the objects that these tests' conditions name.
let testStoreID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

extension RecordReader {
    func layout(of entityName: String) throws -> EntityLayout {
        try #require(schema.entity(named: entityName))
    }

    func prepare(
        _ request: FetchRequest, of entityName: String,
        for purpose: PreparedQuery.Purpose = .records
    ) throws -> PreparedQuery {
        try PreparedQuery.prepare(
            request, of: try layout(of: entityName), in: self, store: StoreIdentity(testStoreID),
            for: purpose)
    }

    func numbers(_ request: FetchRequest, of entityName: String) throws -> [ObjectNumber] {
        try prepare(request, of: entityName).numbers()
    }

    func count(_ request: FetchRequest, of entityName: String) throws -> Int {
        try prepare(request, of: entityName, for: .count).count()
    }

    func rows(_ request: ValueRequest, of entityName: String) throws -> [[Value]] {
        try PreparedValues(
            request, of: try layout(of: entityName), in: self, store: StoreIdentity(testStoreID)
        ).rows()
    }

    /// Calls the body with the number of each record that satisfies the reference evaluator.
    func forEachMatch(
        of condition: Condition, in entityName: String,
        _ body: (ObjectNumber, RowView) throws -> Void
    ) throws {
        let entity = try layout(of: entityName)
        let resolved = try ConditionResolver(
            entity, PathResolver(schema: schema), store: StoreIdentity(testStoreID)
        ).resolve(condition)
        let evaluator = ReferenceEvaluator(self)
        let cursor = recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            let candidate = Candidate(number: cursor.number, row: row)
            if try evaluator.isTrue(resolved, of: candidate) { try body(cursor.number, row) }
        }
    }
}

extension Operand {
    static func object(_ entityName: String, _ number: UInt64) -> Operand {
        .object(
            ObjectReference(
                storeID: testStoreID, entityName: entityName, number: ObjectNumber(number)))
    }
}
