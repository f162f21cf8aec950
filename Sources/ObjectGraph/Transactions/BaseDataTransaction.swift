import RecordStore

/// The functions of all transactions: create, edit, delete, import and fetch objects.
///
/// A transaction and its objects are for the closure that received it, on the thread that runs it.
public class BaseDataTransaction {
    let stack: DataStack
    private let link = WeakLink<BaseDataTransaction>()
    private var lastKind: ObjectKind?
    let context: EditingContext
    /// The imports that run, when they belong together.
    var importPass: ImportPass?
    /// How many sources of an import are looked up together.
    package var importBatchCount = 10_000
    /// Passed on to observers, to tell where the changes came from.
    public let sourceIdentifier: Any?
    /// Data that the program attaches to the transaction.
    public let userInfo = UserInfo()

    required init(stack: DataStack, context: EditingContext, sourceIdentifier: Any?) {
        self.stack = stack
        self.context = context
        self.sourceIdentifier = sourceIdentifier
        context.transactionLink = link
        link.begin(self)
    }

    deinit { link.end() }

    func checkOpen() {
        Log.assert(!context.hasEnded, "a transaction was used after it had ended")
        #if DEBUG
            Log.assert(
                isUsedByCaller || context.hasEnded,
                "a transaction was used on another thread than the one that runs its closure")
        #endif
    }

    /// Whether the caller is where the transaction is used, as far as that is known.
    var isUsedByCaller: Bool { stack.writerLock.isHeldByCaller }

    /// Whether the transaction created, changed or deleted anything.
    public var hasChanges: Bool { context.changes.hasChanges }

    // MARK: Creating

    /// Creates an object with its defaults, in the one store that has its entity or in that of
    /// `into`'s configuration. It is a mistake of the program, and stops it, if there is no such
    /// store or several, or if the entity is abstract.
    ///
    /// If the store cannot be read the object is never stored, and the commit throws.
    public func create<O: DynamicObject>(_ into: Into<O>) -> O {
        checkOpen()
        let kind = kind(of: into)
        do throws(StoreError) {
            try context.makeRoom()
            guard let object = try context.create(kind) as? O else {
                Log.abort("the class of \(kind.entity.name) is not \(O.self)")
            }
            return object
        } catch {
            context.fail(error, "an object could not be created.")
            return detachedObject(kind.entity, kind.store)
        }
    }

    /// The kind of object to create, looked up once for many objects of one class.
    func kind<O: DynamicObject>(of into: Into<O>) -> ObjectKind {
        let name = ObjectIdentifier(O.self)
        if into.infersStore, let last = lastKind, ObjectIdentifier(last.model.type) == name,
            !last.store.isDetached
        {
            return last
        }
        guard let type = O.self as? CoreStoreObject.Type else {
            Log.abort("\(O.self) is no class of stored objects")
        }
        let configurations: [ModelConfiguration]? =
            into.infersStore ? nil : [into.configuration]
        let stores = stack.stores(for: type, in: configurations)
        guard let store = stores.first, let entity = store.entities[name] else {
            let place =
                into.infersStore ? "" : " in the configuration “\(into.configuration ?? "Default")”"
            Log.abort("no attached store takes objects of \(O.self)\(place)")
        }
        guard stores.count == 1 else {
            Log.abort("several stores take objects of \(O.self): name a configuration in Into")
        }
        guard !entity.isAbstract else {
            Log.abort("\(entity.name) is abstract: create an object of an entity below it")
        }
        do throws(StoreError) {
            let kind = try context.access(to: store).kind(entity.tag, in: context)
            if into.infersStore { lastKind = kind }
            return kind
        } catch {
            // Creating says so again, unless the fault has passed. Fetches would not know what
            // is made of this kind then, so the commit must not store it.
            context.refuseCommit(error)
            return ObjectKind(context: context, store: store, entity: entity)
        }
    }

    /// An object that no store will ever see, so that a closure can run to its end and meet the
    /// error where it commits.
    private func detachedObject<O: DynamicObject>(
        _ entity: EntityLayout, _ store: AttachedStore
    ) -> O {
        guard let object = context.detached(entity, in: store) as? O else {
            Log.abort("the class of \(entity.name) is not \(O.self)")
        }
        return object
    }

    // MARK: Editing

    /// This transaction's instance of an object, for changing it; nil for nil, and when it is gone
    /// or cannot be read.
    public func edit<O: DynamicObject>(_ object: O?) -> O? {
        guard let object else { return nil }
        return edit(object.objectID())
    }

