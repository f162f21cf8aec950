import Query
import RecordStore

/// The request of an observed list.
struct ListTerms {
    var type: CoreStoreObject.Type
    var configurations: [ModelConfiguration]?
    var fetch: FetchRequest
    var section: SectionRule
    var watchedPaths: [[String]] = []
    var affectedStores: [any StorageInterface]?

    init<O: DynamicObject>(
        _ from: From<O>, _ section: SectionRule, _ clauses: [any FetchClause]
    ) {
        guard let type = O.self as? CoreStoreObject.Type else {
            Log.abort("\(O.self) is no class of stored objects")
        }
        self.type = type
        configurations = from.configurations
        let terms = FetchTerms(clauses)
        fetch = terms.request
        watchedPaths = terms.watchedPaths
        affectedStores = terms.affectedStores
        self.section = section.of(type)
        Log.assert(
            !fetch.sortKeys.isEmpty, "a list of \(type) that is observed needs an OrderBy clause")
    }

    /// Whether both ask for the same list in the same sections. Titles of sections may differ.
    func asksTheSame(_ other: ListTerms) -> Bool {
        type == other.type && configurations == other.configurations && fetch == other.fetch
            && section.name == other.section.name && watchedPaths == other.watchedPaths
            && affectedStores?.map { ObjectIdentifier($0) }
                == other.affectedStores?.map { ObjectIdentifier($0) }
    }

    /// The stores that the list is fetched from.
    func stores(in stack: DataStack) -> [AttachedStore] {
        stack.stores(for: type, in: configurations, of: affectedStores)
    }
}

/// The list that a monitor has, of a stack's view or of a transaction.
protocol MonitoredList: AnyObject {
    var link: WeakLink<DataStack> { get }
    var terms: ListTerms { get }
    var content: ListContent { get }
    /// The part of IDs that the objects of each store share.
    var storeEntities: [StoreEntity] { get }
    /// Whether the caller is where the list is used, as far as that is known.
    var isUsedByCaller: Bool { get }

    /// Why there are no objects, once the stack or the transaction of the list has ended.
    var endReason: String { get }
    /// The object of an item; nil once the stack or the transaction of the list has ended.
    func liveObject(_ item: ListItem) -> CoreStoreObject?
    /// The index of an object; nil when it is not in the list.
    func index(of id: NSManagedObjectID) -> Int?
    /// How the list follows changes, for people.
    var explanation: String { get }
    /// Fetches other terms when no change is being told. A request replaces those that are under
    /// way: of several the last one alone is fetched, and calls back when the list shows it.
    ///
    /// - Parameter begins: called before the list is fetched, for each request.
    func fetchLater(
        _ terms: ListTerms, begins: @escaping () -> Void, done: @escaping () -> Void)
}

extension MonitoredList {
    /// The object of an item. Stops the program once the stack or the transaction has ended.
    func object(_ item: ListItem) -> CoreStoreObject {
        guard let object = liveObject(item) else { Log.abort(endReason) }
        return object
    }
}

/// The list that a monitor or a publisher has. Used where the view lives.
final class ListFeed: MonitoredList {
    let link: WeakLink<DataStack>
    private(set) var terms: ListTerms
    /// Nil when no attached store has the entity, or when the list could not be fetched.
    private var share: ListShare?
    /// The last request. It replaces all that are under way.
    private var last: (number: Int, terms: ListTerms)
    /// The number of the last request that has ended.
    private var ended = 0
    /// The terms that could not be fetched, because a storage failed.
    private var missed: ListTerms?

    init(_ stack: DataStack, _ terms: ListTerms) {
        link = stack.link
        self.terms = terms
        last = (0, terms)
    }

    /// The list as the view shows it.
    var content: ListContent { share?.shown ?? Self.empty(terms.section) }

    static func empty(_ section: SectionRule) -> ListContent {
        ListContent(
            tree: CountedTree(), names: section.hasSections ? SectionNames() : nil, lineage: 0)
    }

    var isUsedByCaller: Bool { link.object?.viewExecutor.isCurrent ?? true }

    var explanation: String {
        share?.explanation ?? "empty: no attached storage has the entity, or none can be read"
    }

    func whenIdle(_ work: @escaping () -> Void) { link.object?.whenIdle(work) }

    /// Runs a completion of the delivery that is running.
    func complete(_ work: @escaping () -> Void) { link.object?.completeDelivery(work) }

    func change(in delivery: Delivery) -> ListChangeSet? {
        share?.change(in: delivery)
    }

