/// A part of a fetch. Clauses and chains of them may be kept in a `static let` and used from any
/// thread.
@preconcurrency
public protocol FetchClause: Sendable {
    /// Adds the clause to a request.
    func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>)
}

/// A clause of a query.
public protocol QueryClause: FetchClause {}

/// A clause of a bulk update or deletion.
public protocol DeleteClause: FetchClause {}

/// A clause that sorts.
public protocol OrderByClause: QueryClause, DeleteClause {
    /// The class whose objects are sorted.
    associatedtype ObjectType: DynamicObject
    /// The order as Foundation's type.
    var sortDescriptors: [NSSortDescriptor] { get }
}

/// A clause that groups a query's rows.
public protocol GroupByClause: QueryClause {
    /// The class whose objects are grouped.
    associatedtype ObjectType: DynamicObject
    /// The properties whose combinations of values are the groups.
    var keyPaths: [KeyPathString] { get }
}

/// A condition on objects of any class.
public protocol AnyWhereClause: QueryClause, DeleteClause {
    /// The condition as a predicate.
    var predicate: NSPredicate { get }
    /// The condition that a predicate states.
    init(_ predicate: NSPredicate)
}

/// A condition on objects of a class.
public protocol WhereClauseType: AnyWhereClause {
    /// The class that the condition is about.
    associatedtype ObjectType: DynamicObject
}
