import Primitives
import RecordStore
import struct Synchronization.Atomic

/// The way of a stack's steps to its view.
///
/// A thread that commits leaves its step here. Then the lists that are observed take it, on the
/// observing queue or by a caller that needs it done: that is the work, and it needs neither the
/// view nor its executor. The rest waits for its delivery where the view lives.
///
/// No thread that commits waits for any of this.
final class ViewSteps: StepSubscriber {
    let needsChanges = true
    let runsCompletions = true
    private let link: WeakLink<DataStack>
    private let executor: ViewExecutor
    let lists: ListShares
    /// Steps that the lists have not taken.
    private let incoming = StepQueue()
    /// Steps that the view has not taken.
    private let computed = StepQueue()
    /// Guards the positions, so that steps are queued in their order.
    private let lastPosition = Mutex<UInt64>(0)
    private let observingQueue: SerialQueue
    private let isComputingScheduled = Atomic<Bool>(false)
    private let isTurnScheduled = Mutex(false)
    private let schedule: (any Schedule)?

    init(
        _ link: WeakLink<DataStack>, _ executor: ViewExecutor, _ faults: StorageFaults,
        _ schedule: (any Schedule)?
    ) {
        self.link = link
        lists = ListShares(faults, schedule)
        self.executor = executor
        self.schedule = schedule
        observingQueue = SerialQueue("org.trellis.observing", schedule)
    }

    // MARK: Receiving

    func receive(_ step: CommitStep) {
        add(step)
        // There, the thread that commits delivers.
        if !executor.isCurrent, !step.isAnnounced { deliverSoon() }
    }

    private func add(_ step: CommitStep) {
        schedule?.meet(.state)
        lastPosition.withLock { position in
            position += 1
            var step = step
            step.position = position
            incoming.receive(step)
        }
    }

    /// Has a completion called when all steps that are there have been delivered.
    func call(_ completion: @escaping @Sendable () -> Void) {
        add(CommitStep([], origin: .transaction, completion: completion))
        deliverSoon()
    }

    /// Drops all steps, because the stores that they are of have gone. Completions are called all
    /// the same.
    func dropParts() {
        guard let step = takeAll(takesCompletions: true), !step.completions.isEmpty else { return }
        var rest = CommitStep([], origin: .maintenance)
        rest.completions = step.completions
        add(rest)
        deliverSoon()
    }

    /// Drops what is known of a store that has gone.
    func drop(_ store: AttachedStore) {
        lists.compute {
            incoming.drop(store)
            computed.drop(store)
        }
    }

    // MARK: Computing

    /// Has the steps delivered on the executor.
    func deliverSoon() {
        guard !lists.isEmpty else { return scheduleDelivery() }
        guard !isComputingScheduled.exchange(true, ordering: .sequentiallyConsistent) else {
            return
        }
        observingQueue.async { [self] in
            isComputingScheduled.store(false, ordering: .sequentiallyConsistent)
            schedule?.meet(.state)
            compute()
            scheduleDelivery()
        }
    }

    /// Returns when the steps that are there are computed and their delivery is scheduled.
    func announce() {
        // A step that the observing queue has just taken is in neither queue until it is computed.
        compute()
        if !computed.isEmpty { scheduleDelivery() }
    }

    /// Runs work on the observing queue when the steps that are there are computed and their
    /// delivery is scheduled. The caller does not wait.
    func afterAnnouncing(_ work: @escaping @Sendable () -> Void) {
        observingQueue.async { [self] in
            announce()
            work()
        }
    }

    /// Has the lists take all steps that are there.
    func compute() {
        lists.compute {
            while let step = incoming.takeFirst() {
                schedule?.meet(.state)
                lists.take(step, computed)
                schedule?.meet(.state)
                computed.receive(step)
            }
        }
    }

    /// Has a list that begins where the view is take the steps that other lists have taken; called
    /// with the lock of computation.
    ///
    /// - Parameter announced: the step that is being delivered.
    func catchUp(_ share: ListShare, announced: CommitStep?) {
        if let announced {
            share.take(announced, computed)
            share.takeDelivered(announced)
        }
        for step in computed.waiting { share.take(step, computed) }
    }

    /// Work for the lists that no caller waits for.
    func compute(later work: @escaping @Sendable () -> Void) {
        observingQueue.async(execute: work)
    }

    /// Schedules a delivery unless one is scheduled. When this returns, it is on the executor's
    /// queue.
    private func scheduleDelivery() {
        schedule?.meet(.state)
        isTurnScheduled.withLock { isScheduled in
            guard !isScheduled else { return }
            isScheduled = true
            executor.run { [self] in
                isTurnScheduled.withLock { $0 = false }
                schedule?.meet(.state)
                link.object?.takeTurn()
            }
        }
    }

    // MARK: Taking

    var isEmpty: Bool { incoming.isEmpty && computed.isEmpty }

    /// Whether a completion waits to see its own commit.
    var hasCompletions: Bool { incoming.hasCompletions || computed.hasCompletions }

    /// The position of the newest step.
    var position: UInt64 { lastPosition.withLock { $0 } }

    /// Whether the view is to take each step for itself.
    func keepApart(_ isApart: Bool) {
        incoming.keepsApart = isApart
        computed.keepsApart = isApart
    }

    /// Steps that the lists have taken and the view has not.
    var waiting: [CommitStep] { computed.waiting }

    /// The position of the last step that the view took.
    var takenPosition: UInt64 { computed.positions.taken }

    /// The oldest step that is computed.
    func takeFirst() -> CommitStep? {
        schedule?.meet(.state)
        return computed.takeFirst()
    }

    /// All steps as one.
    ///
    /// - Parameter takesCompletions: with false nothing is taken while a step has a completion. A
    ///   caller that asked before could miss one that came meanwhile.
    func takeAll(takesCompletions: Bool) -> CommitStep? {
        compute()
        return computed.takeAll(takesCompletions: takesCompletions)
    }
}
