import Query

/// The order of a fetch: `OrderBy(.descending(\.$rating), .ascending(\.$surname))`.
///
/// Nil comes first in ascending order; texts are ordered by their UTF-8 bytes; objects that are
/// equal in all keys come in the order of their creation.
public struct OrderBy<O: DynamicObject>: OrderByClause, Hashable, Sendable {
    public typealias ObjectType = O

    /// A property to sort by.
    public struct SortKey: Hashable, Sendable {
        let key: Query.SortKey

        init(_ keyPath: KeyPathString, isAscending: Bool) {
            key = Query.SortKey(
                path: keyPath.split(separator: ".").map(String.init), isAscending: isAscending)
        }

        init(_ key: Query.SortKey) { self.key = key }

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

    public init(_ sortDescriptor: NSSortDescriptor) { self.init([sortDescriptor]) }
    public init(_ sortDescriptors: [NSSortDescriptor]) {
        keys = sortDescriptors.compactMap { KeySortDescriptor.sortKey($0).map(SortKey.init) }
    }

    /// The order as Foundation's type.
    public var sortDescriptors: [NSSortDescriptor] { keys.map { KeySortDescriptor($0.key) } }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        let sortKeys = keys.map(\.key)
        let known = fetchRequest.terms.request.sortKeys
        if !known.isEmpty, known != sortKeys {
            Log.message(
                .warning, "a second OrderBy clause replaces the first; add them with + instead")
        }
        fetchRequest.terms.request.sortKeys = sortKeys
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

    /// A property of a related object: `.ascending(\.$master ~ \.$name)`. The path crosses to-one
    /// relationships only.
    public static func ascending<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Query.SortKey(path: path.path, isAscending: true))
    }

    public static func descending<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Query.SortKey(path: path.path, isAscending: false))
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
