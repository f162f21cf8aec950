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

    fileprivate init?(
        _ before: ListSnapshot<O>, _ after: ListSnapshot<O>, _ identifier: SourceIdentifier?
    ) {
        self.before = before
        self.after = after
        difference = after.changes(since: before)
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

        /// The next change; nil when the task is cancelled.
        public mutating func next() async -> ListChange<O>? {
            while await signals.next() != nil {
                if let change = feed.take() { return change }
            }
            return nil
        }
    }

    private let feed: ListChangeFeed<O>
    private let signals: AsyncStream<Void>

    init(_ monitor: ListMonitor<O>) {
        let (signals, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        feed = ListChangeFeed(monitor, continuation)
        monitor.addObserver(feed)
    }

    /// An iterator. All iterators of one sequence share its changes.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed, signals: signals.makeAsyncIterator())
    }
}

/// Holds the changes that a reader has not taken. Written where the view lives, read anywhere.
private final class ListChangeFeed<O: DynamicObject>: ListObserver, @unchecked Sendable {
    private struct State {
        var taken: ListSnapshot<O>
        var newest: ListSnapshot<O>?
        var identifier: SourceIdentifier?
    }

    private let monitor: ListMonitor<O>
    private let signal: AsyncStream<Void>.Continuation
    private let state: Mutex<State>

    init(_ monitor: ListMonitor<O>, _ signal: AsyncStream<Void>.Continuation) {
        self.monitor = monitor
        self.signal = signal
        state = Mutex(State(taken: monitor.snapshot))
    }

    deinit { signal.finish() }

    func take() -> ListChange<O>? {
        let (before, after, identifier) = state.withLock { state in
            defer {
                if let newest = state.newest { state.taken = newest }
                (state.newest, state.identifier) = (nil, nil)
            }
            return (state.taken, state.newest, state.identifier)
        }
        return after.flatMap { ListChange(before, $0, identifier) }
    }

    private func note(_ snapshot: ListSnapshot<O>, _ sourceIdentifier: Any?) {
        let identifier = SourceIdentifier(sourceIdentifier)
        state.withLock { state in
            let isFirst = state.newest == nil
            state.identifier = isFirst || state.identifier == identifier ? identifier : nil
            state.newest = snapshot
        }
        signal.yield()
    }

    func listMonitorDidChange(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note(monitor.snapshot, sourceIdentifier)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<O>) {}

    func listMonitorDidRefetch(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note(monitor.snapshot, sourceIdentifier)
    }
    func listMonitorDidRefetch(_ monitor: ListMonitor<O>) {}
}

extension ListMonitor {
    /// The changes from now on, as an asynchronous sequence that any task may read. Call it where
    /// the view lives.
    public var changes: ListChanges<O> { ListChanges(self) }

    /// The list as a value: no later commit changes it.
    public var snapshot: ListSnapshot<O> {
        checkExecutor()
        return ListSnapshot(ListedContent(feed.content, feed.storeEntities, nil), feed.link)
    }
}
