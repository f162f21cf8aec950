import RecordStore
import Synchronization

/// A program's objects: its model, its stores, a view to read them by and transactions to change
/// them.
///
/// Fetches on the stack read its view: a commit's state that stays the same until the view moves,
/// which it does where it lives (``ViewContext``), at the next use after a commit. Any thread may
/// run transactions, one at a time; nobody waits for the view.
public final class DataStack: Equatable, @unchecked Sendable {
    /// The name of the program: of its executable.
    public static var applicationName: String {
        let name = ProcessInfo.processInfo.processName
        return name.isEmpty ? "Trellis" : name
    }

    /// All versions of the model.
    public let schemaHistory: SchemaHistory
    /// Data of the program's own.
    public let userInfo = UserInfo()
    /// Leads to the stack from its view, from transactions and from what follows other processes.
    let link = WeakLink<DataStack>()
    let viewExecutor: ViewExecutor
    let writerTurn = WriterTurn()
    /// The order in which the view learns of transactions: that of their turns.
    let announcingTurn = WriterTurn()
    let audience = ExternalCommitAudience()
    /// Whether the view will move by itself, so that it is told once.
    let isMovePlanned = Atomic<Bool>(false)
    let transactionQueue = DispatchQueue(label: "org.trellis.transactions")
    private let attached = Mutex<[AttachedStore]>([])
    /// What the view has not taken over yet: one change however many commits there were, so that
    /// a view that nobody uses holds one commit's pages and not all of them.
    private let pendingChange = Mutex<CommittedChange?>(nil)
    /// Whether there is one, so that a fetch that has nothing to take over takes no lock.
    private let isChangePending = Atomic<Bool>(false)
    /// Set before the view first reads: commits from before need not be told to it.
    private let hasView = Atomic<Bool>(false)
    /// Storages are opened one at a time.
    let storageLock = NSRecursiveLock()
    /// Guards the view's objects against fetches from elsewhere, which are misuse and must not
    /// tear anything.
    let viewLock = NSRecursiveLock()
    private var view: ObjectContext?

    /// A stack for one or several versions of a model.
    ///
    /// - Parameters:
    ///   - migrationChain: the order of the versions; its single end is the current one.
    ///   - viewContext: where the stack's objects are used and completions are called.
    public convenience init(
        _ schema: any DynamicSchema, _ otherSchema: any DynamicSchema...,
        migrationChain: MigrationChain = nil, viewContext: ViewContext = .main
    ) {
        self.init(
            schemaHistory: SchemaHistory(
                allSchema: [schema] + otherSchema, migrationChain: migrationChain),
            viewContext: viewContext)
    }

    public init(schemaHistory: SchemaHistory, viewContext: ViewContext = .main) {
        self.schemaHistory = schemaHistory
        viewExecutor = ViewExecutor(viewContext)
        _ = schemaHistory.current
        link.begin(self)
    }

    deinit {
        link.end()
        audience.end()
        view?.end()
        for store in attached.withLock({ $0 }) { try? store.database.close() }
    }

    public static func == (left: DataStack, right: DataStack) -> Bool { left === right }

    /// The name of the current version.
    public var modelVersion: ModelVersion { schemaHistory.currentModelVersion }

    /// The current version.
    public var modelSchema: any DynamicSchema { schemaHistory.currentSchema }

    /// The entities of the current version whose class is the given one or below it.
    public func entityTypesByName(
        for type: CoreStoreObject.Type
    ) -> [EntityName: CoreStoreObject.Type] {
        schemaHistory.current.model.classes.filter { _, candidate in
            var current: AnyClass? = candidate
            while let above = current {
                if above == type { return true }
                current = _getSuperclass(above)
            }
            return false
        }
    }

    /// What the stack's stores have done since they were opened, and what they take now, added up;
    /// times and places of one store are its own.
    ///
    /// Cheap enough to ask every second: no file is read. Three questions that it answers:
    /// - *Is the cache large enough?* ``StoreStatistics/pagesRead`` beside
    ///   ``StoreStatistics/pageLookups``.
    /// - *Why does the file grow?* ``StoreStatistics/freeBytes`` are used again by themselves,
    ///   ``StoreStatistics/pendingBytes`` after the next checkpoints, and
    ///   ``StoreStatistics/heldBytes`` when the reader that ``StoreStatistics/oldestReaderAge``
    ///   tells of has moved on.
    /// - *How long would opening take after a crash?* As long as reading
    ///   ``StoreStatistics/logBytes``.
    ///
    /// Space is counted from the first transaction on, as nothing before needs to know it. What
    /// each tree of a file takes is shown by `trellis stats`.
    public var statistics: DataStackStatistics {
        var sum = DataStackStatistics()
        for store in stores { sum.add(store.database.statistics) }
        viewLock.lock()
        defer { viewLock.unlock() }
        sum.objectsMade = UInt64(view?.objectsMade ?? 0) + transactionObjectsMade
        return sum
    }

    private let madeInTransactions = Atomic<UInt64>(0)
    var transactionObjectsMade: UInt64 { madeInTransactions.load(ordering: .relaxed) }
    func noteObjectsMade(_ count: Int) {
        madeInTransactions.wrappingAdd(UInt64(count), ordering: .relaxed)
    }

    // MARK: Stores

    var stores: [AttachedStore] { attached.withLock { $0 } }

    func store(_ id: UUID) -> AttachedStore? { stores.first { $0.id == id } }

    /// The stores that have a class's entity, of some configurations or of any.
    func stores(
        for type: CoreStoreObject.Type, in configurations: [ModelConfiguration]?
    ) -> [AttachedStore] {
        let all = stores
        // Most stacks have one.
        if configurations == nil, all.count == 1, all[0].entities[ObjectIdentifier(type)] != nil {
            return all
        }
        return all.filter { store in
            store.entities[ObjectIdentifier(type)] != nil
                && (configurations?.contains { $0 == store.configuration } ?? true)
        }
    }

