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

/// Which objects are wanted, in which order: a value that can be kept, printed and run anywhere.
package struct FetchRequest: Hashable, Sendable {
    package var entityName: String
    package var includesSubentities = true
    package var condition: Condition
    package var sortKeys: [SortKey]
    /// Nil for no limit.
    package var limit: Int?
    package var offset: Int

    package init(
        entityName: String, condition: Condition = .constant(true), sortKeys: [SortKey] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.entityName = entityName
        self.condition = condition
        self.sortKeys = sortKeys
        self.limit = limit
        self.offset = offset
    }
}
