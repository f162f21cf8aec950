import RecordStore

/// An object whose changes are delivered by property: ``DataStack/monitorObject(_:)``, and with
/// changes of related objects ``DataStack/monitorObject(_:watching:)-(_,[Watching<O>])``.
///
/// Or an object of an unsafe transaction. The monitor is used where the stack's view lives, or
/// where the transaction is used, and retains neither the object nor its observers.
public final class ObjectMonitor<O: DynamicObject>: Hashable {
    public typealias ObjectType = O

    private var watch: ObjectWatch
    private let link: WeakLink<DataStack>
    /// Nil for an object of the view.
    private let edited: EditedWatch?
    /// Data that the program attaches to the monitor.
    public let userInfo = UserInfo()
    private var observers: [ObjectObserverEntry<O>] = []
    /// Set from the move on to the commit that deleted the object.
    private var isGone = false
    /// Of the delivery that is running.
    private var fate = Delivery.Fate.none
    private var names: Set<KeyPathString> = []
    private var told: [ObjectObserverEntry<O>] = []
    private var observed: O?

    /// - Parameter context: of the transaction that has the object; nil for one of the view.
    init(
        _ id: NSManagedObjectID, _ paths: [[String]], _ stack: DataStack,
        in context: UnsafeContext? = nil
    ) {
        watch = ObjectWatch(id, paths, stack)
        link = stack.link
        edited = context.map { EditedWatch(id, stack, $0) }
    }

    deinit {
        link.object?.observers.remove(self)
        edited?.context?.observers?.remove(self)
    }

    /// The object; nil when it was deleted.
    public var object: O? {
        if let edited { return edited.context?.source?.fetchExisting(watch.id) }
        return isGone ? nil : link.object?.fetchExisting(watch.id)
    }

    /// Whether the object was deleted, or cannot be found for another reason.
    public var isObjectDeleted: Bool { object == nil }

    /// The object's identity, also after its deletion.
    public func objectID() -> O.ObjectID { watch.id }

    /// The stack; nil when it has ended.
    public func cs_dataStack() -> DataStack? { link.object }

    public static func == (left: ObjectMonitor, right: ObjectMonitor) -> Bool { left === right }
    /// Whether both are the same monitor.
    public static func ~= (pattern: ObjectMonitor, value: ObjectMonitor) -> Bool {
        pattern === value
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Observers

    /// Adds an observer, which is not retained. It replaces the same observer if that was added
    /// before.
    public func addObserver<U: ObjectObserver>(_ observer: U) where U.ObjectEntityType == O {
        checkExecutor()
        let entry = ObjectObserverEntry<O>(observer)
        // A delivery that is running goes on with the entry that it has begun with.
        if let known = observers.first(where: { $0.observer === observer }) {
            return known.take(from: entry)
        }
        observers.append(entry)
        observers.removeAll { $0.observer == nil }
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver<U: ObjectObserver>(_ observer: U) where U.ObjectEntityType == O {
        checkExecutor()
        for entry in observers where entry.observer === observer { entry.end() }
        observers.removeAll { $0.observer == nil }
    }

    private func checkExecutor() {
        Log.assert(
            edited != nil || link.object?.viewExecutor.isCurrent ?? true,
            "a monitor is used from where the stack's view lives")
    }
}

/// Whether both are the same monitor, whatever their types.
public func == <T, U>(left: ObjectMonitor<T>, right: ObjectMonitor<U>) -> Bool { left === right }
/// Whether both are the same monitor, whatever their types.
public func ~= <T, U>(pattern: ObjectMonitor<T>, value: ObjectMonitor<U>) -> Bool {
    pattern === value
}

extension ObjectMonitor: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        (fate, names) = watch.fate(in: delivery, "an observed object could not be compared.")
        return fate != .none
    }

    func tellBefore(_ delivery: Delivery) {
        // One whose deletion could not be told with its own step is no longer found.
        tellBefore(object ?? delivery.stack.knownObject(watch.id) as? O, delivery.sourceIdentifier)
    }

    func keepOld(_ delivery: Delivery) {
        isGone = fate == .deleted
        if isGone {
            (observed as? CoreStoreObject)?.loadRow()
        }
    }

