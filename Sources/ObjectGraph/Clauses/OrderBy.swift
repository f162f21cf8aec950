import Query

/// The order of a fetch: `OrderBy(.descending(\.$rating), .ascending(\.$surname))`.
///
/// Nil comes first in ascending order; texts are ordered by their UTF-8 bytes; objects that are
/// equal in all keys come in the order of their creation.
public struct OrderBy<O: DynamicObject>: QueryClause, DeleteClause, Hashable, Sendable {
    /// A property to sort by.
    public struct SortKey: Hashable, Sendable {
        let key: Query.SortKey

        init(_ keyPath: KeyPathString, isAscending: Bool) {
            key = Query.SortKey(
                path: keyPath.split(separator: ".").map(String.init), isAscending: isAscending)
        }

        /// The path may cross to-one relationships.
        public static func ascending(_ keyPath: KeyPathString) -> SortKey {
            SortKey(keyPath, isAscending: true)
        }

        public static func descending(_ keyPath: KeyPathString) -> SortKey {
            SortKey(keyPath, isAscending: false)
        }
    }

    let keys: [SortKey]

    /// No order.
    public init() { keys = [] }
    public init(_ sortKeys: [SortKey]) { keys = sortKeys }
    public init(_ sortKey: SortKey, _ otherSortKeys: SortKey...) {
        keys = [sortKey] + otherSortKeys
    }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        let sortKeys = keys.map(\.key)
        if !fetchRequest.sortKeys.isEmpty, fetchRequest.sortKeys != sortKeys {
            Log.message(
                .warning, "a second OrderBy clause replaces the first; add them with + instead")
        }
        fetchRequest.sortKeys = sortKeys
    }

    public static func + (left: OrderBy, right: OrderBy) -> OrderBy {
        OrderBy(left.keys + right.keys)
    }

    public static func += (left: inout OrderBy, right: OrderBy) { left = left + right }
}

extension OrderBy.SortKey where O: CoreStoreObject {
    public static func ascending<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Where<O>.name(keyPath), isAscending: true)
    }

    public static func descending<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Where<O>.name(keyPath), isAscending: false)
    }

    /// A property given by a closure: `.ascending { $0.$species }`.
    public static func ascending<K: AnyKeyPathStringConvertible>(
        _ attribute: (O) -> K
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(attribute(ClassMeta.object(O.self)).cs_keyPathString, isAscending: true)
    }

    public static func descending<K: AnyKeyPathStringConvertible>(
        _ attribute: (O) -> K
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(attribute(ClassMeta.object(O.self)).cs_keyPathString, isAscending: false)
    }
}

extension Sequence {
    /// One order after the other.
    public func combined<O>() -> OrderBy<O> where Element == OrderBy<O> {
        reduce(OrderBy()) { $0 + $1 }
    }
}

/// A last word on a fetch: `.tweak { $0.fetchLimit = 10 }`.
public struct Tweak: QueryClause, DeleteClause {
    /// What is called just before the fetch.
    public let closure: (NSFetchRequest<any NSFetchRequestResult>) -> Void

    public init(_ closure: @escaping (NSFetchRequest<any NSFetchRequestResult>) -> Void) {
        self.closure = closure
    }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        let view = NSFetchRequest<any NSFetchRequestResult>()
        view.take(from: fetchRequest)
        closure(view)
        fetchRequest.take(from: view)
    }
}

extension NSFetchRequest {
    fileprivate func take<Other>(from other: NSFetchRequest<Other>) {
        predicate = other.predicate
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        includesPendingChanges = other.includesPendingChanges
        includesSubentities = other.includesSubentities
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        returnsDistinctResults = other.returnsDistinctResults
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        condition = other.condition
        sortKeys = other.sortKeys
        groupKeyPaths = other.groupKeyPaths
    }
}
