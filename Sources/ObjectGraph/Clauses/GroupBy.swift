/// What a query's rows are made of: one for each set of values of these properties.
public struct GroupBy<O: DynamicObject>: GroupByClause, Hashable, Sendable {
    public typealias ObjectType = O

    /// The properties.
    public let keyPaths: [KeyPathString]

    /// No groups.
    public init() { keyPaths = [] }
    public init(_ keyPath: KeyPathString, _ keyPaths: KeyPathString...) {
        self.keyPaths = [keyPath] + keyPaths
    }
    public init(_ keyPaths: [KeyPathString]) { self.keyPaths = keyPaths }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        if !fetchRequest.terms.groupKeyPaths.isEmpty, fetchRequest.terms.groupKeyPaths != keyPaths {
            Log.message(.warning, "a second GroupBy clause replaces the first")
        }
        fetchRequest.terms.groupKeyPaths = keyPaths
    }
}

extension GroupBy where O: CoreStoreObject {
    public init<B: CoreStoreObject, V>(_ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>) {
        self.init(Where<O>.name(keyPath))
    }
}

extension GroupBy where O == CoreStoreObject {
    /// Properties by name, of the class that the query names: `GroupBy("age")`.
    public init(_ keyPath: KeyPathString, _ keyPaths: KeyPathString...) {
        self.init([keyPath] + keyPaths)
    }
}
