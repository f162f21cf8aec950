import Observation
import RecordStore

/// Notifies of an object's changes, and has its values; see ``DataStack/publishObject(_:)-(O)``.
///
/// It is used where the stack's view lives; a stack has one publisher of an object and class as
/// long as it lives. Properties are read with their dollar: `publisher.$name`.
///
/// Reading is tracked by `withObservationTracking`: of a property that property alone, of the
/// snapshot, the object, and a computed property that names no properties of the object that
/// affect it, every change. So a view is drawn again for the values that it has read.
@dynamicMemberLookup
public final class ObjectPublisher<O: DynamicObject>: Hashable, ObjectRepresentation, Observable {
    public typealias ObjectType = O

    private var watch: ObjectWatch
    private var id: NSManagedObjectID { watch.id }
    private let link: WeakLink<DataStack>
    /// Data that the program attaches to the object.
    public let userInfo = UserInfo()
    private var observers = PublisherObservers<ObjectPublisher<O>>()
    /// Nil before it is first asked for, and after each change.
    private var known: ObjectSnapshot<O>?
    private var isObserving = false
    /// The storage that the object was last in; nil when it was in none. By its name: what prints a
    /// snapshot looks into its publishers.
    private var store: ObjectIdentifier?
    private let reads = TrackedReads()
    /// Properties that were read by themselves.
    private var readProperties: Set<KeyPathString> = []

    init(_ id: NSManagedObjectID, _ paths: [[String]], _ stack: DataStack) {
        watch = ObjectWatch(id, paths, stack)
        link = stack.link
    }

    deinit { link.object?.publishers.remove(self, id, watch.paths) }

    /// The object's identity, also after its deletion.
    public func objectID() -> O.ObjectID { id }
    /// The stack; nil when it has ended.
    public func cs_dataStack() -> DataStack? { link.object }

    /// The object's values as the view shows them; nil when it was deleted.
    public var snapshot: ObjectSnapshot<O>? {
        reads.note()
        return currentSnapshot
    }

    private var currentSnapshot: ObjectSnapshot<O>? {
        observe()
        if known == nil { known = viewObject.flatMap { ObjectSnapshot($0) } }
        return known
    }

    /// The object in the view; nil when it was deleted.
    public var object: O? {
        reads.note()
        observe()
        return viewObject
    }

    private var viewObject: O? { link.object?.fetchExisting(id) }

    private func noteAccess(_ names: Set<KeyPathString>) {
        observe()
        for name in names {
            readProperties.insert(name)
            reads.note(name)
        }
    }

    private func observe() {
        guard !isObserving, let stack = link.object else { return }
        isObserving = true
        _ = noteStore()
        stack.publishers.observe(self, id, watch.paths, stack)
        guard stack.delivery.announced != nil else { return }
        // The step that is being announced finds no observers of this publisher.
        let before = viewObject.flatMap { ObjectSnapshot($0) }
        stack.whenIdle { [weak self] in
            guard let self, !watch.paths.isEmpty || before != currentSnapshot else { return }
            tell(.everything, nil)
        }
    }

    /// Whether both are of the same object of a stack, and watch the same paths from it.
    public static func == (left: ObjectPublisher, right: ObjectPublisher) -> Bool {
        left.id == right.id && left.link === right.link && left.watch.paths == right.watch.paths
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    // MARK: Observers

    /// Adds a closure that is called after each change, as long as the observer lives. The observer
    /// is not retained; it replaces the same observer if that was added before.
    ///
    /// - Parameters:
    ///   - observer: the owner of the closure.
    ///   - notifyInitial: whether the closure is also called at once.
    ///   - callback: receives the publisher, where the view lives.
    public func addObserver<T: AnyObject>(
        _ observer: T, notifyInitial: Bool = false,
        _ callback: @escaping (ObjectPublisher<O>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial) { publisher, _ in callback(publisher) }
    }

    /// Adds a closure that is called after each change with the source identifier of the
    /// transaction.
    ///
    /// - Parameters:
    ///   - observer: the owner of the closure, which is not retained.
    ///   - notifyInitial: whether the closure is also called at once.
    ///   - initialSourceIdentifier: the identifier of the call at once.
    ///   - callback: receives the publisher and the identifier, where the view lives.
    public func addObserver<T: AnyObject>(
        _ observer: T, notifyInitial: Bool = false, initialSourceIdentifier: Any? = nil,
        _ callback: @escaping (ObjectPublisher<O>, _ sourceIdentifier: Any?) -> Void
    ) {
        checkExecutor()
        _ = currentSnapshot
        observers.add(observer, callback)
        if notifyInitial { callback(self, initialSourceIdentifier) }
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver<T: AnyObject>(_ observer: T) {
        checkExecutor()
        observers.remove(observer)
    }

    private func checkExecutor() {
        Log.assert(
            link.object?.viewExecutor.isCurrent ?? true,
            "a publisher is used from where the stack's view lives")
    }
}

extension ObjectPublisher: PublishedObject {
    func change(in delivery: Delivery) -> PublishedChange? {
        let (fate, names) = watch.fate(in: delivery, "a published object could not be compared.")
        switch fate {
        case .none: return nil
        case .updated: return delivery.isRefresh ? .everything : .properties(names)
        case .deleted: return .everything
        }
    }

    func forgetSnapshot() { known = nil }

    func noteStore() -> Bool {
        let now = link.object?.store(id.storeID).map { ObjectIdentifier($0) }
        defer { store = now }
        return store != now
    }

    func tell(_ change: PublishedChange, _ sourceIdentifier: Any?) {
        reads.tell()
        for name in readProperties where change.concerns(name) {
            reads.tell(name)
        }
        observers.tell(self, sourceIdentifier)
    }
}

extension ObjectPublisher where O: CoreStoreObject {
    /// A stored property of the object; nil when it was deleted.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> V? {
        value(member)
    }

    /// A computed property of the object; nil when it was deleted.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Virtual<V>>
    ) -> V? {
        value(member)
    }

    /// A coded property of the object; nil when it was deleted.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Coded<V>>
    ) -> V? {
        value(member)
    }

    func value<K: AnyKeyPathStringConvertible, V>(_ member: KeyPath<O, K>) -> V? {
        let name = Where<O>.name(member)
        guard let object = viewObject else {
            noteAccess([name])
            return nil
        }
        let meta = ClassMeta.of(type(of: object))
        let names = meta.names(affecting: name)
        noteAccess(names)
        // Of one that names none, or those of other objects, not all that it is computed from is
        // known.
        let isOpen = names.contains { name in
            name.contains(".") || meta.declaration(name)?.namesNoSource == true
        }
        if isOpen { reads.note() }
        return (meta.declaration(name) as? ValueField<V>)?.value(of: object)
    }

    /// The publishers of the objects that a relationship leads to; nil when the object was deleted.
    public subscript<B: CoreStoreObject, V: FieldRelationshipType>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Relationship<V>>
    ) -> V.PublishedType? {
        publishers(Where<O>.name(member), of: V.self)
    }

    func publishers<V: FieldRelationshipType>(
        _ name: KeyPathString, of type: V.Type
    ) -> V.PublishedType? {
        noteAccess([name])
        return currentSnapshot?.publishers(name, of: type)
    }

    /// Any other member of the object; nil when it was deleted.
    public subscript<V>(dynamicMember member: KeyPath<O, V>) -> V? {
        object.map { $0[keyPath: member] }
    }
}
