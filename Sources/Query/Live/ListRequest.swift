import Foundation
import RecordStore

/// The request that a list shows, and how its objects are grouped into sections.
package struct ListRequest {
    package enum Section {
        case none
        /// Neighbours whose path values have the same name are in one section.
        case path([String], name: (Value) -> String)
        /// Computes the name of an object's section. Only changes of the object itself are then
        /// followed. When a fetch or a step is done, `rest` releases the reader asked last.
        case computed((RecordReader, ObjectNumber) throws -> String, rest: () -> Void = {})

        func rest() {
            if case .computed(_, let rest) = self { rest() }
        }
    }

    package var entityName: String
    /// Its condition has the time of creation for `now()`, so that it has the same result for as
    /// long as the list lives, and in each store.
    package var fetch: FetchRequest
    package var section: Section
    /// To-one paths that end with an attribute. If the value changes, the object counts as updated.
    package var watchedPaths: [[String]]

    package init(
        _ entityName: String, _ fetch: FetchRequest, section: Section = .none,
        watchedPaths: [[String]] = []
    ) {
        self.entityName = entityName
        self.fetch = fetch
        self.fetch.condition = fetch.condition.map(NowBinding(Date()).bound)
        self.section = section
        self.watchedPaths = watchedPaths
    }

    var hasSections: Bool {
        if case .none = section { false } else { true }
    }

    var window: ListWindow { ListWindow(offset: fetch.offset, limit: fetch.limit) }
}

/// The part of a step that concerns one store of a list: its changes between two commits.
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
