import Foundation
import PageStore

/// Looks for objects that break a unique constraint which the file has no index of yet. Reads
/// every record of the hierarchy once; in memory are the keys of all of them.
struct DuplicateSearch {
    /// Two objects with the same values.
    struct Pair {
        var first: ObjectNumber
        var second: ObjectNumber
        var values: [Value]
    }

    private let reader: RecordReader
    private let constraint: IndexLayout
    private let entity: EntityLayout
    private let keys = ByteBuffer()
    private var starts: [Int] = []

    /// The first pair in the order of the constraint's columns, nil when there is none. A nil in
    /// any column conflicts with nothing.
    static func firstPair(
        _ constraint: IndexLayout, _ reader: RecordReader
    ) throws(StoreError) -> Pair? {
        var search = DuplicateSearch(constraint, reader)
        try search.collect()
        return try search.find()
    }

    private init(_ constraint: IndexLayout, _ reader: RecordReader) {
        self.reader = reader
        self.constraint = constraint
        entity = reader.schema.knownEntity(tag: constraint.entityTag)
    }

    private mutating func collect() throws(StoreError) {
        let cursor = reader.recordCursor(entity.hierarchy)
        var key = reader.keyEncoder(columnCount: constraint.columns.count)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag),
                !constraint.columns.contains(where: { row.isNull(at: $0.byteOffset) })
            else { continue }
            key.removeAll()
            try reader.append(constraint.columns, of: row, to: &key)
            key.append(cursor.number)
            starts.append(keys.count)
            key.bytes.withView { keys.append($0) }
        }
    }

    private func find() throws(StoreError) -> Pair? {
        var order = KeyOrder(keys.view, capacity: starts.count)
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : keys.count
            order.append(start: start, count: end - start, index: index)
        }
        order.sort()
        var group: [ObjectNumber] = []
        var groupColumns: ByteView?
        for entry in order.entries {
            // A key ends with the object's number.
            let columnsSize = Int(entry.count) - 8
            let columns = keys.view.slice(from: entry.start, count: columnsSize)
            if groupColumns.map({ $0 == columns }) != true {
                if let pair = try firstPair(of: group) { return pair }
                group.removeAll(keepingCapacity: true)
                groupColumns = columns
            }
            group.append(
                ObjectNumber(keys.view.bigEndianUInt64(at: entry.start + columnsSize)))
        }
        return try firstPair(of: group)
    }

    /// Two of the objects whose keys are equal: of a long text only the beginning is in its key.
    private func firstPair(of group: [ObjectNumber]) throws(StoreError) -> Pair? {
        guard group.count > 1 else { return nil }
        var known: [[Value]: ObjectNumber] = [:]
        for number in group {
            let values = try reader.withRow(number, in: entity.hierarchy) {
                row throws(StoreError) in
                var values: [Value] = []
                for column in constraint.columns {
                    values.append(try reader.value(column, of: row))
                }
                return values
            }
            guard let values else { continue }
            if let first = known[values] {
                return Pair(first: first, second: number, values: values)
            }
            known[values] = number
        }
        return nil
    }

    /// Refuses to open a file whose objects break a constraint that the program has added.
    static func failure(_ pair: Pair, _ constraint: IndexLayout, _ schema: Schema) -> StoreError {
        let entity = schema.knownEntity(tag: constraint.entityTag)
        let columns = constraint.columns.map(\.name).joined(separator: ", ")
        let values = pair.values.map(text).joined(separator: ", ")
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
