import Primitives
import Query
import RecordStore

import struct Synchronization.Atomic

/// A program's objects: its model, its stores, a view to read them and transactions to change them.
///
/// Fetches on the stack read its view: the state of a commit, which stays until the view moves. It
/// moves where it lives (``ViewContext``), at the next use after a commit. Any thread may run
/// transactions, one at a time; none waits for the view.
///
/// The release of a stack closes its storages. Objects of the view that outlive it keep their
/// values if it is released where the view lives, or ``close()`` was called; otherwise only those
/// that had been read.
public final class DataStack: Equatable, @unchecked Sendable {
    /// The name of the program's executable.
    public static var applicationName: String {
        let name = ProcessInfo.processInfo.processName
        return name.isEmpty ? "Trellis" : name
    }

    /// All versions of the model.
    public let schemaHistory: SchemaHistory
    /// Data that the program attaches to the stack.
    public let userInfo = UserInfo()
    /// Leads to the stack from its view, from transactions and from what follows other processes.
    let link = WeakLink<DataStack>()
    let viewExecutor: ViewExecutor
    let writerLock: WriterLock
    /// The changes of commits, for all that follow them.
    let steps: CommitSteps
    /// The pins of the program.
    let pins = PinBoard()
    /// The steps that the view has not taken yet.
    let viewSteps: ViewSteps
    /// The participants in deliveries of steps.
    let observers: ViewObservers
    let publishers = ObjectPublishers()
    let faults = StorageFaults()
    let transactionQueue: SerialQueue
    private let attached = Mutex<[AttachedStore]>([])
    /// Storages are opened one at a time.
    let storageLock = NSRecursiveLock()
    /// Guards the view's objects against fetches from elsewhere, which are misuse and must not
    /// tear anything.
    let viewLock: RecursiveLock
    private(set) var view: StackView?
    /// How far a delivery is; changed with the lock held.
    var delivery = DeliveryState()

    /// A stack for one or several versions of a model. It opens no storage; add one with
    /// `addStorageAndWait`. Versions of which none, or several, could be the current one stop the
    /// program.
    ///
    /// - Parameters:
    ///   - schema: a version of the model.
    ///   - otherSchema: its other versions.
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

    /// A stack for the versions of a model's history.
    ///
    /// - Parameters:
    ///   - schemaHistory: the versions, and which is the current one.
    ///   - viewContext: where the stack's objects are used and completions are called.
    public convenience init(schemaHistory: SchemaHistory, viewContext: ViewContext = .main) {
        self.init(schemaHistory: schemaHistory, viewContext: viewContext, schedule: nil)
    }

    /// - Parameter schedule: decides who goes on where threads of the stack meet; those of its
    ///   stores have their own.
    package init(
        schemaHistory: SchemaHistory, viewContext: ViewContext, schedule: (any Schedule)?
    ) {
        self.schemaHistory = schemaHistory
        viewExecutor = ViewExecutor(viewContext)
        writerLock = WriterLock(schedule)
        steps = CommitSteps(schedule)
        transactionQueue = SerialQueue("org.trellis.transactions", schedule)
        viewLock = RecursiveLock(schedule)
        viewSteps = ViewSteps(link, viewExecutor, faults, schedule)
        observers = ViewObservers(viewSteps)
        _ = schemaHistory.current
        link.begin(self)
    }

    deinit {
        link.end()
        steps.end()
        // Elsewhere its objects may be in use, and are not touched.
        if viewExecutor.isCurrent { view?.forgetAll() } else { view?.end() }
        for store in attached.withLock({ $0 }) {
            do throws(StoreError) {
                try store.close()
            } catch {
                faults.report(CoreStoreError(error), "a storage could not be closed.")
            }
        }
    }

    public static func == (left: DataStack, right: DataStack) -> Bool { left === right }

    /// The name of the model's current version.
    public var modelVersion: ModelVersion { schemaHistory.currentModelVersion }

    /// The model's current version.
    public var modelSchema: any DynamicSchema { schemaHistory.currentSchema }

    /// The classes of the current version that are the given one or inherit from it, by the names
    /// of their entities.
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

