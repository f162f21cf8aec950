import RecordStore

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
        var elements: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Iterator

        /// Nil when the stack is gone. Throws when a storage cannot be followed any more.
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
    let needsChanges = false

    init(_ continuation: AsyncStream<Result<ExternalCommit, CoreStoreError>>.Continuation) {
        self.continuation = continuation
    }

    func receive(_ step: CommitStep) {
        guard step.origin == .otherProcess else { return }
        for part in step.parts {
            let commit = ExternalCommit(
                storage: part.store.storage, commitNumber: part.snapshot.commitNumber)
            continuation.yield(.success(commit))
        }
    }

    func end(_ failure: CoreStoreError?) {
        if let failure { continuation.yield(.failure(failure)) } else { continuation.finish() }
    }
}

extension CommitSteps {
    /// A sequence that begins with the next commit of another process.
    func externalCommits() -> ExternalCommits {
        let (elements, continuation) = AsyncStream<Result<ExternalCommit, CoreStoreError>>
            .makeStream(bufferingPolicy: .bufferingNewest(16))
        let feed = ExternalCommitFeed(continuation)
        subscribe(feed)
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(feed) }
        return ExternalCommits(elements: elements)
    }
}