    /// The one store that has a class's entity, and the entity; nil when several stores have it, or
    /// none.
    func soleStore(
        for type: CoreStoreObject.Type, in configurations: [ModelConfiguration]?
    ) -> (store: AttachedStore, entity: EntityLayout)? {
        // Most stacks have one, and no list of it is made.
        let only = attached.withLock { $0.count == 1 ? $0[0] : nil }
        guard configurations == nil, let only else {
            let found = stores(for: type, in: configurations)
            guard found.count == 1, let entity = found[0].entities[ObjectIdentifier(type)] else {
                return nil
            }
            return (found[0], entity)
        }
        return only.entities[ObjectIdentifier(type)].map { (only, $0) }
    }

    func attach(_ store: AttachedStore) { attached.withLock { $0.append(store) } }

    func detachAll() -> [AttachedStore] {
        attached.withLock { stores in
            defer { stores = [] }
            return stores
        }
    }

    /// The object ID that a URI names; nil unless its store is attached.
    public func objectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "trellis", let host = url.host, let storeID = UUID(uuidString: host),
            let store = store(storeID), parts.count == 2, parts[1].first == "p",
            let number = UInt64(parts[1].dropFirst()),
            let entity = store.database.schema.entity(named: String(parts[0]))
        else { return nil }
        return NSManagedObjectID(ObjectNumber(number), in: store.home(of: entity))
    }

    // MARK: The view

    /// The view, moved to the newest commit when the caller is where it lives.
    func currentView() -> ObjectContext {
        viewLock.lock()
        defer { viewLock.unlock() }
        return lockedView(isCurrent: viewExecutor.isCurrent)
    }

    /// The same where the lock is held, and known whether the caller is where the view lives.
    private func lockedView(isCurrent: Bool) -> ObjectContext {
        if view == nil {
            view = ObjectContext(viewOf: self)
            hasView.store(true, ordering: .sequentiallyConsistent)
        }
        guard let view else { preconditionFailure("the view was just made") }
        if isCurrent { moveView(view) }
        return view
    }

    private func moveView(_ view: ObjectContext) {
        guard isChangePending.load(ordering: .acquiring) else { return }
        let change = pendingChange.withLock { pending in
            defer { pending = nil }
            isChangePending.store(false, ordering: .relaxed)
            return pending
        }
        guard let change else { return }
        for part in change.parts {
            guard !part.isUnknown else {
                view.readAgain(part.store, from: part.snapshot)
                continue
            }
            view.prepare(for: part)
            view.move(to: part.snapshot, of: part.store)
            view.apply(part)
        }
    }

    /// Called in the order of the commits.
    func enqueue(_ change: CommittedChange) {
        guard hasReaders else { return }
        pendingChange.withLock { pending in
            if pending == nil { pending = change } else { pending?.add(change) }
            isChangePending.store(true, ordering: .releasing)
        }
    }

    /// Whether there is a view that changes are to be told to.
    var hasReaders: Bool { hasView.load(ordering: .sequentiallyConsistent) }

    func forgetView() {
        viewLock.lock()
        defer { viewLock.unlock() }
        view?.end()
        view = nil
        hasView.store(false, ordering: .sequentiallyConsistent)
        pendingChange.withLock { $0 = nil }
    }

    /// Runs a closure with the view. Misuse from elsewhere is reported, and does not tear.
    func withView<Result, Failure>(
        _ body: (ObjectContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let view = lockView()
        defer { viewLock.unlock() }
        return try body(view)
    }

    /// The view, whose lock the caller opens when it is done.
    func lockView() -> ObjectContext {
        let isCurrent = viewExecutor.isCurrent
        Log.assert(
            isCurrent,
            "a stack is fetched from where its view lives: the main thread unless it was made "
                + "with another viewContext")
        viewLock.lock()
        return lockedView(isCurrent: isCurrent)
    }

    /// Reads every live object of the view again.
    public func refreshAndMergeAllObjects() {
        withView { view in
            for store in stores {
                guard let snapshot = try? store.database.snapshot() else { continue }
                view.readAgain(store, from: snapshot)
            }
        }
    }
}

/// ``DataStack/statistics``: counters of the engine, and objects made.
@dynamicMemberLookup
public struct DataStackStatistics: Hashable, Sendable {
    /// The engine's counters, added up over the stores.
    public private(set) var store = StoreStatistics()
    /// Objects made by fetches and transactions. Counts, aggregates and conditions make none.
    public internal(set) var objectsMade: UInt64 = 0

    public subscript<Value>(dynamicMember member: KeyPath<StoreStatistics, Value>) -> Value {
        store[keyPath: member]
    }

    mutating func add(_ other: StoreStatistics) {
        store.bytesRead += other.bytesRead
        store.bytesWritten += other.bytesWritten
        store.pagesRead += other.pagesRead
        store.pageLookups += other.pageLookups
        store.commits += other.commits
        store.checkpoints += other.checkpoints
        store.logBytes += other.logBytes
        store.fileSizeInBytes += other.fileSizeInBytes
        store.heldBytes += other.heldBytes
        store.pendingBytes += other.pendingBytes
        store.freeBytes += other.freeBytes
        store.cacheBytes += other.cacheBytes
        store.changedBytes += other.changedBytes
        if let age = other.oldestReaderAge, age >= store.oldestReaderAge ?? .zero {
            store.oldestReaderAge = age
            store.oldestReaderGeneration = other.oldestReaderGeneration
        }
        store.generation = max(store.generation, other.generation)
        store.commitNumber = max(store.commitNumber, other.commitNumber)
    }
}
