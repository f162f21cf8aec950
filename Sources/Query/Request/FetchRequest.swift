import RecordStore

/// A property to sort by; the path may cross to-one relationships.
package struct SortKey: Hashable, Sendable {
    package var path: [String]
    package var isAscending: Bool

    package init(path: [String], isAscending: Bool = true) {
        self.path = path
        self.isAscending = isAscending
    }
}

/// The objects of an entity to fetch, and their order: a value that can be kept, printed and run
/// anywhere.
package struct FetchRequest: Hashable, Sendable {
    /// Nil for all objects.
    // Written as `Optional` to avoid the implicit nil, which the initialiser would overwrite.
    package var condition: Optional<Condition>
    package var includesSubentities: Bool
    package var sortKeys: [SortKey]
    /// Nil for no limit.
    package var limit: Int?
    package var offset: Int

    package init(
        condition: Condition? = nil, sortKeys: [SortKey] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.condition = condition
        includesSubentities = true
        self.sortKeys = sortKeys
        self.limit = limit
        self.offset = offset
    }
}
