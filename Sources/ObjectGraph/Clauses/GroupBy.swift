/// One row of a query for each combination of values of these properties.
public struct GroupBy<O: DynamicObject>: GroupByClause, Hashable, Sendable {
    public typealias ObjectType = O

    /// The properties.
    public let keyPaths: [KeyPathString]

    /// No groups.
    public init() { keyPaths = [] }
    /// Groups by these properties, named as the store names them. A path may cross to-one
    /// relationships.
    public init(_ keyPath: KeyPathString, _ keyPaths: KeyPathString...) {
        self.keyPaths = [keyPath] + keyPaths
    }
    /// Groups by these properties, named as the store names them. A path may cross to-one
    /// relationships.
    public init(_ keyPaths: [KeyPathString]) { self.keyPaths = keyPaths }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        if !fetchRequest.terms.groupKeyPaths.isEmpty, fetchRequest.terms.groupKeyPaths != keyPaths {
            Log.message(.warning, "a second GroupBy clause replaces the first")
        }
        fetchRequest.terms.groupKeyPaths = keyPaths
    }
}

extension GroupBy where O: CoreStoreObject {
    /// Groups by a stored property.
    public init<B: CoreStoreObject, V>(_ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>) {
        self.init(Where<O>.name(keyPath))
    }

    /// Groups by a coded property: by its encoded bytes.
    public init<B: CoreStoreObject, V>(_ keyPath: KeyPath<O, FieldContainer<B>.Coded<V>>) {
        self.init(Where<O>.name(keyPath))
    }

    /// Groups by a computed property, which no store has: the query throws `.internalError`.
    public init<B: CoreStoreObject, V>(_ keyPath: KeyPath<O, FieldContainer<B>.Virtual<V>>) {
        self.init(Where<O>.name(keyPath))
    }
}

extension GroupBy where O == CoreStoreObject {
    /// Properties by name, of the class that the query names: `GroupBy("age")`.
    public init(_ keyPath: KeyPathString, _ keyPaths: KeyPathString...) {
        self.init([keyPath] + keyPaths)
    }
}