    /// The counters of the stack's stores since they were opened, and the space that they take now,
    /// added up over the stores. Times and positions are those of a single store.
    ///
    /// It reads no file, and costs so little that a program may ask for it every second. Three
    /// questions that it answers:
    /// - *Is the cache large enough?* Compare `pagesRead` with `pageLookups`.
    /// - *Why does the file grow?* `freeBytes` are reused at once, `pendingBytes` after the next
    ///   checkpoints, and `heldBytes` when the reader of the age `oldestReaderAge` has moved on;
    ///   ``DataStackStatistics/pins`` names the program's own readers.
    /// - *How long would opening take after a crash?* As long as reading `logBytes`.
    ///
    /// Space is counted from the first transaction on. `trellis stats` shows the space that each
    /// tree of a file takes.
    public var statistics: DataStackStatistics {
        var sum = DataStackStatistics()
        for store in stores {
            sum.add(store.database.statistics)
            let options = (store.storage as? LocalStore)?.engineOptions
            let budget = store.shared?.cacheBudget ?? options?.cacheBudget
            if let budget { sum.cacheBudgets.append(budget) }
        }
        sum.pins = pins.all
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

    /// The stores that have a class's entity, among those that a request is limited to.
    func stores(
        for type: CoreStoreObject.Type, in configurations: [ModelConfiguration]?,
        of affected: [any StorageInterface]?
    ) -> [AttachedStore] {
        let stores = stores(for: type, in: configurations)
        guard let affected else { return stores }
        return stores.filter { store in affected.contains { $0 === store.storage } }
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
        let detached = attached.withLock { stores in
            defer { stores = [] }
            return stores
        }
        for store in detached { steps.forgetFailure(of: store.id) }
        return detached
    }

    /// Takes one storage out; nil when the stack has not added it.
    func detach(_ storage: any StorageInterface) -> AttachedStore? {
        let detached = attached.withLock { stores in
            stores.firstIndex { $0.storage === storage }.map { stores.remove(at: $0) }
        }
        if let detached { steps.forgetFailure(of: detached.id) }
        return detached
    }

    /// The object ID that a URI represents; nil unless its store is attached. The object itself may
    /// be gone.
    public func objectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            let reference = ObjectReference(
                scheme: parts.scheme, host: parts.host, path: parts.percentEncodedPath)
        else { return nil }
        return store(reference.storeID)?.id(reference)
    }

    // MARK: The view

    /// The view where the lock is held.
    ///
    /// While something is observed or a completion waits, the view moves at deliveries alone; else
    /// here, at its use.
    private func lockedView(isCurrent: Bool) -> StackView {
        let view = view ?? makeView()
        if isCurrent, !viewSteps.isEmpty, delivery.isIdle, observers.isEmpty,
            !viewSteps.hasCompletions, let step = viewSteps.takeAll(takesCompletions: false)
        {
            view.take(step)
        }
        return view
    }

    private func makeView() -> StackView {
        let made = StackView(of: self)
        view = made
        // Before the view first reads: the steps of earlier commits are not needed.
        steps.subscribe(viewSteps)
        return made
    }

    /// Has the view begin where the stores are now, so that a completion sees its own commit also
    /// when it is the first to look.
    func beginView() {
        viewLock.lock()
        defer { viewLock.unlock() }
        (view ?? makeView()).begin(stores)
    }

    /// Runs a closure with the view if there is one.
    func withViewIfMade<Result>(_ body: (StackView) throws -> Result) rethrows -> Result? {
        viewLock.lock()
        defer { viewLock.unlock() }
        return try view.map(body)
    }

    /// A step to the newest commits, outside of the order of transactions.
    func publishNewest(_ content: CommitStep.Content) {
        guard steps.hasSubscribers else { return }
        let parts = stores.compactMap { store in
            (try? store.database.snapshot()).map {
                CommitStep.Part(store: store, snapshot: $0, content: content)
            }
        }
        let step = CommitStep(parts, origin: .maintenance)
        // A snapshot may show commits whose steps wait for their turns, and tells them apart by no
        // source: each commit that it shows has reserved its turn by now.
        if case .relocation = content {
            steps.publish(step, at: steps.reserve())
        } else {
            steps.publish(step)
        }
    }

    func forgetView() {
        viewLock.lock()
        steps.unsubscribe(viewSteps)
        view?.forgetAll()
        view = nil
        viewLock.unlock()
        viewSteps.dropParts()
    }

    /// Has the view forget a storage that was detached. Objects of others stay what they are.
    func forgetInView(_ store: AttachedStore) {
        withViewIfMade { $0.forget(store) }
        viewSteps.drop(store)
    }

    /// Runs a closure with the view. Misuse from elsewhere is reported, and does not tear.
    func withView<Result, Failure>(
        _ body: (StackView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let view = lockView()
        defer { viewLock.unlock() }
        return try body(view)
    }

    /// The view, whose lock the caller opens when it is done.
    func lockView() -> StackView {
        let isCurrent = viewExecutor.isCurrent
        Log.assert(
            isCurrent,
            "a stack is fetched from where its view lives: the main thread unless it was made "
                + "with another viewContext")
        return lockView(isCurrent: isCurrent)
    }

    /// The view, for a caller that knows whether it is where the view lives.
    func lockView(isCurrent: Bool) -> StackView {
        viewLock.lock()
        return lockedView(isCurrent: isCurrent)
    }

    /// Moves the view to the newest commits, and has each of its live objects read its values
    /// again. Observers are notified. Call it where the view lives.
    public func refreshAndMergeAllObjects() {
        // The view is there first, so that it receives the step.
        withView { _ in publishNewest(.unknown) }
        deliver()
    }
}

/// The counters of ``DataStack/statistics``: those of the engine, and the number of objects made.
@dynamicMemberLookup
public struct DataStackStatistics: Hashable, Sendable {
    /// The engine's counters, added up over the stores.
    public private(set) var store = StoreStatistics()
    /// The number of objects that fetches and transactions made. Counts, aggregates and conditions
    /// make none.
    public internal(set) var objectsMade: UInt64 = 0
    /// The memory in which each storage with a file keeps pages, and where its size comes from, in
    /// the order in which the storages were added.
    public internal(set) var cacheBudgets: [CacheBudget] = []
    /// The read views and unsafe transactions that live, the oldest first.
    public internal(set) var pins: [Pin] = []

    /// A counter of the engine.
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
