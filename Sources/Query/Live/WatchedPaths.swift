import Foundation
import RecordStore

/// Attributes at the ends of to-one paths, for observers of a single object.
package struct WatchedPaths {
    private struct Path {
        var name: String
        var parts: RequestParts
    }

    private let paths: [Path]

    /// Throws if the entity has no such path, or if a path crosses a to-many relationship.
    package init(_ paths: [[String]], of entity: EntityLayout, _ schema: Schema) throws {
        self.paths = try paths.map { names in
            let request = ListRequest(entity.name, FetchRequest(), watchedPaths: [names])
            // No path depends on the store.
            let parts = try RequestParts(request, schema, store: StoreIdentity(UUID()))
            let name = names.joined(separator: ".")
            if let refusal = parts.refusal {
                throw QueryError("“\(name)” cannot be watched: \(refusal)")
            }
            return Path(name: name, parts: parts)
        }
    }

    /// The names, joined with dots, of the paths whose values differ between two commits; empty if
    /// one of the commits lacks the object.
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
