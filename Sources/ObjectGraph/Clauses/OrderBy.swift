import Query

/// The order of a fetch: `OrderBy(.descending(\.$rating), .ascending(\.$surname))`.
///
/// Nil comes first in ascending order; texts are ordered by their UTF-8 bytes; objects that are
/// equal in all keys come in the order of their numbers, that of creation within a transaction.
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

        /// Sorts by a property, the least value first. The path may cross to-one relationships.
        public static func ascending(_ keyPath: KeyPathString) -> SortKey {
            SortKey(keyPath, isAscending: true)
        }

        /// Sorts by a property, the greatest value first. The path may cross to-one relationships.
        public static func descending(_ keyPath: KeyPathString) -> SortKey {
            SortKey(keyPath, isAscending: false)
        }
    }

    let keys: [SortKey]

    /// No order.
    public init() { keys = [] }
    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public init(_ sortKeys: [SortKey]) { keys = sortKeys }
    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public init(_ sortKey: SortKey, _ otherSortKeys: SortKey...) {
        keys = [sortKey] + otherSortKeys
    }

    /// The order of a descriptor that `NSSortDescriptor(key:ascending:)` made. Any other fails an
    /// assertion of the logger and sorts nothing.
    public init(_ sortDescriptor: NSSortDescriptor) { self.init([sortDescriptor]) }
    /// The order of descriptors that `NSSortDescriptor(key:ascending:)` made. Any other fails an
    /// assertion of the logger and sorts nothing.
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

    /// Sorts by the left order, objects that are equal in it by the right one.
    public static func + (left: OrderBy, right: OrderBy) -> OrderBy {
        OrderBy(left.keys + right.keys)
    }

    /// Appends an order, for objects that are equal in those before it.
    public static func += (left: inout OrderBy, right: OrderBy) { left = left + right }
}

extension OrderBy.SortKey where O: CoreStoreObject {
    /// Sorts by a stored property, the least value first.
    public static func ascending<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Where<O>.name(keyPath), isAscending: true)
    }

    /// Sorts by a stored property, the greatest value first.
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

    /// Sorts by a property of a related object, the greatest value first. The path crosses to-one
    /// relationships only.
    public static func descending<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Query.SortKey(path: path.path, isAscending: false))
    }

    /// Sorts by the property that a closure returns: `.ascending { $0.$species }`. It accepts
    /// inherited properties.
    public static func ascending<K: AnyKeyPathStringConvertible>(
        _ attribute: (O) -> K
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(attribute(ClassMeta.object(O.self)).cs_keyPathString, isAscending: true)
    }

    /// Sorts by the property that a closure returns, the greatest value first.
    public static func descending<K: AnyKeyPathStringConvertible>(
        _ attribute: (O) -> K
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(attribute(ClassMeta.object(O.self)).cs_keyPathString, isAscending: false)
    }
}

extension Sequence {
    /// All orders as one: each sorts the objects that are equal in those before it.
    public func combined<O>() -> OrderBy<O> where Element == OrderBy<O> {
        reduce(OrderBy()) { $0 + $1 }
    }
}
