/// The ID of an object with its class: tasks and actors pass it to each other instead of the
/// object.
///
/// ```swift
/// let id = person.typedID                       // ObjectID<Person>
/// Task.detached {
///     try await stack.async.perform { transaction in
///         transaction.edit(id)?.name = "Ada"
///     }
/// }
/// ```
///
/// It identifies the object for as long as the store exists, in every context and thread.
public struct ObjectID<O: CoreStoreObject>: Hashable, Sendable, CustomStringConvertible {
    /// The ID without the class.
    public let rawID: NSManagedObjectID

    /// The ID of an object.
    public init(_ object: O) { rawID = object.objectID() }

    /// The typed form of an ID; nil for an object of another class. The stack knows the class of
    /// each entity.
    public init?(_ rawID: NSManagedObjectID, in stack: DataStack) {
        guard let store = stack.store(rawID.storeID),
            store.isObject(of: rawID.entity.tag, a: O.self)
        else { return nil }
        self.rawID = rawID
    }

    public var description: String { rawID.description }
}

extension DynamicObject where Self: CoreStoreObject {
    /// The object's identity with its class.
    public var typedID: ObjectGraph.ObjectID<Self> { ObjectGraph.ObjectID(self) }
}

extension FetchableSource {
    /// This source's instance of an object; nil when it is gone or cannot be read.
    public func fetchExisting<O: CoreStoreObject>(_ id: ObjectID<O>) -> O? {
        fetchExisting(id.rawID)
    }
}

extension BaseDataTransaction {
    /// This transaction's instance of an object, for changing it; nil when it is gone or cannot be
    /// read.
    public func edit<O: CoreStoreObject>(_ id: ObjectID<O>) -> O? {
        checkOpen()
        return fetchExisting(id.rawID)
    }

    /// Deletes an object by its ID and the delete rules of its relationships; an object that is
    /// gone is ignored.
    public func delete<O: CoreStoreObject>(_ id: ObjectID<O>) {
        delete(objectIDs: [id.rawID])
    }
}
