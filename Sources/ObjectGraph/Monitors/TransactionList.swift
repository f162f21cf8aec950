import Query
import RecordStore

/// The list of a monitor of an unsafe transaction: what the transaction has, with its changes.
/// After changes it is fetched again and compared.
final class TransactionList: MonitoredList {
    /// The list at one state of the transaction.
    private struct Shown {
        var content: ListContent
        var stores: [AttachedStore] = []
        /// One for each store.
        var readers: [RecordReader] = []
        var lookup: ListLookup?
    }

    let link: WeakLink<DataStack>
    private(set) var terms: ListTerms
    private weak var context: UnsafeContext?
    /// Nil when no attached store has the entity, or when the list could not be fetched.
    private var list: LiveList?
    /// The states that the list was last compared with.
    private var readers: [RecordReader] = []
    private var shown: Shown
    /// The number of the last request, which replaces those before it.
    private var lastRequest = 0
    private var hasWarned = false

    init(_ context: UnsafeContext, _ link: WeakLink<DataStack>, _ terms: ListTerms) {
        self.context = context
        self.link = link
        self.terms = terms
        shown = Shown(content: ListFeed.empty(terms.section))
    }

    var observers: TransactionObservers? { context?.observers }
    var content: ListContent { shown.content }
    var storeEntities: [StoreEntity] { shown.stores.map { $0.storeEntity(for: entity($0)) } }
    /// A transaction does not know which thread the program uses it on.
    var isUsedByCaller: Bool { true }

    private func entity(_ store: AttachedStore) -> EntityLayout {
        guard let entity = store.entities[ObjectIdentifier(terms.type)] else {
            Log.abort("a store of a list has no entity of \(terms.type)")
        }
        return entity
    }

    var explanation: String {
        "fetched again and compared: each group of changes of an unsafe transaction may concern it"
    }

    // MARK: Fetching

    /// Fetches while the caller waits; the list stays when this throws.
    private func fetch(_ terms: ListTerms) throws {
        guard let context, !context.hasEnded, let stack = link.object else { return }
        let stores = terms.stores(in: stack)
        guard let first = stores.first, let entity = first.entities[ObjectIdentifier(terms.type)]
        else {
            self.terms = terms
            (list, shown) = (nil, Shown(content: ListFeed.empty(terms.section)))
            return
        }
        let readers: [RecordReader] = try stores.map { try context.frozen($0) }
        let request = ListRequest(
            entity.name, terms.fetch,
            section: terms.section.section(of: terms.type, in: stores, stack),
            watchedPaths: terms.watchedPaths)
        let list = try LiveList(request, in: zip(stores, readers).map { ($0.identity, $1) })
        (self.terms, self.list, self.readers) = (terms, list, readers)
        if list.content.hasRepeatedSections, !hasWarned {
            hasWarned = true
            ListContent.warnOfRepeatedSections(of: entity.name)
        }
        shown = Shown(
            content: list.content, stores: stores, readers: readers, lookup: list.lookup)
    }

    /// Fetches while the caller waits: the transaction has one thread.
    func fetchLater(
        _ terms: ListTerms, begins: @escaping () -> Void, done: @escaping () -> Void
    ) {
        lastRequest += 1
        let number = lastRequest
        whenIdle { [weak self] in
            begins()
            guard let self, number == lastRequest else { return }
            fetchOrReport(terms)
            done()
        }
    }

    /// Fetches while the caller waits; a failure is reported, and the list stays.
    func fetchOrReport(_ terms: ListTerms) {
        do {
            try fetch(terms)
        } catch {
            let failure = CoreStoreError(error)
            let message = "a list to be observed could not be fetched."
            if let stack = link.object {
                stack.faults.report(failure, message)
            } else {
                Log.error(failure, message)
            }
        }
    }

    private func whenIdle(_ work: @escaping () -> Void) {
        if let observers { observers.whenIdle(work) } else { work() }
    }

    // MARK: Changes

    /// The differences since the last call; nil when there are none. The list shows them after
    /// ``show(_:)``.
    func change(in delivery: TransactionDelivery) -> ListChangeSet? {
        guard var list else { return nil }
        do {
            let after = try shown.stores.map { try delivery.reader(of: $0) }
            let steps = zip(readers, after).map {
                StoreStep(before: $0, after: $1, changes: .unknown)
            }
            let difference = try list.take(steps)
            (self.list, readers) = (list, after)
            guard let difference, !difference.isEmpty else {
                // It shows the same, but hidden objects may have other keys and another order.
                shown.content = list.content
                (shown.readers, shown.lookup) = (readers, list.lookup)
                return nil
            }
            return ListChangeSet(
                before: shown.content, after: list.content, difference: difference)
        } catch {
            // The content stays, and the next call makes up for this one.
            delivery.miss(error, "an observed list could not be kept up to date.")
            return nil
        }
    }

    func show(_ change: ListChangeSet) {
        shown.content = change.after
        (shown.readers, shown.lookup) = (readers, list?.lookup)
    }

    /// Releases the states of the transaction, which has ended; the content stays.
    func end() {
        (list, readers) = (nil, [])
        (shown.readers, shown.lookup) = ([], nil)
    }

    // MARK: Objects

    var endReason: String { "the transaction of an observed list has ended" }

    func liveObject(_ item: ListItem) -> CoreStoreObject? {
        guard let context, !context.hasEnded, shown.stores.indices.contains(item.store) else {
            return nil
        }
        let store = shown.stores[item.store]
        let hierarchy = entity(store).hierarchy
        if let known = context.registered(item.number, in: hierarchy, of: store) { return known }
        do throws(StoreError) {
            if let object = try context.object(item.number, in: hierarchy, of: store) {
                return object
            }
            if let object = try context.goneObject(
                item.number, in: hierarchy, of: store, as: shown.readers[item.store])
            {
                return object
            }
        } catch {
            context.fail(error, "an object of an observed list cannot be read.")
        }
        return context.detached(entity(store), in: store)
    }

    func index(of id: NSManagedObjectID) -> Int? {
        guard let store = shown.stores.firstIndex(where: { $0.id == id.storeID }),
            id.hierarchy == entity(shown.stores[store]).hierarchy,
            let item = ListItem(id.number, store: store)
        else { return nil }
        guard let lookup = shown.lookup else { return shown.content.firstIndex(of: item) }
        return try? lookup.index(of: item, in: shown.content, shown.readers)
    }
}
