import Query

/// A list of objects that follows every commit and notifies its observers of the changes; see
/// ``DataStack/monitorList(_:_:)-(_,FetchClause...)``. Or a list of an unsafe transaction, with the
/// transaction's changes.
///
/// It is used where the stack's view lives, or where the transaction is used. A commit costs time
/// for the changes in the list, not for its size; objects are made when they are asked for.
public final class ListMonitor<O: DynamicObject>: Hashable {
    public typealias ObjectType = O

    let feed: any MonitoredList
    /// Data that the program attaches to the list.
    public let userInfo = UserInfo()
    var observers: [ListObserverEntry<O>] = []
    /// The change of the delivery that is running.
    private var change: ListChangeSet?
    private var told: [ListObserverEntry<O>] = []
    /// The last snapshot that was asked for.
    var made: ListSnapshot<O>?
    private var deleted: [O] = []
    /// Whether a refetch is under way, and the identifier with which it ends.
    private var refetching: (sourceIdentifier: Any?, Void)?
    /// Receives the monitor when its list is there; nil once it has.
    private var isMade: ((ListMonitor) -> Void)?

    init(_ feed: any MonitoredList) { self.feed = feed }

    deinit {
        feed.link.object?.observers.remove(self)
        (feed as? TransactionList)?.observers?.remove(self)
    }

    /// The list as the view shows it.
    var content: ListContent { feed.content }

    func checkExecutor() {
        Log.assert(
            feed.isUsedByCaller, "a monitor is used from where the stack's view lives")
    }

    public static func == (left: ListMonitor, right: ListMonitor) -> Bool { left === right }
    /// Whether both are the same monitor.
    public static func ~= (pattern: ListMonitor, value: ListMonitor) -> Bool { pattern === value }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Describes how the list follows changes: whether it is maintained, so that a commit costs
    /// what it changes, or fetched again and compared, and why. The text is for people and may
    /// change from version to version.
    public func explain() -> String {
        checkExecutor()
        return feed.explanation
    }

    // MARK: Refetching

    /// Whether a refetch is under way.
    public var isPendingRefetch: Bool { refetching != nil }

    /// Fetches the list again by other clauses, in the background. They replace all clauses but the
    /// section. The list stays as it is until the new one is there; observers are notified before
    /// and after.
    public func refetch(_ fetchClauses: any FetchClause..., sourceIdentifier: Any? = nil) {
        refetch(fetchClauses, sourceIdentifier: sourceIdentifier)
    }

    /// Fetches the list again by other clauses, given as an array, in the background.
    ///
    /// - Parameters:
    ///   - fetchClauses: the new clauses, which need an order.
    ///   - sourceIdentifier: passed to the observers after the refetch.
    public func refetch(_ fetchClauses: [any FetchClause], sourceIdentifier: Any? = nil) {
        checkExecutor()
        var terms = feed.terms
        let asked = FetchTerms(fetchClauses)
        (terms.fetch, terms.watchedPaths) = (asked.request, asked.watchedPaths)
        terms.affectedStores = asked.affectedStores
        refetch(terms, sourceIdentifier)
    }

    /// Fetches the list for the first time, in the background.
    func fetchLater(_ isMade: @escaping (ListMonitor) -> Void) {
        self.isMade = isMade
        refetch(feed.terms, nil)
    }

    private func refetch(_ terms: ListTerms, _ sourceIdentifier: Any?) {
        let isFirst = refetching == nil
        refetching = (sourceIdentifier, ())
        // Nothing else keeps a monitor that the program does not have yet.
        let kept = isMade == nil ? nil : self
        feed.fetchLater(
            terms,
            begins: { [weak self] in
                guard let self, isFirst else { return }
                for observer in observers { observer.tell(self, .willRefetch, nil) }
            },
            done: { [weak self] in
                self?.endRefetch()
                withExtendedLifetime(kept) {}
            })
    }

    private func endRefetch() {
        guard let (identifier, _) = refetching else { return }
        refetching = nil
        for observer in observers { observer.tell(self, .didRefetch, identifier) }
        guard let made = isMade else { return }
        isMade = nil
        if let feed = feed as? ListFeed {
            feed.complete { made(self) }
        } else {
            made(self)
        }
    }
}

/// Whether both are the same monitor, whatever their types.
public func == <T, U>(left: ListMonitor<T>, right: ListMonitor<U>) -> Bool { left === right }
/// Whether both are the same monitor, whatever their types.
public func ~= <T, U>(pattern: ListMonitor<T>, value: ListMonitor<U>) -> Bool { pattern === value }

