import RecordStore

/// An object whose changes are told by property: ``DataStack/monitorObject(_:)``, and with changes
/// of objects that it is related to: ``DataStack/monitorObject(_:watching:)-([Watching<O>])``.
///
/// It is used where the stack's view lives, and keeps neither the object nor its observers alive.
public final class ObjectMonitor<O: DynamicObject>: Hashable {
    public typealias ObjectType = O

    private let watch: ObjectWatch
    private let link: WeakLink<DataStack>
    /// Data of the program's own.
    public let userInfo = UserInfo()
    private var observers: [ObjectObserverEntry<O>] = []
    /// Set from the move on to the commit that deleted the object.
    private var isGone = false
    /// Of the delivery that is running.
    private var fate = Delivery.Fate.none
    private var names: Set<KeyPathString> = []
    private var told: [ObjectObserverEntry<O>] = []
    private var observed: O?

    init(_ id: NSManagedObjectID, _ paths: [[String]], _ stack: DataStack) {
        watch = ObjectWatch(id, paths, stack)
        link = stack.link
    }

    deinit { link.object?.observers.remove(self) }

    /// The object; nil when it was deleted.
    public var object: O? { isGone ? nil : link.object?.fetchExisting(watch.id) }

    /// Whether the object was deleted, or is not there for another reason.
    public var isObjectDeleted: Bool { object == nil }

    /// The object's identity, also after its deletion.
    public func objectID() -> O.ObjectID { watch.id }

    /// The stack; nil when it is gone.
    public func cs_dataStack() -> DataStack? { link.object }

    public static func == (left: ObjectMonitor, right: ObjectMonitor) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Observers

    /// Adds an observer, which is not kept alive. One that is there already is replaced.
    public func addObserver<U: ObjectObserver>(_ observer: U) where U.ObjectEntityType == O {
        removeObserver(observer)
        observers.append(ObjectObserverEntry(observer))
    }

    /// Removes an observer. It is told nothing more.
    public func removeObserver<U: ObjectObserver>(_ observer: U) where U.ObjectEntityType == O {
        Log.assert(
            link.object?.viewExecutor.isCurrent ?? true,
            "a monitor is used from where the stack's view lives")
        for entry in observers where entry.observer === observer { entry.end() }
        observers.removeAll { $0.observer == nil }
    }
}

extension ObjectMonitor: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        guard !isGone else { return false }
        do throws(StoreError) {
            (fate, names) = try watch.fate(in: delivery)
        } catch {
            Log.error(CoreStoreError(error), "an observed object could not be compared.")
            return false
        }
        return fate != .none
    }

    func tellBefore(_ delivery: Delivery) {
        told = observers
        guard !told.isEmpty, let object else { return }
        observed = object
        for observer in told { observer.tell(self, .willUpdate(object), delivery.sourceIdentifier) }
    }

    func keepOld(_ delivery: Delivery) {
        if fate == .deleted {
            isGone = true
            (observed as? CoreStoreObject)?.loadRow()
        }
    }

    func tellChanges(_ delivery: Delivery) {
        let (observers, object) = (told, observed)
        (told, observed) = ([], nil)
        guard let object else { return }
        let event: ObjectEvent<O> =
            fate == .deleted ? .didDelete(object) : .didUpdate(object, names)
        for observer in observers { observer.tell(self, event, delivery.sourceIdentifier) }
    }
}
