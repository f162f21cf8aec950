// Snapshots as asynchronous sequences: each has the newest, whatever its reader missed.

/// Ties a publisher and its observation to the life of a sequence.
private final class SequenceToken<Publisher: AnyObject>: @unchecked Sendable {
    private let publisher: Publisher

    init(_ publisher: Publisher) { self.publisher = publisher }
}

extension ListPublisher {
    /// The list's snapshots from now on. A slow reader misses some, never the last. The sequence
    /// keeps the publisher alive, and ends with its reader.
    ///
    /// - Parameter emitInitialValue: whether the current snapshot comes first.
    public func snapshots(emitInitialValue: Bool = true) -> AsyncStream<ListSnapshot<O>> {
        let (stream, continuation) = AsyncStream<ListSnapshot<O>>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let token = SequenceToken(self)
        addObserver(token, notifyInitial: emitInitialValue) { publisher in
            continuation.yield(publisher.snapshot)
        }
        continuation.onTermination = { _ in withExtendedLifetime(token) {} }
        return stream
    }
}

extension ObjectPublisher {
    /// The object's snapshots from now on; nil once it was deleted. A slow reader misses some,
    /// never the last. The sequence keeps the publisher alive, and ends with its reader.
    ///
    /// - Parameter emitInitialValue: whether the current snapshot comes first.
    public func snapshots(emitInitialValue: Bool = true) -> AsyncStream<ObjectSnapshot<O>?> {
        let (stream, continuation) = AsyncStream<ObjectSnapshot<O>?>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let token = SequenceToken(self)
        addObserver(token, notifyInitial: emitInitialValue) { publisher in
            continuation.yield(publisher.snapshot)
        }
        continuation.onTermination = { _ in withExtendedLifetime(token) {} }
        return stream
    }
}