    /// This transaction's instance of the object with this ID, for changing it; nil when it is gone
    /// or cannot be read. An assertion of the logger fails when `into` names a configuration that
    /// the object is not in.
    public func edit<O: DynamicObject>(
        _ into: Into<O>, _ objectID: NSManagedObjectID
    ) -> O? {
        if !into.infersStore, let store = stack.store(objectID.storeID) {
            Log.assert(
                store.configuration == into.configuration,
                "the object is in another configuration than Into names")
        }
        return edit(objectID)
    }

    private func edit<O: DynamicObject>(_ id: NSManagedObjectID) -> O? {
        checkOpen()
        return fetchExisting(id)
    }

    // MARK: Deleting

    /// Deletes objects by their IDs, by the delete rules of their relationships; unknown IDs are
    /// ignored.
    public func delete<S: Sequence>(objectIDs: S) where S.Element == NSManagedObjectID {
        _ = deleteExisting(objectIDs)
    }

    /// Deletes objects in the order of their numbers, in which their records and links lie near
    /// each other. Returns how many of them were there, by whatever rule they went.
    private func deleteExisting(_ ids: some Sequence<NSManagedObjectID>) -> Int {
        checkOpen()
        let ids = Array(ids)
        let hierarchies = Set(ids.map(\.hierarchy))
        let places = ids.enumerated().map { (number: $1.number.rawValue, index: $0) }
            .sorted { $0.number < $1.number }
        var cascaded: Set<NSManagedObjectID> = []
        var count = 0
        for (_, index) in places {
            do throws(StoreError) {
                try context.makeRoom()
                guard let object = try context.existing(ids[index]) else {
                    if cascaded.remove(ids[index]) != nil { count += 1 }
                    continue
                }
                try context.delete(object) { other in
                    guard hierarchies.contains(other.entity.hierarchy) else { return }
                    cascaded.insert(other.id)
                }
                count += 1
            } catch {
                context.fail(error, "an object could not be deleted.")
            }
        }
        return count
    }

    /// Deletes objects by the delete rules of their relationships: objects of any context, or
    /// publishers, snapshots and monitors of them. Ignores nil and deleted objects.
    public func delete<O: ObjectRepresentation>(_ object: O?, _ objects: O?...) {
        delete(([object] + objects).compactMap { $0 })
    }

    /// Deletes objects by the delete rules of their relationships: a collection of objects, or of
    /// publishers, snapshots and monitors of them, such as a ``ListSnapshot``. Returns how many
    /// existed.
    @discardableResult
    public func delete<S: Sequence>(_ objects: S) -> Int where S.Element: ObjectRepresentation {
        deleteExisting(objects.map { $0.objectID() })
    }

    /// Deletes objects by the delete rules of their relationships, in code that knows their class
    /// only as a `DynamicObject`.
    @_disfavoredOverload
    public func delete<O: DynamicObject>(_ object: O?, _ objects: O?...) {
        delete(([object] + objects).compactMap { $0 })
    }

    /// Deletes objects by the delete rules of their relationships, in code that knows their class
    /// only as a `DynamicObject`. Returns how many existed.
    @_disfavoredOverload @discardableResult
    public func delete<S: Sequence>(_ objects: S) -> Int where S.Element: DynamicObject {
        deleteExisting(objects.map { $0.objectID() })
    }
}

/// The transaction of
/// ``DataStack/perform(synchronous:waitForAllObservers:sourceIdentifier:durability:)``.
public final class SynchronousDataTransaction: BaseDataTransaction {
    /// Ends the transaction and discards all of its changes. Call it with `try`, and let the error
    /// leave the closure.
    ///
    /// - Throws: `.userCancelled`, always.
    public func cancel() throws(CoreStoreError) -> Never { throw CoreStoreError.userCancelled }
}

/// The transaction of ``DataStack/perform(asynchronous:sourceIdentifier:durability:completion:)``.
public final class AsynchronousDataTransaction: BaseDataTransaction {
    /// The result that an asynchronous transaction passes to its completion.
    public typealias Result<T> = Swift.Result<T, CoreStoreError>

    /// Ends the transaction and discards all of its changes. Call it with `try`, and let the error
    /// leave the closure.
    ///
    /// - Throws: `.userCancelled`, always.
    public func cancel() throws(CoreStoreError) -> Never { throw CoreStoreError.userCancelled }
}
