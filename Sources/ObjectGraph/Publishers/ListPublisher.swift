import Observation
import Query

/// A list of objects as a value that follows every commit: ``DataStack/publishList(_:)-(B)``.
///
/// It is used where the stack's view lives. Its ``snapshot`` is free to take and safe to keep; it
/// tells that the list changed, and a ``ListMonitor`` tells how. Reading the snapshot is tracked by
/// `withObservationTracking`, so that views that read it are drawn again.
public final class ListPublisher<O: DynamicObject>: Hashable, Observable {
    public typealias ObjectType = O
    public typealias SectionID = String
    public typealias ItemID = O.ObjectID

    private let feed: ListFeed
    /// Data of the program's own.
    public let userInfo = UserInfo()
    private var observers = PublisherObservers<ListPublisher<O>>()
    private var change: ListChangeSet?
    private let registrar = ObservationRegistrar()
    private(set) var shown = ListSnapshot<O>()

    init(_ feed: ListFeed) { self.feed = feed }

    deinit { feed.link.object?.observers.remove(self) }

    /// The list as the view shows it.
    public var snapshot: ListSnapshot<O> {
        registrar.access(self, keyPath: \.snapshot)
        return shown
    }

    func begin() throws(CoreStoreError) {
        defer { showContent(nil) }
        try feed.fetch()
    }

    private func showContent(_ change: ListChangeSet?) {
        let next = ListSnapshot<O>(ListedContent(feed.content, feed.homes, change), feed.link)
        registrar.withMutation(of: self, keyPath: \.snapshot) { shown = next }
    }

    public func cs_dataStack() -> DataStack? { feed.link.object }
    public static func == (left: ListPublisher, right: ListPublisher) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Observers

    /// Calls back after each change, for as long as the observer lives. The observer is not kept
    /// alive; one that is there already is replaced.
    public func addObserver<T: AnyObject>(
        _ observer: T, notifyInitial: Bool = false,
        _ callback: @escaping (ListPublisher<O>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial) { publisher, _ in callback(publisher) }
    }

    /// The same with the source identifier of the transaction.
    public func addObserver<T: AnyObject>(
        _ observer: T, notifyInitial: Bool = false, initialSourceIdentifier: Any? = nil,
        _ callback: @escaping (ListPublisher<O>, _ sourceIdentifier: Any?) -> Void
    ) {
        checkExecutor()
        observers.add(observer, callback)
        if notifyInitial { callback(self, initialSourceIdentifier) }
    }

    /// Removes an observer. It is told nothing more.
    public func removeObserver<T: AnyObject>(_ observer: T) {
        checkExecutor()
        observers.remove(observer)
    }

    private func checkExecutor() {
        Log.assert(
            feed.link.object?.viewExecutor.isCurrent ?? true,
            "a publisher is used from where the stack's view lives")
    }

    // MARK: Refetching

    /// Fetches another list at once, without sections. The list stays as it is when this throws.
    public func refetch<B: FetchChainableBuilderType>(
        _ clauseChain: B, sourceIdentifier: Any? = nil
    ) throws(CoreStoreError) where B.ObjectType == O {
        try refetch(
            ListTerms(clauseChain.from, .none, clauseChain.fetchClauses), sourceIdentifier)
    }

    /// Fetches another list at once, in sections. The list stays as it is when this throws.
    public func refetch<B: SectionMonitorBuilderType>(
        _ clauseChain: B, sourceIdentifier: Any? = nil
    ) throws(CoreStoreError) where B.ObjectType == O {
        try refetch(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses),
            sourceIdentifier)
    }

    private func refetch(_ terms: ListTerms, _ sourceIdentifier: Any?) throws(CoreStoreError) {
        checkExecutor()
        try feed.fetch(terms)
        showContent(nil)
        feed.link.object?.whenIdle { [weak self] in
            guard let self else { return }
            observers.tell(self, sourceIdentifier)
        }
    }
}

extension ListPublisher: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        change = feed.change(in: delivery)
        return change != nil
    }

    func tellChanges(_ delivery: Delivery) {
        guard let change else { return }
        showContent(change)
        self.change = nil
        observers.tell(self, delivery.sourceIdentifier)
    }

    func storesChanged() {
        guard feed.hasOtherStores else { return }
        feed.fetchLater(feed.terms) { [weak self] in
            guard let self else { return }
            showContent(nil)
            observers.tell(self, nil)
        }
    }
}