    func tellChanges(_ delivery: Delivery) { tellChanges(delivery.sourceIdentifier) }

    private func tellBefore(_ object: O?, _ identifier: Any?) {
        told = observers
        guard !told.isEmpty, let object else { return }
        observed = object
        for observer in told { observer.tell(self, .willUpdate(object), identifier) }
    }

    private func tellChanges(_ identifier: Any?) {
        let (observers, object) = (told, observed)
        (told, observed) = ([], nil)
        guard let object else { return }
        let event: ObjectEvent<O> =
            fate == .deleted ? .didDelete(object) : .didUpdate(object, names)
        for observer in observers { observer.tell(self, event, identifier) }
    }
}

extension ObjectMonitor: TransactionParticipant {
    func prepare(_ delivery: TransactionDelivery) -> Bool {
        (fate, names) = edited?.fate(in: delivery) ?? (.none, [])
        return fate != .none
    }

    func tellBefore(_ delivery: TransactionDelivery) {
        // One that was deleted is no longer found.
        tellBefore(edited?.liveObject as? O, delivery.sourceIdentifier)
    }

    func show(_ delivery: TransactionDelivery) {}

    func tellChanges(_ delivery: TransactionDelivery) { tellChanges(delivery.sourceIdentifier) }

    func tellAfter(_ delivery: TransactionDelivery) { edited?.endDelivery() }

    func transactionEnded() { edited?.end() }
}

/// An object of an unsafe transaction that is observed.
private final class EditedWatch {
    private let id: NSManagedObjectID
    private let store: AttachedStore?
    private(set) weak var context: UnsafeContext?
    /// The state of the last delivery; nil when the transaction has ended.
    private var shown: RecordReader?
    /// The state before the delivery that is running.
    private var before: RecordReader?

    init(_ id: NSManagedObjectID, _ stack: DataStack, _ context: UnsafeContext) {
        self.id = id
        self.context = context
        store = stack.store(id.storeID)
        do throws(StoreError) {
            if let store { shown = try context.frozen(store) }
        } catch {
            context.fail(error, "an object to be observed could not be read.")
        }
    }

    /// The object; after its deletion with its last values.
    var liveObject: CoreStoreObject? {
        guard let store, let context else { return nil }
        let hierarchy = id.entity.hierarchy
        if let known = context.registered(id.number, in: hierarchy, of: store) { return known }
        do throws(StoreError) {
            if let object = try context.object(id.number, in: hierarchy, of: store) {
                return object
            }
            guard let before else { return nil }
            return try context.goneObject(id.number, in: hierarchy, of: store, as: before)
        } catch {
            context.fail(error, "an observed object cannot be read.")
            return nil
        }
    }

    /// Releases the transaction's states, which keep the file's space from being reused.
    func end() { (shown, before) = (nil, nil) }

    /// Releases the state that the delivery which is running began with.
    func endDelivery() { before = nil }

    /// The differences since the last call.
    func fate(
        in delivery: TransactionDelivery
    ) -> (fate: Delivery.Fate, names: Set<KeyPathString>) {
        guard let store, let shown else { return (.none, []) }
        do throws(StoreError) {
            let after = try delivery.reader(of: store)
            let found = try fate(shown, after)
            before = found.fate == .none ? nil : shown
            self.shown = after
            return found
        } catch {
            delivery.miss(error, "an observed object could not be compared.")
            return (.none, [])
        }
    }

    private func fate(
        _ before: RecordReader, _ after: RecordReader
    ) throws(StoreError) -> (fate: Delivery.Fate, names: Set<KeyPathString>) {
        let hierarchy = id.entity.hierarchy
        let wasThere = try before.contains(id.number, in: hierarchy)
        guard let entity = try after.entity(of: id.number, in: hierarchy) else {
            return (wasThere ? .deleted : .none, [])
        }
        guard wasThere else { return (.updated, entity.propertyNames) }
        let names = try RecordDifference(before, after).names(of: id.number, in: hierarchy)
        return (names.isEmpty ? .none : .updated, names)
    }
}
