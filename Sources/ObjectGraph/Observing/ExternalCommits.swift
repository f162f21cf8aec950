import RecordStore

/// A commit of another process to a storage of a stack.
public struct ExternalCommit: Sendable {
    /// The storage, which the stack has opened for reading only.
    public let storage: any StorageInterface
    /// The number of the newest commit that the stack can see now.
    public let commitNumber: UInt64
}

/// The commits of other processes: see ``DataStack/externalCommits``.
public struct ExternalCommits: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol {
        var elements: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Iterator

        /// The next commit; nil when the stack has ended.
        ///
        /// - Throws: `.internalError` when a storage cannot be followed any more.
        public mutating func next() async throws(CoreStoreError) -> ExternalCommit? {
            try await elements.next()?.get()
        }
    }

    let elements: AsyncStream<Result<ExternalCommit, CoreStoreError>>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(elements: elements.makeAsyncIterator())
    }
}

/// Makes a sequence of the steps that come from other processes.
final class ExternalCommitFeed: StepSubscriber {
    private let continuation: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Continuation
    /// The steps as the stack's view takes them.
    private let viewSteps: ViewSteps
    let needsChanges = false

    init(
        _ continuation: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Continuation,
        after viewSteps: ViewSteps
    ) {
        self.continuation = continuation
        self.viewSteps = viewSteps
    }

    /// The sequence has a commit when the lists have it and its delivery is scheduled where the
    /// view lives: what a program runs there afterwards finds the commit.
    func receive(_ step: CommitStep) {
        guard step.origin == .otherProcess else { return }
        let commits = step.parts.map { part in
            ExternalCommit(
                storage: part.store.storage, commitNumber: part.snapshot.commitNumber)
        }
        viewSteps.afterAnnouncing { [continuation] in
            for commit in commits { continuation.yield(.success(commit)) }
        }
    }

    func end(_ failure: CoreStoreError?) {
        viewSteps.afterAnnouncing { [continuation] in
            if let failure { continuation.yield(.failure(failure)) } else { continuation.finish() }
        }
    }
}

extension CommitSteps {
    /// A sequence that begins with the next commit of another process.
    ///
    /// - Parameter viewSteps: of the same stack.
    func externalCommits(after viewSteps: ViewSteps) -> ExternalCommits {
        let (elements, continuation) = AsyncStream<Result<ExternalCommit, CoreStoreError>>
            .makeStream(bufferingPolicy: .bufferingNewest(16))
        let feed = ExternalCommitFeed(continuation, after: viewSteps)
        subscribe(feed)
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(feed) }
        return ExternalCommits(elements: elements)
    }
}
