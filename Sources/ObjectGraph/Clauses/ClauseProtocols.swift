/// A part of a fetch. Clauses and chains of them may be kept in a `static let` and used from any
/// thread.
@preconcurrency
public protocol FetchClause: Sendable {
    /// Adds the clause to what will be fetched.
    func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>)
}

/// A part of a query.
public protocol QueryClause: FetchClause {}

/// A part of a deletion by fetching.
public protocol DeleteClause: FetchClause {}

/// An order of a class.
public protocol OrderByClause: QueryClause, DeleteClause {
    associatedtype ObjectType: DynamicObject
    /// The order as Foundation's type.
    var sortDescriptors: [NSSortDescriptor] { get }
}

/// The groups of a query.
public protocol GroupByClause: QueryClause {
    associatedtype ObjectType: DynamicObject
    /// The properties of which each set of values is a group.
    var keyPaths: [KeyPathString] { get }
}

/// A condition of any class.
public protocol AnyWhereClause: QueryClause, DeleteClause {
    /// The condition as a predicate.
    var predicate: NSPredicate { get }
    /// A condition that a predicate states.
    init(_ predicate: NSPredicate)
}

/// A condition of a class.
public protocol WhereClauseType: AnyWhereClause {
    associatedtype ObjectType: DynamicObject
}
