import RecordStore
import Synchronization

/// What another process committed to a storage of a stack.
public struct ExternalCommit: Sendable {
    /// The storage, which the stack has opened for reading only.
    public let storage: any StorageInterface
    /// The number of the newest commit that the stack can see now.
    public let commitNumber: UInt64
}

/// The commits of other processes: see ``DataStack/externalCommits``.
public struct ExternalCommits: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol {
        var news: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Iterator

        /// Nil when the stack is gone. Throws when a storage cannot be followed any more.
        public mutating func next() async throws(CoreStoreError) -> ExternalCommit? {
            try await news.next()?.get()
        }
    }

    let news: AsyncStream<Result<ExternalCommit, CoreStoreError>>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(news: news.makeAsyncIterator())
    }
}

/// Those who iterate over the commits of other processes.
final class ExternalCommitAudience: Sendable {
    typealias News = Result<ExternalCommit, CoreStoreError>

    private let listeners = Mutex<[UUID: AsyncStream<News>.Continuation]>([:])

    func join() -> ExternalCommits {
        let (news, continuation) = AsyncStream<News>.makeStream(
            bufferingPolicy: .bufferingNewest(16))
        let id = UUID()
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.removeValue(forKey: id) }
        }
        return ExternalCommits(news: news)
    }

    func tell(_ news: News) {
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield(news) }
    }

    func end() {
        let listeners = listeners.withLock { listeners in
            defer { listeners = [:] }
            return listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}

extension DataStack {
    /// What other processes commit to the storages that the stack opened for reading only, from
    /// now on. The view has what was committed at its next use.
    ///
    /// Each access begins a sequence of its own. Commits that follow each other closely come as
    /// one, and who is slow misses some, never the last. Iterating throws when a storage cannot be
    /// followed any more; its ``CoreStoreError/storeError`` says why.
    public var externalCommits: ExternalCommits { audience.join() }

    /// A storage for reading only shows what another process commits to it.
    func follow(_ store: AttachedStore) {
        let hasEnded = Mutex(false)
        let last = Mutex(store.database.statistics.commitNumber)
        let id = store.id
        store.database.follow { [link] news in
            guard let stack = link.object, let store = stack.store(id),
                !hasEnded.withLock({ $0 })
            else { return }
            do throws(StoreError) {
                let number = try news.get()
                let isNew = last.withLock { last in
                    defer { last = number }
                    return number > last
                }
                stack.show(try store.database.snapshot(), of: store, isNew: isNew)
                guard isNew else { return }
                stack.audience.tell(
                    .success(ExternalCommit(storage: store.storage, commitNumber: number)))
            } catch {
                hasEnded.withLock { $0 = true }
                guard error.code != .closed else { return }
                let failure = CoreStoreError(error)
                Log.error(failure, "a storage cannot follow another process any more.")
                stack.audience.tell(.failure(failure))
            }
        }
    }

    private func show(_ snapshot: RecordSnapshot, of store: AttachedStore, isNew: Bool) {
        guard hasReaders else { return }
        announcingTurn.take()
        defer { announcingTurn.give() }
        // What changed is not known: the view's objects are all read again. Where nothing did, the
        // view only goes where the same state lies now, so that old space can be used again.
        enqueue(
            CommittedChange(
                parts: [CommittedChange.Part(store: store, snapshot: snapshot, isUnknown: isNew)]))
        guard !isMovePlanned.exchange(true, ordering: .sequentiallyConsistent) else { return }
        viewExecutor.run { [link] in
            guard let stack = link.object else { return }
            stack.isMovePlanned.store(false, ordering: .sequentiallyConsistent)
            _ = stack.currentView()
        }
    }
}
