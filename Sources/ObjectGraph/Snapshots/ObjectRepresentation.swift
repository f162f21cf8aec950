/// A value that stands for one stored object of any class.
public protocol AnyObjectRepresentation {
    /// The identity of the object.
    func objectID() -> NSManagedObjectID
    /// The object's stack; nil when it has ended.
    func cs_dataStack() -> DataStack?
}

/// A value that stands for one stored object of a class: the object itself, a publisher, a monitor
/// or a snapshot.
///
/// Objects conform by ``CoreStoreObject``, so that code which is generic over this protocol has
/// `CoreStoreObject` as their `ObjectType`. Calls on an object itself return its own class.
public protocol ObjectRepresentation: AnyObjectRepresentation {
    /// The class of the object.
    associatedtype ObjectType: DynamicObject

    /// The publisher of the object: the same one for each call while it lives.
    func asPublisher(in dataStack: DataStack) -> ObjectPublisher<ObjectType>
    /// The object in a stack's view; nil when it does not exist there.
    func asReadOnly(in dataStack: DataStack) -> ObjectType?
    /// The object in a transaction, for changing it; nil when it does not exist there.
    func asEditable(in transaction: BaseDataTransaction) -> ObjectType?
    /// The values of the object in a stack's view; nil when it does not exist there.
    func asSnapshot(in dataStack: DataStack) -> ObjectSnapshot<ObjectType>?
    /// The values of the object in a transaction; nil when it does not exist there.
    func asSnapshot(in transaction: BaseDataTransaction) -> ObjectSnapshot<ObjectType>?
}

extension ObjectRepresentation {
    /// The publisher of the object: the same one for each call while it lives.
    public func asPublisher(in dataStack: DataStack) -> ObjectPublisher<ObjectType> {
        dataStack.publishObject(objectID())
    }

    /// The object in a stack's view; nil when it does not exist there.
    public func asReadOnly(in dataStack: DataStack) -> ObjectType? {
        dataStack.fetchExisting(objectID())
    }

    /// The object in a transaction, for changing it; nil when it does not exist there.
    public func asEditable(in transaction: BaseDataTransaction) -> ObjectType? {
        transaction.fetchExisting(objectID())
    }

    /// The values of the object in a stack's view; nil when it does not exist there.
    public func asSnapshot(in dataStack: DataStack) -> ObjectSnapshot<ObjectType>? {
        asReadOnly(in: dataStack).flatMap { ObjectSnapshot($0) }
    }

    /// The values of the object in a transaction; nil when it does not exist there.
    public func asSnapshot(
        in transaction: BaseDataTransaction
    ) -> ObjectSnapshot<ObjectType>? {
        asEditable(in: transaction).flatMap { ObjectSnapshot($0) }
    }
}

extension DynamicObject where Self: CoreStoreObject {
    /// The object's stack; nil when it has ended.
    public func cs_dataStack() -> DataStack? { raw?.context.stack }

    /// The publisher of the object: the same one for each call while it lives.
    public func asPublisher(in dataStack: DataStack) -> ObjectPublisher<Self> {
        dataStack.publishObject(objectID())
    }

    /// The publisher of the object in the view of its own stack, also for an object of a
    /// transaction, whose changes it shows after the commit; nil when the stack has ended.
    public func asPublisher() -> ObjectPublisher<Self>? {
        cs_dataStack().map { asPublisher(in: $0) }
    }

    /// The object in a stack's view; nil when it does not exist there.
    public func asReadOnly(in dataStack: DataStack) -> Self? {
        dataStack.fetchExisting(objectID())
    }

    /// The object in a transaction, for changing it; nil when it does not exist there.
    public func asEditable(in transaction: BaseDataTransaction) -> Self? {
        transaction.fetchExisting(objectID())
    }

    /// The object's values in a stack's view; nil when it does not exist there.
    public func asSnapshot(in dataStack: DataStack) -> ObjectSnapshot<Self>? {
        asReadOnly(in: dataStack).flatMap { ObjectSnapshot($0) }
    }

    /// The object's values in a transaction; nil when it does not exist there.
    public func asSnapshot(in transaction: BaseDataTransaction) -> ObjectSnapshot<Self>? {
        asEditable(in: transaction).flatMap { ObjectSnapshot($0) }
    }

    /// The object's current values; nil when it was deleted.
    public func asSnapshot() -> ObjectSnapshot<Self>? { ObjectSnapshot(self) }
}

extension CoreStoreObject: ObjectRepresentation {}
extension ObjectMonitor: ObjectRepresentation {}
