import Foundation
import PageStore

/// Searches for objects that violate a unique constraint. Writes nothing and needs no index: it
/// scans the records of the hierarchy, once for every four million of them, so that memory is
/// bounded.
struct DuplicateSearch {
    /// Two objects with the same values.
    struct Pair {
        var first: ObjectNumber
        var second: ObjectNumber
        var values: [Value]
    }

    /// The part of an object that is held in memory.
    private struct Mark {
        /// The hash of the constraint's columns.
        var hash: UInt64
        var number: ObjectNumber
    }

    private static let markCountMax = 4 << 20

    private let reader: RecordReader
    private let constraint: IndexLayout
    private let entity: EntityLayout

    init(_ constraint: IndexLayout, _ reader: RecordReader) {
        self.reader = reader
        self.constraint = constraint
        entity = reader.schema.knownEntity(tag: constraint.entityTag)
    }

    /// Throws `duplicateValues` for the first pair: no object before its second one, in the order
    /// of their numbers, violates the constraint. Nil in any column conflicts with nothing.
    func refusePairs() throws(StoreError) {
        if let first = try firstPair() { throw failure(first) }
    }

    /// The first pair, as ``refusePairs()`` finds it; nil if there is none.
    func firstPair() throws(StoreError) -> Pair? {
        let passCount = UInt64(try recordCount() / Self.markCountMax + 1)
        var first: Pair?
        for pass in 0..<passCount {
            let marks = try marks { $0 % passCount == pass }
            if let pair = try firstPair(marks, before: first?.second) { first = pair }
        }
        return first
    }

    /// The records to read. The catalog's counter is trusted only if it is small enough for one
    /// pass; otherwise the hierarchy's records are counted.
    private func recordCount() throws(StoreError) -> Int {
        let counted = try reader.recordCount(of: entity)
        guard counted >= Self.markCountMax else { return counted }
        let cursor = reader.recordCursor(entity.hierarchy, isScan: true)
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }

    /// The marks of the objects whose hashes are wanted, sorted by hash and number.
    private func marks(_ isWanted: (UInt64) -> Bool) throws(StoreError) -> [Mark] {
        var marks: [Mark] = []
        let cursor = reader.recordCursor(entity.hierarchy, isScan: true)
        var key = reader.keyEncoder(columnCount: constraint.columns.count)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag),
                !constraint.columns.contains(where: { row.isNull(at: $0.byteOffset) })
            else { continue }
            key.removeAll()
            try reader.append(constraint.columns, of: row, to: &key)
            let hash = ContentHash.hash(key.bytes)
            if isWanted(hash) { marks.append(Mark(hash: hash, number: cursor.number)) }
        }
        marks.sort { ($0.hash, $0.number.rawValue) < ($1.hash, $1.number.rawValue) }
        return marks
    }

    private func firstPair(
        _ marks: [Mark], before limit: ObjectNumber?
    ) throws(StoreError) -> Pair? {
        var last = limit.map(\.rawValue) ?? .max
        var first: Pair?
        var start = 0
        while start < marks.count {
            var end = start + 1
            while end < marks.count, marks[end].hash == marks[start].hash { end += 1 }
            if end - start > 1, marks[start + 1].number.rawValue < last,
                let pair = try firstPair(of: marks[start..<end], before: last)
            {
                (first, last) = (pair, pair.second.rawValue)
            }
            start = end
        }
        return first
    }

    /// The first pair among objects of equal hash: only the beginning of a long text is hashed.
    private func firstPair(
        of marks: ArraySlice<Mark>, before limit: UInt64
    ) throws(StoreError) -> Pair? {
        var known: [[Value]: ObjectNumber] = [:]
        for mark in marks {
            guard mark.number.rawValue < limit else { return nil }
            let values = try values(of: mark.number)
            if let other = known.updateValue(mark.number, forKey: values) {
                return Pair(first: other, second: mark.number, values: values)
            }
        }
        return nil
    }

    private func values(of number: ObjectNumber) throws(StoreError) -> [Value] {
        let values = try reader.withRow(number, in: entity.hierarchy) { row throws(StoreError) in
            var values: [Value] = []
            for column in constraint.columns { values.append(try reader.value(column, of: row)) }
            return values
        }
        guard let values else {
            throw .corrupt(nil, "object \(number.rawValue) was read and cannot be found")
        }
        return values
    }

    /// The error for a constraint that the program has added and stored objects violate.
    private func failure(_ pair: Pair) -> StoreError {
        let columns = constraint.columns.map(\.name).joined(separator: ", ")
        let values = pair.values.map(Self.text).joined(separator: ", ")
        return StoreError(
            .duplicateValues,
            "the model has a new unique constraint of \(entity.name), \(columns), which stored "
                + "objects break: object \(pair.first.rawValue) and object "
                + "\(pair.second.rawValue) both have \(values)")
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .float(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .string(let text), .url(let text):
            text.count > 100 ? "“\(text.prefix(100))…”" : "“\(text)”"
        case .data(let bytes): "\(bytes.count) bytes"
        case .date(let seconds): "\(Date(timeIntervalSinceReferenceDate: seconds))"
        case .uuid(let uuid): uuid.uuidString
        case .object(let number): "object \(number.rawValue)"
        }
    }
}
