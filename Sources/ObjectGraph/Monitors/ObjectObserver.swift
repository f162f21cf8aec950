/// Receives the changes of an ``ObjectMonitor``'s object, where the stack's view lives.
///
/// Each callback has a longer form with the source identifier of the transaction. Implement one of
/// the two, or neither: the longer form calls the shorter one unless it is implemented.
public protocol ObjectObserver: AnyObject {
    /// The class of the object.
    associatedtype ObjectEntityType: DynamicObject

    /// Called before the object changes or is deleted. It has the values of the commit before.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType,
        sourceIdentifier: Any?)
    /// Called before the object changes or is deleted, without the source identifier.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType)

    /// Called after the object has changed.
    ///
    /// - Parameters:
    ///   - monitor: the monitor of the object.
    ///   - object: the object, with its new values.
    ///   - changedPersistentKeys: the names of the changed properties, relationships included.
    ///   - sourceIdentifier: the identifier that the program gave the transaction.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>, sourceIdentifier: Any?)
    /// Called after the object has changed, without the source identifier.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>)

    /// Called after the object was deleted. It keeps its last values.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType,
        sourceIdentifier: Any?)
    /// Called after the object was deleted, without the source identifier.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType)
}

extension ObjectObserver {
    /// Calls the form without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType,
        sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, willUpdateObject: object)
    }
    /// Does nothing.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType
    ) {}

    /// Calls the form without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>, sourceIdentifier: Any?
    ) {
        objectMonitor(
            monitor, didUpdateObject: object, changedPersistentKeys: changedPersistentKeys)
    }
    /// Does nothing.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>
    ) {}

    /// Calls the form without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType,
        sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, didDeleteObject: object)
    }
    /// Does nothing.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType
    ) {}
}

/// A change of an observed object.
enum ObjectEvent<O: DynamicObject> {
    case willUpdate(O)
    case didUpdate(O, Set<KeyPathString>)
    case didDelete(O)
}

/// An observer of an object, which its monitor does not keep alive.
final class ObjectObserverEntry<O: DynamicObject> {
    private(set) weak var observer: AnyObject?
    /// Nil after the observer was removed.
    private var call: ((ObjectMonitor<O>, ObjectEvent<O>, Any?) -> Void)?

    init<U: ObjectObserver>(_ observer: U) where U.ObjectEntityType == O {
        self.observer = observer
        call = { [weak observer] monitor, event, identifier in
            switch event {
            case .willUpdate(let object):
                observer?.objectMonitor(
                    monitor, willUpdateObject: object, sourceIdentifier: identifier)
            case .didUpdate(let object, let names):
                observer?.objectMonitor(
                    monitor, didUpdateObject: object, changedPersistentKeys: names,
                    sourceIdentifier: identifier)
            case .didDelete(let object):
                observer?.objectMonitor(
                    monitor, didDeleteObject: object, sourceIdentifier: identifier)
            }
        }
    }

    func tell(_ monitor: ObjectMonitor<O>, _ event: ObjectEvent<O>, _ identifier: Any?) {
        call?(monitor, event, identifier)
    }

    /// Stops all calls of the observer, even in a delivery that is running.
    func end() { (call, observer) = (nil, nil) }

    /// Calls the observer as another entry of it would.
    func take(from other: ObjectObserverEntry) { call = other.call }
}
