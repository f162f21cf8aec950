import Primitives
import RecordStore

/// A failure of a storage in a call that cannot throw, such as a property's getter: a damaged page,
/// a disk that fails, a file that is gone, a storage that was closed before the object was read.
///
/// The property returned its default, or no objects. In a transaction every later fetch and the
/// commit throw the error; elsewhere the next fetch or query of the stack's view, or of the read
/// view, throws it once. Observed lists and objects keep their content.
public struct StorageFault: Sendable {
    /// The error, with page, byte and file in its ``CoreStoreError/storeError``.
    public let error: CoreStoreError
    /// The operation that failed, as a sentence.
    public let message: String
}

extension DataStack {
    /// Called for each ``StorageFault``, including those that a call also throws. Nil, as at first,
    /// leaves them to the log.
    ///
    /// It runs on a queue of the stack's own, one call at a time, some time after the fault. It may
    /// use the stack as any other thread may.
    public var onStorageFault: (@Sendable (StorageFault) -> Void)? {
        get { faults.handler }
        set { faults.handler = newValue }
    }

    /// The ``StorageFault``s from now on. Each call makes an independent sequence, which buffers up
    /// to 64 faults for a slow loop and drops the oldest; it ends with the stack.
    public var storageFaults: AsyncStream<StorageFault> { faults.sequence() }
}

/// The faults of a stack's storages: the log and the program are told of them.
final class StorageFaults: Sendable {
    private struct State {
        var handler: (@Sendable (StorageFault) -> Void)?
        var sequences: [UInt64: AsyncStream<StorageFault>.Continuation] = [:]
        var nextSequence: UInt64 = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.trellis.faults")

    var handler: (@Sendable (StorageFault) -> Void)? {
        get { state.withLock { $0.handler } }
        set {
            // Released after the lock is opened: what it retains may ask for it when it ends.
            let old = state.withLock { state in
                defer { state.handler = newValue }
                return state.handler
            }
            withExtendedLifetime(old) {}
        }
    }

    deinit {
        for sequence in state.withLock({ $0.sequences.values }) { sequence.finish() }
    }

    func sequence() -> AsyncStream<StorageFault> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StorageFault.self, bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            defer { state.nextSequence += 1 }
            state.sequences[state.nextSequence] = continuation
            return state.nextSequence
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.sequences[number] = nil }
        }
        return stream
    }

    /// Logs an error, and tells the program where it is the storage's.
    func report(
        _ error: CoreStoreError, _ message: String, fileName: StaticString = #fileID,
        lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        Log.error(
            error, message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        guard error.storeError?.leavesValuesUnread == true else { return }
        let fault = StorageFault(error: error, message: message)
        let (handler, sequences) = state.withLock { ($0.handler, $0.sequences) }
        for sequence in sequences.values { sequence.yield(fault) }
        // The caller may hold locks of the stack.
        if let handler { queue.async { handler(fault) } }
    }
}

extension StoreError {
    /// Whether stored values could not be read, though the program asked as it should.
    var isStorageFault: Bool {
        switch code {
        case .corrupt, .truncated, .io, .permissionDenied, .diskFull, .poisoned, .commitUncertain,
            .snapshotTooOld, .fileReplaced, .fileRenamed, .fileRemoved:
            true
        case .notAStore, .newerFormat, .notFound, .alreadyOpen, .lockedByOther, .readOnly,
            .tooLarge, .schemaMismatch, .invalidArgument, .closed, .invalidModel,
            .duplicateValues, .historyDiffers, .newerModel:
            false
        }
    }
}

extension StoreError {
    /// Whether an object that asks for its values or links gets none for this: the storage failed,
    /// or it is closed, and what it has is not what the program is given.
    var leavesValuesUnread: Bool { isStorageFault || code == .closed }
}

extension CoreStoreError {
    var isStorageFault: Bool { storeError?.isStorageFault ?? false }
}