    /// The list after a step that changes it.
    func content(after delivery: Delivery) -> ListedContent? {
        share?.content(after: delivery, storeEntities)
    }

    // MARK: Fetching

    /// Fetches while the caller waits.
    func fetch() throws(CoreStoreError) {
        do throws(CoreStoreError) {
            share = try link.object?.observedList(terms)
        } catch {
            note(error, terms)
            throw error
        }
    }

    /// Fetches other terms while the caller waits; list and terms stay when this throws.
    func fetch(_ terms: ListTerms) throws(CoreStoreError) {
        share = try link.object?.observedList(terms, isShared: false)
        ended = request(terms)
        (self.terms, missed) = (terms, nil)
    }

    /// When the fetch fails, list and terms stay as they are.
    func fetchLater(
        _ terms: ListTerms, begins: @escaping () -> Void = {}, done: @escaping () -> Void
    ) {
        let number = request(terms)
        whenIdle { [weak self] in
            begins()
            self?.fetchInBackground(number, done)
        }
    }

    /// Replaces the requests that are under way; returns the number of the new one.
    private func request(_ terms: ListTerms) -> Int {
        last = (last.number + 1, terms)
        return last.number
    }

    private func fetchInBackground(_ number: Int, _ done: @escaping () -> Void) {
        guard let stack = link.object, number == last.number else { return }
        let terms = last.terms
        // A storage that goes on failing is reported once.
        let isReported = missed.map { terms.asksTheSame($0) } ?? false
        stack.observedList(terms, isReported: isReported) { [weak self] outcome in
            guard let self, number == last.number else { return }
            ended = number
            switch outcome {
            case .success(let share): (self.terms, self.share, missed) = (terms, share, nil)
            case .failure(let failure): note(failure, terms)
            }
            done()
        }
    }

    private func note(_ failure: CoreStoreError, _ terms: ListTerms) {
        // No step makes a request right that cannot be answered.
        missed = failure.isStorageFault ? terms : nil
    }

    private var isUnderWay: Bool { ended != last.number }

    /// The terms that the next step must fetch again, because a storage failed; nil while that is
    /// under way.
    var missedTerms: ListTerms? { isUnderWay ? nil : missed }

    /// The terms that the list is to show, which it may not show yet.
    var wantedTerms: ListTerms { isUnderWay ? last.terms : missed ?? terms }

    /// Whether the stores of the list are no longer those that it is to be fetched from.
    var hasOtherStores: Bool {
        guard let stack = link.object else { return false }
        // A fetch may have begun with the stores that there were.
        if isUnderWay { return true }
        let wanted = wantedTerms.stores(in: stack)
        let known = share?.stores ?? []
        return wanted.count != known.count || !zip(wanted, known).allSatisfy { $0 === $1 }
    }

    // MARK: Objects

    var endReason: String { "the stack of an observed list is gone" }

    /// The object of an item, in the view. One whose record cannot be read has the defaults.
    func liveObject(_ item: ListItem) -> CoreStoreObject? {
        guard let stack = link.object, let store = store(item) else { return nil }
        return stack.withView { view in
            let entity = entity(store)
            do throws(StoreError) {
                if let known = view.registered(item.number, in: entity.hierarchy, of: store) {
                    return known
                }
                let access = try view.access(to: store)
                return try view.object(item.number, in: entity.hierarchy, access)
                    ?? view.goneObject(item.number, access.kind(entity.tag, in: view), access)
            } catch {
                view.fail(error, "an object of an observed list cannot be read.")
                return view.make(
                    item.number, ObjectKind(context: view, store: store, entity: entity))
            }
        }
    }

    private func store(_ item: ListItem) -> AttachedStore? {
        guard let share, share.stores.indices.contains(item.store) else { return nil }
        return share.stores[item.store]
    }

    private func entity(_ store: AttachedStore) -> EntityLayout {
        guard let entity = store.entities[ObjectIdentifier(terms.type)] else {
            Log.abort("a store of a list has no entity of \(terms.type)")
        }
        return entity
    }

    var storeEntities: [StoreEntity] {
        (share?.stores ?? []).map { $0.storeEntity(for: entity($0)) }
    }

    func index(of id: NSManagedObjectID) -> Int? {
        guard let share, let stack = link.object,
            let store = share.stores.firstIndex(where: { $0.id == id.storeID }),
            id.hierarchy == entity(share.stores[store]).hierarchy,
            let item = ListItem(id.number, store: store)
        else { return nil }
        return stack.withView { view in
            let readers = share.stores.compactMap { view.snapshot(of: $0) }
            do {
                return try share.lookup?.index(of: item, in: share.shown, readers)
            } catch {
                stack.faults.report(
                    CoreStoreError(error), "an object could not be looked up in its list.")
                return nil
            }
        }
    }
}

