import Foundation
import RecordStore

/// Attributes at the ends of to-one paths, for observers of one object of an entity.
package struct WatchedPaths {
    private struct Path {
        var name: String
        var parts: RequestParts
    }

    private let paths: [Path]

    /// Throws when the entity has no such path, or when one crosses a to-many relationship.
    package init(_ paths: [[String]], of entity: EntityLayout, _ schema: Schema) throws {
        self.paths = try paths.map { names in
            let request = ListRequest(entity.name, FetchRequest(), watchedPaths: [names])
            // No path asks which store it is in.
            let parts = try RequestParts(request, schema, storeID: UUID())
            let name = names.joined(separator: ".")
            if let refusal = parts.refusal {
                throw QueryError("“\(name)” cannot be watched: \(refusal)")
            }
            return Path(name: name, parts: parts)
        }
    }

    /// The paths whose values differ between two commits, by their names joined with dots; empty
    /// for an object that one of the commits does not have.
    package func differences(
        of number: ObjectNumber, _ before: RecordReader, _ after: RecordReader
    ) throws(StoreError) -> [String] {
        var names: [String] = []
        for path in paths {
            func value(_ reader: RecordReader) throws(StoreError) -> [UInt8]? {
                let evaluation = path.parts.evaluation(in: reader)
                return try reader.withRow(number, in: path.parts.entity.hierarchy) {
                    row throws(StoreError) in
                    try evaluation.watched(of: row)
                }
            }
            guard let old = try value(before), let new = try value(after) else { return [] }
            if old != new { names.append(path.name) }
        }
        return names
    }
}
