/// Is told when an ``ObjectMonitor``'s object changes.
///
/// Each callback has a longer form with the source identifier of the transaction; a class
/// implements the one or the other, or neither.
public protocol ObjectObserver: AnyObject {
    associatedtype ObjectEntityType: DynamicObject

    /// Called before the object changes or is deleted. It has the values of the commit before.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType,
        sourceIdentifier: Any?)
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType)

    /// Called after the object has changed.
    ///
    /// - Parameter changedPersistentKeys: the names of the properties that differ, relationships
    ///   included.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>, sourceIdentifier: Any?)
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>)

    /// Called after the object was deleted. It keeps its last values.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType,
        sourceIdentifier: Any?)
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType)
}

extension ObjectObserver {
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType,
        sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, willUpdateObject: object)
    }
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType
    ) {}

    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>, sourceIdentifier: Any?
    ) {
        objectMonitor(
            monitor, didUpdateObject: object, changedPersistentKeys: changedPersistentKeys)
    }
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType,
        changedPersistentKeys: Set<KeyPathString>
    ) {}

    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType,
        sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, didDeleteObject: object)
    }
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType
    ) {}
}

/// What happens to an observed object.
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

    /// Has the observer told nothing more, also by a delivery that is running.
    func end() { (call, observer) = (nil, nil) }
}
