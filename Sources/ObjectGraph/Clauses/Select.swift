import Query

/// A column of a query: `.attribute(\.$name)`, `.maximum(\.$age)`, `"name"`.
public struct SelectTerm<O: DynamicObject>: ExpressibleByStringLiteral, Hashable, Sendable {
    let term: Query.SelectTerm
    /// The key of the column in a row of a query.
    let alias: KeyPathString

    private init(_ term: Query.SelectTerm, _ alias: KeyPathString) {
        self.term = term
        self.alias = alias
    }

    private static func path(_ keyPath: KeyPathString) -> [String] {
        keyPath.split(separator: ".").map(String.init)
    }

    public init(stringLiteral value: KeyPathString) {
        self.init(.attribute(Self.path(value)), value)
    }

    /// The property itself; the path may cross to-one relationships.
    public static func attribute(_ keyPath: KeyPathString) -> SelectTerm {
        SelectTerm(.attribute(path(keyPath)), keyPath)
    }

    /// The object's ID.
    public static func objectID(as alias: KeyPathString? = nil) -> SelectTerm {
        SelectTerm(.objectID, alias ?? "objectID")
    }

    /// The mean; a Decimal, or a Double of Doubles. The key is `average(name)` unless another is given.
    public static func average(_ keyPath: KeyPathString, as alias: KeyPathString? = nil)
        -> SelectTerm
    {
        SelectTerm(.aggregate(.average, path(keyPath)), alias ?? "average(\(keyPath))")
    }

    /// How many have a value; of a to-many, how many objects. The key is `count(name)` unless another is given.
    public static func count(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> SelectTerm
    {
        SelectTerm(.aggregate(.count, path(keyPath)), alias ?? "count(\(keyPath))")
    }

    /// The greatest value. The key is `max(name)` unless another is given.
    public static func maximum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil)
        -> SelectTerm
    {
        SelectTerm(.aggregate(.maximum, path(keyPath)), alias ?? "max(\(keyPath))")
    }

    /// The least value. The key is `min(name)` unless another is given.
    public static func minimum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil)
        -> SelectTerm
    {
        SelectTerm(.aggregate(.minimum, path(keyPath)), alias ?? "min(\(keyPath))")
    }

    /// The sum; a Decimal, or a Double of Doubles. The key is `sum(name)` unless another is given.
    public static func sum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> SelectTerm {
        SelectTerm(.aggregate(.sum, path(keyPath)), alias ?? "sum(\(keyPath))")
    }

}

extension SelectTerm where O: CoreStoreObject {
    public static func attribute<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>
    ) -> SelectTerm {
        .attribute(Where<O>.name(keyPath))
    }

    public static func average<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> SelectTerm {
        .average(Where<O>.name(keyPath), as: alias)
    }

    public static func count<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> SelectTerm {
        .count(Where<O>.name(keyPath), as: alias)
    }

    public static func maximum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> SelectTerm {
        .maximum(Where<O>.name(keyPath), as: alias)
    }

    public static func minimum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> SelectTerm {
        .minimum(Where<O>.name(keyPath), as: alias)
    }

    public static func sum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> SelectTerm {
        .sum(Where<O>.name(keyPath), as: alias)
    }

}

/// The columns of a query and what they become: `Select<Int>(.maximum("age"))`.
public struct Select<O: DynamicObject, T: SelectResultType>: Hashable, Sendable {
    /// The columns.
    public let selectTerms: [SelectTerm<O>]

    public init(_ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...) {
        self.selectTerms = [selectTerm] + selectTerms
    }

    public init(_ selectTerms: [SelectTerm<O>]) { self.selectTerms = selectTerms }
}

extension Select where T == NSManagedObjectID {
    /// The objects' IDs.
    public init() { self.init([.objectID()]) }
}

extension Select where O: CoreStoreObject, T: QueryableAttributeType {
    /// One attribute.
    public init<B: CoreStoreObject>(_ keyPath: KeyPath<O, FieldContainer<B>.Stored<T>>) {
        self.init([.attribute(keyPath)])
    }
}

/// What a query's rows are made of: one for each set of values of these properties.
public struct GroupBy<O: DynamicObject>: QueryClause, Hashable, Sendable {
    /// The properties.
    public let keyPaths: [KeyPathString]

    /// No groups.
    public init() { keyPaths = [] }
    public init(_ keyPath: KeyPathString, _ keyPaths: KeyPathString...) {
        self.keyPaths = [keyPath] + keyPaths
    }
    public init(_ keyPaths: [KeyPathString]) { self.keyPaths = keyPaths }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        if !fetchRequest.groupKeyPaths.isEmpty, fetchRequest.groupKeyPaths != keyPaths {
            Log.message(.warning, "a second GroupBy clause replaces the first")
        }
        fetchRequest.groupKeyPaths = keyPaths
    }
}

extension GroupBy where O: CoreStoreObject {
    public init<B: CoreStoreObject, V>(_ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>) {
        self.init(Where<O>.name(keyPath))
    }
}
