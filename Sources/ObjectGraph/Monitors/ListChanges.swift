import Primitives

/// A change of an observed list, as a value: ``ListMonitor/changes``.
public struct ListChange<O: DynamicObject>: Sendable {
    /// The list before the change: the reader's last one, or the list when the sequence began.
    public let before: ListSnapshot<O>
    /// The list after the change.
    public let after: ListSnapshot<O>
    /// The difference between the two.
    public let difference: ListSnapshot<O>.Difference
    private let identifier: SourceIdentifier?

    /// The identifier that the program gave the transaction, or the refetch. Nil when the change
    /// combines several with different identifiers.
    public var sourceIdentifier: Any? { identifier?.value }

    /// - Parameter updated: items that changed in lists in between that were fetched separately.
    fileprivate init?(
        _ before: ListSnapshot<O>, _ after: ListSnapshot<O>, updated: Set<O.ObjectID>,
        _ identifier: SourceIdentifier?
    ) {
        self.before = before
        self.after = after
        difference = after.changes(since: before, updated: updated)
        self.identifier = identifier
        if difference.isEmpty { return nil }
    }
}

/// The changes of an observed list from the moment when the sequence was asked for. It keeps the
/// monitor alive.
///
/// A slow reader gets one change for several, from the last one that it took to the newest. An item
/// that came and went in between is left out.
public struct ListChanges<O: DynamicObject>: AsyncSequence, Sendable {
    public typealias Element = ListChange<O>

    /// Returns the changes one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: ListChangeFeed<O>
        fileprivate var signals: AsyncStream<Void>.Iterator

        /// The next change; nil when the task is cancelled, and from then on.
        public mutating func next() async -> ListChange<O>? {
            while await signals.next() != nil {
                if let change = feed.take() { return change }
            }
            return nil
        }
    }

    private let feed: ListChangeFeed<O>

    init(_ monitor: ListMonitor<O>) {
        feed = ListChangeFeed(monitor)
        monitor.addObserver(feed)
    }

    /// An iterator. All iterators of one sequence share its changes: each change goes to one of
    /// them.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed, signals: feed.signals().makeAsyncIterator())
    }
}

/// Holds the changes that a reader has not taken. Written where the view lives, read anywhere.
private final class ListChangeFeed<O: DynamicObject>: ListObserver, @unchecked Sendable {
    private struct State {
        var taken: ListSnapshot<O>
        var newest: ListSnapshot<O>?
        /// The first version after `taken` that was fetched with the newest one, or `taken`.
        var fetched: ListSnapshot<O>
        /// Items that changed between `taken` and `fetched`.
        var updated: Set<O.ObjectID> = []
        var identifier: SourceIdentifier?
        /// One for each iterator.
        var signals: [Int: AsyncStream<Void>.Continuation] = [:]
        var iteratorCount = 0

        /// Items that changed between `taken` and the newest version, where that was fetched later.
        var allUpdated: Set<O.ObjectID> {
            guard let newest, fetched != taken else { return [] }
            return updated.union(newest.changedItems(since: fetched))
        }
    }

    private let monitor: ListMonitor<O>
    private let state: Mutex<State>

    init(_ monitor: ListMonitor<O>) {
        self.monitor = monitor
        let snapshot = monitor.snapshot
        state = Mutex(State(taken: snapshot, fetched: snapshot))
    }

    /// Signals for one more iterator.
    func signals() -> AsyncStream<Void> {
        let (signals, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.iteratorCount += 1
            state.signals[state.iteratorCount] = continuation
            return state.iteratorCount
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.signals.removeValue(forKey: number) }
        }
        // There may be a change already.
        continuation.yield()
        return signals
    }

    func take() -> ListChange<O>? {
        let last = state.withLock { state in
            defer {
                if let newest = state.newest {
                    (state.taken, state.fetched, state.updated) = (newest, newest, [])
                }
                (state.newest, state.identifier) = (nil, nil)
            }
            return state
        }
        return last.newest.flatMap {
            ListChange(last.taken, $0, updated: last.allUpdated, last.identifier)
        }
    }

    private func note(
        _ snapshot: ListSnapshot<O>, _ sourceIdentifier: Any?, isFetched: Bool = false
    ) {
        let identifier = SourceIdentifier(sourceIdentifier)
        let signals = state.withLock { state in
            if isFetched {
                let last = state.newest ?? state.taken
                state.updated.formUnion(last.changedItems(since: state.fetched))
                state.fetched = snapshot
            }
            let isFirst = state.newest == nil
            state.identifier = isFirst || state.identifier == identifier ? identifier : nil
            state.newest = snapshot
            return state.signals
        }
        for signal in signals.values { signal.yield() }
    }

    func listMonitorDidChange(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note(monitor.snapshot, sourceIdentifier)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<O>) {}

    func listMonitorDidRefetch(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note(monitor.snapshot, sourceIdentifier, isFetched: true)
    }
    func listMonitorDidRefetch(_ monitor: ListMonitor<O>) {}
}

extension ListMonitor {
    /// The changes from now on, as an asynchronous sequence that any task may read. Call it where
    /// the view lives.
    public var changes: ListChanges<O> { ListChanges(self) }

    /// The list as a value: no later commit changes it. Its
    /// ``ListSnapshot/updatedItemIdentifiers`` are empty: ``changes`` have the difference of two.
    public var snapshot: ListSnapshot<O> {
        checkExecutor()
        let content = feed.content
        if let made, made.shows(content) { return made }
        let snapshot = ListSnapshot<O>(
            ListedContent(content, feed.storeEntities, nil), feed.terms.section, feed.link)
        made = snapshot
        return snapshot
    }
}
