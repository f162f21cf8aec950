import RecordStore

/// A monitor, as an unsafe transaction notifies it of its changes. All calls come from the thread
/// that uses the transaction.
protocol TransactionParticipant: AnyObject {
    /// Finds out what differs in what is observed; false when that is nothing.
    func prepare(_ delivery: TransactionDelivery) -> Bool
    /// Tells observers that something changed which the monitor does not show yet.
    func tellBefore(_ delivery: TransactionDelivery)
    /// Moves to what the transaction has. No code of the program may run.
    func show(_ delivery: TransactionDelivery)
    /// Tells observers what has changed.
    func tellChanges(_ delivery: TransactionDelivery)
    /// Tells observers that all changes were told.
    func tellAfter(_ delivery: TransactionDelivery)
    /// The transaction has ended: its states are to be released.
    func transactionEnded()
}

/// A state of an unsafe transaction on its way to its observers.
final class TransactionDelivery {
    let context: UnsafeContext
    let sourceIdentifier: Any?
    private var readers: [ObjectIdentifier: RecordReader] = [:]
    /// Whether a participant could not compare: the next delivery makes up for it.
    private(set) var hasMissed = false

    init(_ context: UnsafeContext, _ sourceIdentifier: Any?) {
        self.context = context
        self.sourceIdentifier = sourceIdentifier
    }

    /// Reports why a participant could not compare.
    func miss(_ error: any Error, _ message: String) {
        hasMissed = true
        let failure = CoreStoreError(error)
        if let stack = context.stack {
            stack.faults.report(failure, message)
        } else {
            Log.error(failure, message)
        }
    }

    /// The records of a store with all changes, which later changes leave as they are.
    func reader(of store: AttachedStore) throws(StoreError) -> RecordReader {
        if let known = readers[ObjectIdentifier(store)] { return known }
        let reader = try context.frozen(store)
        readers[ObjectIdentifier(store)] = reader
        return reader
    }
}

/// The participants of one unsafe transaction, in the order in which they came. It keeps none of
/// them alive.
final class TransactionObservers: @unchecked Sendable {
    private struct Entry {
        weak var participant: (any TransactionParticipant)?
        let name: ObjectIdentifier
    }

    /// Any thread may drop the last reference to a monitor.
    private let lock = NSLock()
    private var entries: [Entry] = []
    private weak var context: UnsafeContext?
    /// The state that was told last; nil when some could not be told of it.
    private var toldCount: Int?
    private var isTelling = false
    /// Whether there is more to tell, of changes that a callback made.
    private var isDue = false
    /// The transaction's, for what is told next.
    private var sourceIdentifier: Any?
    private var waiting: [() -> Void] = []

    init(_ context: UnsafeContext) {
        self.context = context
        toldCount = context.changeCount
    }

    func add(_ participant: any TransactionParticipant) {
        let entry = Entry(participant: participant, name: ObjectIdentifier(participant))
        lock.withLock { entries.append(entry) }
    }

    func remove(_ participant: any TransactionParticipant) {
        let name = ObjectIdentifier(participant)
        lock.withLock { entries.removeAll { $0.name == name } }
    }

    /// Runs work at once, or when what is being told has been told. What the work tells is told by
    /// itself, too: other work and changes that it causes wait for its end.
    func whenIdle(_ work: @escaping () -> Void) {
        waiting.append(work)
        run()
    }

    /// Tells what changed since the last call. A call from a callback is made up for when all was
    /// told.
    func tell(_ sourceIdentifier: Any?) {
        (isDue, self.sourceIdentifier) = (true, sourceIdentifier)
        run()
    }

    private func run() {
        guard !isTelling else { return }
        isTelling = true
        while isDue || !waiting.isEmpty {
            if isDue {
                isDue = false
                tellOnce(sourceIdentifier)
            } else {
                waiting.removeFirst()()
            }
        }
        isTelling = false
    }

    /// The transaction ends. Monitors may live on.
    func end() {
        for participant in lock.withLock({ entries }).compactMap(\.participant) {
            participant.transactionEnded()
        }
    }

    private func tellOnce(_ sourceIdentifier: Any?) {
        guard let context, !context.hasEnded, context.changeCount != toldCount else { return }
        toldCount = context.changeCount
        let delivery = TransactionDelivery(context, sourceIdentifier)
        let concerned = lock.withLock { entries }.compactMap(\.participant).filter {
            $0.prepare(delivery)
        }
        if delivery.hasMissed { toldCount = nil }
        for participant in concerned { participant.tellBefore(delivery) }
        for participant in concerned { participant.show(delivery) }
        for participant in concerned { participant.tellChanges(delivery) }
        for participant in concerned { participant.tellAfter(delivery) }
    }
}
