import Observation
import Query

/// A list of objects as a value that follows every commit; see
/// ``DataStack/publishList(_:_:)-(_,FetchClause...)``.
///
/// It is used where the stack's view lives. Its ``snapshot`` is free to take and safe to keep. A
/// publisher notifies that the list changed; a ``ListMonitor`` delivers each change. Reading the
/// snapshot is tracked by `withObservationTracking`, so that views that read it are drawn again.
public final class ListPublisher<O: DynamicObject>: Hashable, Observable {
    public typealias ObjectType = O
    /// The name of a section.
    public typealias SectionID = String
    /// The ID of an object.
    public typealias ItemID = O.ObjectID

    private let feed: ListFeed
    /// Data that the program attaches to the list.
    public let userInfo = UserInfo()
    private var observers = PublisherObservers<ListPublisher<O>>()
    /// The list after the step that is being delivered; nil when the step changes nothing in it.
    private var next: ListSnapshot<O>?
    /// Whether the list was fetched, and its observers are told of that when no step is being
    /// delivered.
    private var isFetchUntold = false
    /// Whether the step that was being delivered when the list was fetched has changed it since.
    private var hasMovedUntold = false
    private let reads = TrackedReads()
    private(set) var shown = ListSnapshot<O>()

    init(_ feed: ListFeed) { self.feed = feed }

    deinit { feed.link.object?.observers.remove(self) }

    /// The list as the view shows it.
    public var snapshot: ListSnapshot<O> {
        reads.note()
        return shown
    }

    func begin() throws(CoreStoreError) {
        defer {
            showFetched()
            feed.whenIdle { [weak self] in
                guard let self else { return }
                isFetchUntold = false
                if hasMovedUntold { tellFetched(nil) }
            }
        }
        try feed.fetch()
    }

    /// A list in place of the one that is shown. What changed in that one counts as changed once
    /// more: a slow reader has not seen it, and compares this one with an earlier one.
    private func fetchedSnapshot() -> ListSnapshot<O> {
        let changed = shown.updatedItemIdentifiers.union(next?.updatedItemIdentifiers ?? [])
        return snapshot(
            of: ListedContent(feed.content, feed.storeEntities, nil, carrying: changed))
    }

    private func snapshot(of content: ListedContent) -> ListSnapshot<O> {
        ListSnapshot(content, feed.terms.section, feed.link)
    }

    /// Shows another list from now on, in place of one that a step was to change.
    private func showFetched() {
        let fetched = fetchedSnapshot()
        (next, isFetchUntold) = (nil, true)
        reads.tell { shown = fetched }
    }

    private func tellFetched(_ sourceIdentifier: Any?) {
        (isFetchUntold, hasMovedUntold) = (false, false)
        reads.tell()
        observers.tell(self, sourceIdentifier)
    }

    /// Describes how the list follows changes: whether it is maintained, so that a commit costs
    /// what it changes, or fetched again and compared, and why. The text is for people and may
    /// change from version to version.
    public func explain() -> String {
        checkExecutor()
        return feed.explanation
    }

    /// The stack; nil when it has ended.
    public func cs_dataStack() -> DataStack? { feed.link.object }
    public static func == (left: ListPublisher, right: ListPublisher) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

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
        _ callback: @escaping (ListPublisher<O>) -> Void
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
        _ callback: @escaping (ListPublisher<O>, _ sourceIdentifier: Any?) -> Void
    ) {
        checkExecutor()
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
            feed.link.object?.viewExecutor.isCurrent ?? true,
            "a publisher is used from where the stack's view lives")
    }

    // MARK: Refetching

    /// Replaces the list by another one without sections, fetched before the call returns.
    /// Observers are notified once. The list stays as it is when this throws.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func refetch<B: FetchChainableBuilderType>(
        _ clauseChain: B, sourceIdentifier: Any? = nil
    ) throws(CoreStoreError) where B.ObjectType == O {
        try refetch(
            ListTerms(clauseChain.from, .none, clauseChain.fetchClauses), sourceIdentifier)
    }

    /// Replaces the list by another one in sections, fetched before the call returns. Observers are
    /// notified once. The list stays as it is when this throws.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
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
        showFetched()
        feed.whenIdle { [weak self] in self?.tellFetched(sourceIdentifier) }
    }

    /// Fetches the list in the background.
    private func fetchLater(_ terms: ListTerms) {
        feed.fetchLater(terms) { [weak self] in
            self?.showFetched()
            self?.tellFetched(nil)
        }
    }
}

extension ListPublisher: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        if let terms = feed.missedTerms { fetchLater(terms) }
        next = feed.content(after: delivery).map { snapshot(of: $0) }
        return next != nil
    }

    func show(_ delivery: Delivery) {
        if let next {
            shown = next
        } else if isFetchUntold {
            if !shown.shows(feed.content) { hasMovedUntold = true }
            shown = fetchedSnapshot()
        }
    }

    func tellChanges(_ delivery: Delivery) {
        guard next != nil else { return }
        next = nil
        reads.tell()
        observers.tell(self, delivery.sourceIdentifier)
    }

    func storesChanged() {
        if feed.hasOtherStores { fetchLater(feed.wantedTerms) }
    }
}
