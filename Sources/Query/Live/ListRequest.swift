import Foundation
import RecordStore

/// The request that a list shows, and how its objects are put into sections.
package struct ListRequest {
    package enum Section {
        case none
        /// Objects whose path gives values of one name are in one section where they are
        /// neighbours.
        case path([String], name: (Value) -> String)
        /// The name of an object's section as something else than a path gives it: only changes of
        /// the object itself are followed then.
        case computed((RecordReader, ObjectNumber) throws -> String)
    }

    package var entityName: String
    package var fetch: FetchRequest
    package var section: Section
    /// Paths of to-one relationships that end with an attribute. When the value changes, the
    /// object counts as updated.
    package var watchedPaths: [[String]]

    package init(
        _ entityName: String, _ fetch: FetchRequest, section: Section = .none,
        watchedPaths: [[String]] = []
    ) {
        self.entityName = entityName
        self.fetch = fetch
        self.section = section
        self.watchedPaths = watchedPaths
    }

    var hasSections: Bool {
        if case .none = section { false } else { true }
    }

    var window: ListWindow { ListWindow(offset: fetch.offset, limit: fetch.limit) }
}

/// The part of a step that one store of a list has: its changes between two commits.
package struct StoreStep {
    package var before: RecordReader
    package var after: RecordReader
    package var changes: ChangeSet

    package init(before: RecordReader, after: RecordReader, changes: ChangeSet) {
        self.before = before
        self.after = after
        self.changes = changes
    }
}