extension DataStack {
    /// A list that is kept up to date from now on.
    ///
    /// - Parameter isShared: whether one that is kept already may do.
    func observedList(
        _ terms: ListTerms, isShared: Bool = true
    ) throws(CoreStoreError) -> ListShare? {
        do {
            return try viewSteps.lists.compute {
                guard let (share, key) = try newShare(terms) else { return nil }
                if isShared, let known = viewSteps.lists.share(key) { return known }
                share.begin(try share.fetched(), 0)
                // The list as it was fetched, which is where the view is.
                share.show(0)
                catchUp(share, key)
                return share
            }
        } catch {
            let failure = error as? CoreStoreError ?? CoreStoreError(error)
            faults.report(failure, "a list to be observed could not be fetched.")
            throw failure
        }
    }

    /// Makes the list in the background; calls back where the view lives, when no step is being
    /// delivered.
    ///
    /// - Parameter isReported: whether the program has been notified already that this fails.
    func observedList(
        _ terms: ListTerms, isReported: Bool,
        _ done: @escaping (Result<ListShare?, CoreStoreError>) -> Void
    ) {
        let faults = faults
        let fail: @Sendable (any Error) -> CoreStoreError = { error in
            let failure = error as? CoreStoreError ?? CoreStoreError(error)
            if !isReported {
                faults.report(failure, "a list to be observed could not be fetched.")
            }
            return failure
        }
        let made: Result<(share: ListShare, key: ListKey)?, CoreStoreError>
        do {
            made = .success(
                try viewSteps.lists.compute { () throws -> (ListShare, ListKey)? in
                    guard let (share, key) = try newShare(terms) else { return nil }
                    catchUp(share, nil)
                    return (share, key)
                })
        } catch {
            made = .failure(fail(error))
        }
        guard case .success((let share, let key)?) = made else {
            let end = UncheckedTransfer { done(made.map { _ in nil }) }
            return viewExecutor.run { [link] in link.object?.whenIdle { end.value() } }
        }
        let finish = UncheckedTransfer { (outcome: Result<Void, CoreStoreError>) in
            self.whenIdle {
                if case .success = outcome {
                    share.show(self.viewSteps.takenPosition)
                    self.viewSteps.lists.name(share, key)
                }
                done(outcome.map { share })
            }
        }
        let (steps, executor) = (viewSteps, viewExecutor)
        let fetch: @Sendable () -> Result<Void, CoreStoreError> = {
            do {
                let list = try share.fetched()
                steps.lists.compute { share.begin(list, steps.takenPosition) }
                return .success(())
            } catch {
                return .failure(fail(error))
            }
        }
        if case .computed = terms.section.name {
            executor.run { finish.value(fetch()) }
        } else {
            viewSteps.compute(later: {
                let outcome = fetch()
                executor.run { finish.value(outcome) }
            })
        }
    }

    /// A list that begins where the view is.
    private func newShare(_ terms: ListTerms) throws -> (ListShare, ListKey)? {
        let stores = terms.stores(in: self)
        guard let first = stores.first, let entity = first.entities[ObjectIdentifier(terms.type)]
        else { return nil }
        let snapshots = try withView { view in
            try stores.map { store in
                _ = try view.access(to: store)
                guard let snapshot = view.snapshot(of: store) else {
                    throw StoreError(.closed, "the storage of a list has been removed")
                }
                return snapshot
            }
        }
        let request = ListRequest(
            entity.name, terms.fetch,
            section: terms.section.section(of: terms.type, in: stores, self),
            watchedPaths: terms.watchedPaths)
        // Lists that begin at different times differ by the time that `now()` stands for.
        let key = ListKey(
            stores: stores.map { ObjectIdentifier($0) }, entityName: entity.name,
            fetch: request.fetch, section: terms.section.name, watchedPaths: terms.watchedPaths)
        var isComputed = false
        if case .computed = terms.section.name { isComputed = true }
        let share = ListShare(
            request, stores, snapshots, in: viewSteps.lists,
            isBound: isComputed)
        return (share, key)
    }

    /// Has a list take the steps that other lists have taken and the view has not.
    private func catchUp(_ share: ListShare, _ key: ListKey?) {
        viewSteps.catchUp(share, announced: delivery.announced)
        viewSteps.lists.add(share, key)
    }
}
