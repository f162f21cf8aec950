import Query

/// A column of a query: `.attribute(\.$name)`, `.maximum(\.$age)`, `"name"`.
public struct SelectTerm<O: DynamicObject>: ExpressibleByStringLiteral, Hashable, Sendable {
    let column: Column

    init(_ column: Column) { self.column = column }

    private init(_ term: Query.SelectTerm, _ alias: KeyPathString) {
        column = Column(term: term, alias: alias)
    }

    /// An aggregate; its key is `function(name)` unless another is given.
    private init(
        _ function: Query.SelectTerm.Function, _ name: String, _ keyPath: KeyPathString,
        _ alias: KeyPathString?
    ) {
        self.init(
            .aggregate(function, Self.path(keyPath)), alias ?? "\(name)(\(keyPath))")
    }

    private static func path(_ keyPath: KeyPathString) -> [String] {
        keyPath.split(separator: ".").map(String.init)
    }

    /// The property with this name; the path may cross to-one relationships.
    public init(stringLiteral value: KeyPathString) {
        self.init(.attribute(Self.path(value)), value)
    }

    /// The property itself; the path may cross to-one relationships.
    public static func attribute(_ keyPath: KeyPathString) -> Self {
        Self(.attribute(path(keyPath)), keyPath)
    }

    /// The object's ID.
    public static func objectID(as alias: KeyPathString? = nil) -> Self {
        Self(.objectID, alias ?? "objectID")
    }

    /// The mean; a Decimal, or a Double of Doubles. The key is `average(name)` unless another is
    /// given.
    public static func average(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> Self {
        Self(.average, "average", keyPath, alias)
    }

    /// The number of objects with a value; of a to-many, the number of related objects. The key is
    /// `count(name)` unless another is given.
    public static func count(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> Self {
        Self(.count, "count", keyPath, alias)
    }

    /// The greatest value. The key is `max(name)` unless another is given.
    public static func maximum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> Self {
        Self(.maximum, "max", keyPath, alias)
    }

    /// The least value. The key is `min(name)` unless another is given.
    public static func minimum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> Self {
        Self(.minimum, "min", keyPath, alias)
    }

    /// The sum; a Decimal, or a Double of Doubles. The key is `sum(name)` unless another is given.
    public static func sum(_ keyPath: KeyPathString, as alias: KeyPathString? = nil) -> Self {
        Self(.sum, "sum", keyPath, alias)
    }
}

extension SelectTerm where O: CoreStoreObject {
    /// The property itself; its key in a row is its name.
    public static func attribute<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>
    ) -> Self {
        .attribute(Where<O>.name(keyPath))
    }

    /// The mean; a Decimal, or a Double of Doubles. The key is `average(name)` unless another is
    /// given.
    public static func average<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> Self {
        .average(Where<O>.name(keyPath), as: alias)
    }

    /// The number of objects with a value; of a to-many, the number of related objects. The key is
    /// `count(name)` unless another is given.
    public static func count<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> Self {
        .count(Where<O>.name(keyPath), as: alias)
    }

    /// The greatest value. The key is `max(name)` unless another is given.
    public static func maximum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> Self {
        .maximum(Where<O>.name(keyPath), as: alias)
    }

    /// The least value. The key is `min(name)` unless another is given.
    public static func minimum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> Self {
        .minimum(Where<O>.name(keyPath), as: alias)
    }

    /// The sum; a Decimal, or a Double of Doubles. The key is `sum(name)` unless another is given.
    public static func sum<K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, as alias: KeyPathString? = nil
    ) -> Self {
        .sum(Where<O>.name(keyPath), as: alias)
    }

}