// MARK: Deliveries

extension ListMonitor: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        if refetching == nil, let terms = (feed as? ListFeed)?.missedTerms { refetch(terms, nil) }
        change = (feed as? ListFeed)?.change(in: delivery)
        return change != nil
    }

    func tellBefore(_ delivery: Delivery) { tellBefore(delivery.sourceIdentifier) }

    func keepOld(_ delivery: Delivery) { keepDeleted() }

    func tellChanges(_ delivery: Delivery) { tellChanges(delivery.sourceIdentifier) }

    func tellAfter(_ delivery: Delivery) { tellAfter(delivery.sourceIdentifier) }

    func storesChanged() {
        guard let feed = feed as? ListFeed, feed.hasOtherStores else { return }
        refetch(feed.wantedTerms, refetching?.sourceIdentifier)
    }
}

extension ListMonitor: TransactionParticipant {
    func prepare(_ delivery: TransactionDelivery) -> Bool {
        change = (feed as? TransactionList)?.change(in: delivery)
        return change != nil
    }

    func tellBefore(_ delivery: TransactionDelivery) { tellBefore(delivery.sourceIdentifier) }

    func show(_ delivery: TransactionDelivery) {
        keepDeleted()
        if let change { (feed as? TransactionList)?.show(change) }
    }

    func tellChanges(_ delivery: TransactionDelivery) { tellChanges(delivery.sourceIdentifier) }

    func tellAfter(_ delivery: TransactionDelivery) { tellAfter(delivery.sourceIdentifier) }

    func transactionEnded() { (feed as? TransactionList)?.end() }
}

extension ListMonitor {
    private func tellBefore(_ identifier: Any?) {
        told = observers
        for observer in told { observer.tell(self, .willChange, identifier) }
    }

    private func keepDeleted() {
        guard let change, told.contains(where: { $0.object != nil }) else { return }
        deleted = change.difference.deletions.map { object(at: $0, in: change.before) }
        // They keep their last values once the view has moved.
        for case let object as CoreStoreObject in deleted { object.loadRow() }
    }

    private func tellChanges(_ identifier: Any?) {
        guard let change else { return }
        let difference = change.difference
        tellSections(difference.insertedSections, change.after) { observer, info, index in
            observer.section?(self, .inserted(info, index), identifier)
        }
        if told.contains(where: { $0.object != nil }) { tellObjects(change, identifier) }
        tellSections(difference.deletedSections, change.before) { observer, info, index in
            observer.section?(self, .deleted(info, index), identifier)
        }
    }

    private func tellAfter(_ identifier: Any?) {
        let observers = told
        (told, deleted, change) = ([], [], nil)
        for observer in observers { observer.tell(self, .didChange, identifier) }
    }

    private func tellSections(
        _ sections: [Int], _ content: ListContent,
        _ tell: (ListObserverEntry<O>, any NSFetchedResultsSectionInfo, Int) -> Void
    ) {
        guard !sections.isEmpty, feed.terms.section.hasSections,
            told.contains(where: { $0.section != nil })
        else { return }
        for section in sections {
            let info = sectionInfo(section, in: content)
            for observer in told { tell(observer, info, section) }
        }
    }

    private func tellObjects(_ change: ListChangeSet, _ identifier: Any?) {
        let difference = change.difference
        func tell(_ event: ListObjectEvent<O>) {
            for observer in told { observer.object?(self, event, identifier) }
        }
        for (path, object) in zip(difference.deletions, deleted) {
            tell(.deleted(object, path.indexPath))
        }
        for path in difference.insertions {
            tell(.inserted(object(at: path, in: change.after), path.indexPath))
        }
        for move in difference.moves {
            let object = object(at: move.to, in: change.after)
            tell(.moved(object, move.from.indexPath, move.to.indexPath))
        }
        for path in difference.updates {
            tell(.updated(object(at: path, in: change.before), path.indexPath))
        }
    }

    func object(at path: ListPath, in content: ListContent) -> O {
        object(content.item(at: content.indices(ofSection: path.section).lowerBound + path.item))
    }

    func object(_ item: ListItem) -> O { Self.typed(feed.object(item)) }

    /// The object of an item; nil once the stack or the transaction has ended.
    func liveObject(_ item: ListItem) -> O? { feed.liveObject(item).map(Self.typed) }

    private static func typed(_ object: CoreStoreObject) -> O {
        guard let object = object as? O else {
            Log.abort("a list of \(O.self) has an object of another class")
        }
        return object
    }
}

extension ListPath {
    var indexPath: IndexPath { IndexPath(indexes: [section, item]) }
}
