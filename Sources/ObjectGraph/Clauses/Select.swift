import Query

/// A query's column without the class that it belongs to.
struct Column: Hashable, Sendable {
    var term: Query.SelectTerm
    /// The key of the column in a row of a query.
    var alias: KeyPathString
}

/// The columns of a query and their result: `Select<Person, Int>(.maximum(\.$age))`.
///
/// Where the query names the class already, the result is enough: `Select<Int>("age")`. That is why
/// the type takes a pack of parameters: a result, or a class and a result. Terms of key paths need
/// the class.
public struct Select<each Parameter>: SelectClause, Hashable, Sendable {
    /// A result, or a class and a result.
    public typealias Parameters = (repeat each Parameter)

    let columns: [Column]

    init(columns: [Column]) { self.columns = columns }

    /// The columns of these terms.
    public init(selectTerms: [SelectTerm<CoreStoreObject>]) { columns = selectTerms.map(\.column) }

    /// The columns, by name.
    public var selectTerms: [SelectTerm<CoreStoreObject>] { columns.map { SelectTerm($0) } }
}

/// The columns of a query.
public protocol SelectClause: Sendable {
    /// A result, or a class and a result.
    associatedtype Parameters
    /// The columns, by name.
    var selectTerms: [SelectTerm<CoreStoreObject>] { get }
    /// The columns of these terms.
    init(selectTerms: [SelectTerm<CoreStoreObject>])
}

extension SelectClause {
    /// Columns, of which a query for one value returns the first: `Select<Person,
    /// Int>(.maximum(\.$age))`.
    public init<O: DynamicObject, T: SelectResultType>(
        _ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...
    ) where Parameters == (O, T) {
        self.init([selectTerm] + selectTerms)
    }

    /// Columns, of which a query for one value returns the first.
    public init<O: DynamicObject, T: SelectResultType>(
        _ selectTerms: [SelectTerm<O>]
    ) where Parameters == (O, T) {
        self.init(selectTerms: selectTerms.map { SelectTerm($0.column) })
    }

    /// Columns by name, of the class that the query names.
    public init<T: SelectResultType>(
        _ selectTerm: SelectTerm<CoreStoreObject>, _ selectTerms: SelectTerm<CoreStoreObject>...
    ) where Parameters == T {
        self.init(selectTerms: [selectTerm] + selectTerms)
    }

    /// One attribute.
    public init<O: CoreStoreObject, B: CoreStoreObject, T: QueryableAttributeType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<T>>
    ) where Parameters == (O, T) {
        self.init([SelectTerm<O>.attribute(keyPath)])
    }

    /// One attribute that may be nil.
    public init<O: CoreStoreObject, B: CoreStoreObject, T: QueryableAttributeType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<T?>>
    ) where Parameters == (O, T) {
        self.init([SelectTerm<O>.attribute(keyPath)])
    }

    /// The objects' IDs.
    public init<O: DynamicObject>() where Parameters == (O, NSManagedObjectID) {
        self.init([SelectTerm<O>.objectID()])
    }
}
